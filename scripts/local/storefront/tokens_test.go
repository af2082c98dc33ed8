package storefront

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/local/upstream"
)

// asked counts how often the store behind tokens was asked, and answers with the statuses by turns.
type asked struct {
	n        int
	statuses []int
}

func (a *asked) apply() (upstream.Answer, error) {
	a.n++
	return upstream.Answer{Status: a.statuses[a.n-1], Body: []byte("answer")}, nil
}

func once(t *testing.T, tokens *tokens, body string, store *asked) upstream.Answer {
	t.Helper()
	answer, err := tokens.once([]byte(body), store.apply)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestTokens_RepeatedTransaction_IsAppliedOnce(t *testing.T) {
	tokens, store := &tokens{seen: map[string]*seenToken{}}, &asked{statuses: []int{200}}
	once(t, tokens, `{"ClientRequestToken":"t","a":1,"b":2}`, store)
	again := once(t, tokens, `{"b":2,"a":1,"ClientRequestToken":"t"}`, store)
	if store.n != 1 || again.Status != http.StatusOK || string(again.Body) != "answer" {
		t.Errorf("asked %d times, answered %d %s", store.n, again.Status, again.Body)
	}
	other := once(t, tokens, `{"ClientRequestToken":"t","a":3}`, store)
	if store.n != 1 || !strings.Contains(string(other.Body), "IdempotentParameterMismatchException") {
		t.Errorf("another transaction with the token was answered with %s", other.Body)
	}
}

func TestTokens_CancelledTransaction_IsTriedAnew(t *testing.T) {
	tokens, store := &tokens{seen: map[string]*seenToken{}}, &asked{statuses: []int{400, 200}}
	for _, want := range []int{400, 200} {
		if answer := once(t, tokens, `{"ClientRequestToken":"t"}`, store); answer.Status != want {
			t.Errorf("answered %d, want %d", answer.Status, want)
		}
	}
}

func TestTokens_TransactionUnderWay_IsInProgress(t *testing.T) {
	tokens, store := &tokens{seen: map[string]*seenToken{}}, &asked{statuses: []int{200}}
	body := `{"ClientRequestToken":"t"}`
	_, err := tokens.once([]byte(body), func() (upstream.Answer, error) {
		if meanwhile := once(t, tokens, body, store); !strings.Contains(string(meanwhile.Body), "TransactionInProgressException") {
			t.Errorf("answered %s", meanwhile.Body)
		}
		return store.apply()
	})
	if err != nil || store.n != 1 {
		t.Errorf("asked %d times: %v", store.n, err)
	}
}

func TestTokens_TransactionWithoutOne_IsAppliedEachTime(t *testing.T) {
	tokens, store := &tokens{seen: map[string]*seenToken{}}, &asked{statuses: []int{200, 200}}
	once(t, tokens, `{}`, store)
	once(t, tokens, `{}`, store)
	if store.n != 2 {
		t.Errorf("asked %d times", store.n)
	}
}
