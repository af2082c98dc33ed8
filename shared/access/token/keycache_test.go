package token_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/shared/access/token"
	"wavegate/shared/testing/tokentest"
)

// A publisher is an issuer's key server, with a clock and a verifier that trusts it.
type publisher struct {
	*token.Verifier
	key      tokentest.Key
	calls    atomic.Int64
	failures atomic.Int64

	mu     sync.Mutex
	now    time.Time
	answer http.HandlerFunc
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{key: tokentest.NewES256("one"), now: noon}
	p.publish(tokentest.KeySet(p.key))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		p.mu.Lock()
		answer := p.answer
		p.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	setting := issuer(tokentest.People, "null", "production_engineer")
	delete(setting, "jwks")
	setting["jwksUrl"] = server.URL + "/.well-known/jwks.json"
	issuers, err := token.ParseIssuers(tokentest.JSON([]any{setting}))
	if err != nil {
		t.Fatal(err)
	}
	p.Verifier = token.New(issuers, token.Options{
		Now: func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.now },
		KeysFailed: func(_ context.Context, issuer string, err error) {
			if issuer != tokentest.People || err == nil {
				t.Errorf("KeysFailed got the issuer %q, error %v", issuer, err)
			}
			p.failures.Add(1)
		},
	})
	return p
}

func (p *publisher) serve(h http.HandlerFunc) { p.mu.Lock(); defer p.mu.Unlock(); p.answer = h }

func (p *publisher) publish(keySet string) {
	p.serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, keySet) })
}

func (p *publisher) fail() {
	p.serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
}

func (p *publisher) wait(d time.Duration) { p.mu.Lock(); defer p.mu.Unlock(); p.now = p.now.Add(d) }

// try verifies a token that the key signs now, and returns the class of its refusal, or "".
func (p *publisher) try(ctx context.Context, k tokentest.Key) token.RefusalReason {
	p.mu.Lock()
	raw := tokentest.NewWorld(p.now).Person().By(k).Sign()
	p.mu.Unlock()
	_, err := p.Verify(ctx, raw)
	if r, ok := errors.AsType[*token.Refusal](err); ok {
		return r.Reason
	}
	return ""
}

func (p *publisher) mustBe(t *testing.T, k tokentest.Key, want token.RefusalReason, calls int64) {
	t.Helper()
	if got := p.try(t.Context(), k); got != want {
		t.Errorf("refused as %q, want %q", got, want)
	}
	if got := p.calls.Load(); got != calls {
		t.Errorf("%d fetches so far, want %d", got, calls)
	}
}

func TestKeys_AreFetchedWithTheFirstToken_AndKept(t *testing.T) {
	p := newPublisher(t)
	if p.calls.Load() != 0 {
		t.Error("fetched before there was a token")
	}
	for range 20 {
		p.mustBe(t, p.key, "", 1)
		p.wait(29 * time.Second)
	}
	p.wait(21 * time.Second) // ten minutes and one second
	p.mustBe(t, p.key, "", 2)
}

func TestKeys_TokenThatCanNeverBecomeValid_CausesNoFetch(t *testing.T) {
	p := newPublisher(t)
	expired := tokentest.NewWorld(noon.Add(-2 * time.Hour)).Person().By(p.key).Sign()
	if _, err := p.Verify(t.Context(), expired); err == nil {
		t.Error("accepted")
	}
	if p.calls.Load() != 0 {
		t.Error("fetched for an expired token")
	}
}

func TestKeys_Rotated_AreFetchedOnceAMinuteHasPassed(t *testing.T) {
	p := newPublisher(t)
	p.mustBe(t, p.key, "", 1)
	next := tokentest.NewRS256("two", 2048)
	p.publish(tokentest.KeySet(p.key, next))
	p.wait(59 * time.Second)
	p.mustBe(t, next, token.UnknownKey, 1)
	p.wait(time.Second)
	p.mustBe(t, next, "", 2)
	p.mustBe(t, p.key, "", 2)
}

func TestKeys_FloodOfUnknownKeyIDs_FetchesOnceAMinute(t *testing.T) {
	p := newPublisher(t)
	p.mustBe(t, p.key, "", 1)
	for n := range 180 {
		p.wait(time.Second)
		p.mustBe(t, tokentest.NewEdDSA(fmt.Sprint("made-up-", n)), token.UnknownKey, int64(1+(n+1)/60))
	}
}

func TestKeys_Revoked_AreValidForAtMostTenMinutes(t *testing.T) {
	p := newPublisher(t)
	p.mustBe(t, p.key, "", 1)
	p.publish(tokentest.KeySet(tokentest.NewEdDSA("two")))
	p.wait(10 * time.Minute)
	p.mustBe(t, p.key, token.UnknownKey, 2)
}

func TestKeys_AllRevoked_RefusesEveryone(t *testing.T) {
	p := newPublisher(t)
	p.mustBe(t, p.key, "", 1)
	p.publish(`{"keys":[]}`)
	p.wait(10 * time.Minute)
	p.mustBe(t, p.key, token.UnknownKey, 2)
}

func TestKeys_Outage_StaleKeysAreUsedForSixHours(t *testing.T) {
	p := newPublisher(t)
	p.mustBe(t, p.key, "", 1)
	p.fail()
	p.wait(10 * time.Minute)
	p.mustBe(t, p.key, "", 2)
	p.wait(59 * time.Second)
	p.mustBe(t, p.key, "", 2) // one try a minute
	p.wait(time.Second)
	p.mustBe(t, p.key, "", 3)
	p.wait(6*time.Hour - 12*time.Minute)
	p.mustBe(t, p.key, "", 4) // five hours and 59 minutes old
	p.wait(time.Minute)
	p.mustBe(t, p.key, token.KeysUnavailable, 5)
	if p.failures.Load() != 4 {
		t.Errorf("KeysFailed was called %d times, want 4", p.failures.Load())
	}
}

