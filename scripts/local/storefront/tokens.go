package storefront

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"wavegate/scripts/local/upstream"
)

// tokens play what DynamoDB makes of a transaction's ClientRequestToken, for a store that does not
// look at it: for ten minutes, a repeated transaction that was applied before is answered as it was
// then, and not applied again. One that was cancelled is tried anew.
type tokens struct {
	mu   sync.Mutex
	seen map[string]*seenToken
}

type seenToken struct {
	body   [sha256.Size]byte
	at     time.Time
	answer *upstream.Answer // nil while the store works on it
}

const (
	tokenLife = 10 * time.Minute
	// manyTokens is when those that are too old are looked for.
	manyTokens = 4096
)

// once has apply ask the store, unless the transaction in raw was applied already.
func (t *tokens) once(raw []byte, apply func() (upstream.Answer, error)) (upstream.Answer, error) {
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return apply()
	}
	token, _ := body["ClientRequestToken"].(string)
	same, err := json.Marshal(body) // with names in order, however they were sent
	if token == "" || err != nil {
		return apply()
	}
	before, first := t.begin(token, sha256.Sum256(same))
	if !first {
		return before, nil
	}
	answer, err := apply()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || answer.Status != http.StatusOK {
		delete(t.seen, token)
		return answer, err
	}
	t.seen[token].answer = &answer
	return answer, nil
}

// begin notes a transaction, or returns what one that is not the first is answered with.
func (t *tokens) begin(token string, body [sha256.Size]byte) (answer upstream.Answer, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch s := t.seen[token]; {
	case s == nil || now.Sub(s.at) > tokenLife:
		if len(t.seen) >= manyTokens {
			for k, s := range t.seen {
				if now.Sub(s.at) > tokenLife {
					delete(t.seen, k)
				}
			}
		}
		t.seen[token] = &seenToken{body: body, at: now}
		return upstream.Answer{}, true
	case s.body != body:
		return failed("IdempotentParameterMismatchException", "The token was used for another transaction."), false
	case s.answer == nil:
		return failed("TransactionInProgressException", "The transaction with the given request token is already in progress"), false
	default:
		return *s.answer, false
	}
}

func failed(kind, message string) upstream.Answer {
	a := Failure(http.StatusBadRequest, kind, message)
	return upstream.Answer{Status: a.Status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: []byte(a.Body)}
}
