package dynamolocal

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"time"
)

// tokens are the request tokens of applied transactions, for as long as DynamoDB keeps them. A
// cancelled transaction leaves no token, so it can be tried again with the same one.
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
	// manyTokens is the number at which expired tokens are removed.
	manyTokens = 4096
)

// known reports whether a transaction with this token was applied. It returns an error if that was
// another transaction.
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

func (t *tokens) remember(token string, parts []map[action]*write) {
	if len(t.seen) >= manyTokens {
		maps.DeleteFunc(t.seen, func(_ string, a applied) bool { return t.tooOld(a) })
	}
	t.seen[token] = applied{sumOf(parts), t.now()}
}

func (t *tokens) tooOld(a applied) bool { return t.now().Sub(a.at) > tokenLife }

// sumOf is equal for equal parts, in any order of their attributes.
func sumOf(parts []map[action]*write) [sha256.Size]byte {
	text, err := json.Marshal(parts)
	if err != nil { // strings, numbers and bytes can always be encoded
		panic(err)
	}
	return sha256.Sum256(text)
}