func TestKeys_AfterAnOutage_AreFetchedAgain(t *testing.T) {
	p := newPublisher(t)
	p.fail()
	p.mustBe(t, p.key, token.KeysUnavailable, 1)
	p.publish(tokentest.KeySet(p.key))
	p.wait(4 * time.Second)
	p.mustBe(t, p.key, token.KeysUnavailable, 1) // with no keys, one try every five seconds
	p.wait(time.Second)
	p.mustBe(t, p.key, "", 2)
}

func TestKeys_ClockSetBack_AreFetchedAgain(t *testing.T) {
	p := newPublisher(t)
	p.mustBe(t, p.key, "", 1)
	p.wait(-24 * time.Hour)
	p.mustBe(t, p.key, "", 2)
	p.mustBe(t, p.key, "", 2)
}

func TestKeys_BadAnswer_IsNotUsed(t *testing.T) {
	text := func(s string) func(*publisher) http.HandlerFunc {
		return func(*publisher) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, s) }
		}
	}
	for name, answer := range map[string]func(p *publisher) http.HandlerFunc{
		"empty":         text(""),
		"not JSON":      text("<html>maintenance</html>"),
		"no keys":       text(`{"error":"unavailable"}`),
		"keys null":     text(`{"keys":null}`),
		"keys twice":    text(`{"keys":[],"keys":[]}`),
		"a list":        text(`[]`),
		"cut short":     text(`{"keys":[`),
		"nested deeply": text(`{"keys":` + strings.Repeat("[", 100_000)),
		"oversized": func(p *publisher) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprint(w, tokentest.KeySet(p.key)+strings.Repeat(" ", 256<<10))
			}
		},
		"another status": func(p *publisher) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				_, _ = fmt.Fprint(w, tokentest.KeySet(p.key))
			}
		},
		"connection cut": func(*publisher) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t)
			p.serve(answer(p))
			p.mustBe(t, p.key, token.KeysUnavailable, 1)
			if p.failures.Load() != 1 {
				t.Errorf("KeysFailed was called %d times, want 1", p.failures.Load())
			}
		})
	}
}

func TestKeys_RedirectToAGoodKeySet_IsNotFollowed(t *testing.T) {
	p := newPublisher(t)
	var followed atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		followed.Store(true)
		_, _ = fmt.Fprint(w, tokentest.KeySet(p.key))
	}))
	defer target.Close()
	p.serve(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) })
	p.mustBe(t, p.key, token.KeysUnavailable, 1)
	if followed.Load() {
		t.Error("the redirect was followed")
	}
}

func TestKeys_IssuerDoesNotAnswer_FetchTimesOut(t *testing.T) {
	for name, begin := range map[string]string{"before the answer": "", "within the answer": `{"keys":[`} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t)
			token.SetFetchTimeout(p.Verifier, 30*time.Millisecond)
			p.serve(func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprint(w, begin)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done() // until the caller leaves
			})
			p.mustBe(t, p.key, token.KeysUnavailable, 1)
		})
	}
}

func TestKeys_IssuerDoesNotAnswer_StaleKeysAreUsed(t *testing.T) {
	p := newPublisher(t)
	p.mustBe(t, p.key, "", 1)
	token.SetFetchTimeout(p.Verifier, 30*time.Millisecond)
	p.serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p.wait(time.Hour)
	p.mustBe(t, p.key, "", 2)
}

func TestKeys_ManyCallersAtOnce_ShareOneFetch(t *testing.T) {
	p := newPublisher(t)
	release := make(chan struct{})
	p.serve(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = fmt.Fprint(w, tokentest.KeySet(p.key))
	})
	var callers sync.WaitGroup
	var accepted atomic.Int64
	for range 200 {
		callers.Go(func() {
			if p.try(t.Context(), p.key) == "" {
				accepted.Add(1)
			}
		})
	}
	for p.calls.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	callers.Wait()
	if accepted.Load() != 200 || p.calls.Load() != 1 {
		t.Errorf("%d of 200 accepted with %d fetches", accepted.Load(), p.calls.Load())
	}
}

// The caller that began the fetch leaves. The callers that wait for the same fetch still get its
// keys.
func TestKeys_CallerLeavesDuringAFetch_OthersGetTheKeys(t *testing.T) {
	p := newPublisher(t)
	asked, release := make(chan struct{}), make(chan struct{})
	p.serve(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		_, _ = fmt.Fprint(w, tokentest.KeySet(p.key))
	})
	ctx, leave := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	callers.Go(func() {
		if got := p.try(ctx, p.key); got != token.KeysUnavailable {
			t.Errorf("the one that left got %q", got)
		}
	})
	<-asked
	leave()
	callers.Wait()
	callers.Go(func() { p.mustBe(t, p.key, "", 1) })
	close(release)
	callers.Wait()
}

func TestKeys_OfOneIssuer_AreNotThoseOfAnother(t *testing.T) {
	p := newPublisher(t)
	w := tokentest.NewWorld(noon)
	_, err := p.Verify(t.Context(), w.Box().By(p.key).Sign())
	if r, ok := errors.AsType[*token.Refusal](err); !ok || r.Reason != token.BadIssuer {
		t.Errorf("error %v", err)
	}
	if p.calls.Load() != 0 {
		t.Error("asked one issuer for the keys of another")
	}
}
