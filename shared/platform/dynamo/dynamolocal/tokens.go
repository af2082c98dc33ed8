package dynamolocal

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"time"
)

// tokens are the request tokens of the transactions that were applied, for as long as DynamoDB keeps
// them. A transaction that was cancelled leaves none, and can be tried again with its token.
type tokens struct {
	now  func() time.Time
	seen map[string]applied
}

type applied struct {
	parts [sha256.Size]byte
	at    time.Time
}

const (
	tokenLife = 10 * time.Minute
	// manyTokens is when those that are too old are looked for.
	manyTokens = 4096
)

// known tells whether a transaction with this token was applied. It is an error if that was another
// transaction.
func (t *tokens) known(token string, parts []map[action]*write) (bool, error) {
	before, ok := t.seen[token]
	if !ok || t.tooOld(before) {
		return false, nil
	}
	if before.parts != sumOf(parts) {
		return false, &failure{Type: "IdempotentParameterMismatchException", Message: "The token was used for another transaction."}
	}
	return true, nil
}

// remember notes that a transaction was applied.
func (t *tokens) remember(token string, parts []map[action]*write) {
	if len(t.seen) >= manyTokens {
		maps.DeleteFunc(t.seen, func(_ string, a applied) bool { return t.tooOld(a) })
	}
	t.seen[token] = applied{sumOf(parts), t.now()}
}

func (t *tokens) tooOld(a applied) bool { return t.now().Sub(a.at) > tokenLife }

// sumOf is the same for the same parts, in whatever order their attributes were sent.
func sumOf(parts []map[action]*write) [sha256.Size]byte {
	text, err := json.Marshal(parts)
	if err != nil { // strings, numbers and bytes
		panic(err)
	}
	return sha256.Sum256(text)
}
