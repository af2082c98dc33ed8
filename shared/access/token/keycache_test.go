package token_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

// A publisher is an issuer's key server, with a clock and a verifier that trusts it.
type publisher struct {
	*token.Verifier
	calls    atomic.Int64
	failures atomic.Int64

	mu     sync.Mutex
	now    time.Time
	answer http.HandlerFunc
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{now: noon}
	p.publish(tokentest.KeySet(first))
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
	issuers := expect.Value(token.ParseIssuers(tokentest.JSON([]any{setting})))(t)
	p.Verifier = token.New(issuers, token.Options{
		Now: func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.now },
		KeysFailed: func(_ context.Context, issuer string, err error) {
			expect.That(t, issuer == tokentest.People && err != nil,
				"KeysFailed got the issuer %q, error %v", issuer, err)
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
	return reasonOf(err)
}

// A step is a token that comes after some time, and the number of fetches so far.
type step struct {
	wait    time.Duration
	does    func(*publisher) // of the issuer, before that time; nil: nothing
	key     tokentest.Key
	refused token.RefusalReason
	fetches int64
}

func (p *publisher) take(t *testing.T, steps ...step) {
	t.Helper()
	for i, s := range steps {
		if s.does != nil {
			s.does(p)
		}
		p.wait(s.wait)
		expect.Equal(t, p.try(t.Context(), s.key), s.refused, "step %d: refused as", i)
		expect.Equal(t, p.calls.Load(), s.fetches, "step %d: the number of fetches is", i)
	}
}

var first, second = tokentest.NewES256("one"), tokentest.NewRS256("two", 2048)

func publishes(keys ...tokentest.Key) func(*publisher) {
	return func(p *publisher) { p.publish(tokentest.KeySet(keys...)) }
}

func TestKeys_Fetches_ByWhatTheIssuerPublishes(t *testing.T) {
	var kept, flood []step
	for range 20 {
		kept = append(kept, step{key: first, fetches: 1}, step{wait: 29 * time.Second, key: first, fetches: 1})
	}
	for n := range 180 {
		flood = append(flood, step{wait: time.Second, key: tokentest.NewEdDSA(fmt.Sprint("made-up-", n)), refused: token.UnknownKey, fetches: int64(1 + (n+1)/60)})
	}
	fails, now := (*publisher).fail, step{key: first, fetches: 1}
	for name, c := range map[string]struct {
		steps    []step
		failures int64 // that KeysFailed gets
	}{
		"keys are kept for ten minutes": {append(kept, step{wait: 21 * time.Second, key: first, fetches: 2}), 0},
		"rotated keys are fetched once a minute has passed": {[]step{
			now,
			{does: publishes(first, second), wait: 59 * time.Second, key: second, refused: token.UnknownKey, fetches: 1},
			{wait: time.Second, key: second, fetches: 2},
			{key: first, fetches: 2},
		}, 0},
		"a flood of unknown key ids fetches once a minute": {append([]step{now}, flood...), 0},
		"a revoked key is valid for at most ten minutes": {[]step{
			now, {does: publishes(second), wait: 10 * time.Minute, key: first, refused: token.UnknownKey, fetches: 2},
		}, 0},
		"if all keys are revoked, nobody gets in": {[]step{
			now, {does: publishes(), wait: 10 * time.Minute, key: first, refused: token.UnknownKey, fetches: 2},
		}, 0},
		"in an outage, keys are used for six hours": {[]step{
			now,
			{does: fails, wait: 10 * time.Minute, key: first, fetches: 2},
			{wait: 59 * time.Second, key: first, fetches: 2}, // one try a minute
			{wait: time.Second, key: first, fetches: 3},
			{wait: 6*time.Hour - 12*time.Minute, key: first, fetches: 4}, // five hours and 59 minutes old
			{wait: time.Minute, key: first, refused: token.KeysUnavailable, fetches: 5},
		}, 4},
		"without keys, there is one try every five seconds": {[]step{
			{does: fails, key: first, refused: token.KeysUnavailable, fetches: 1},
			{does: publishes(first), wait: 4 * time.Second, key: first, refused: token.KeysUnavailable, fetches: 1},
			{wait: time.Second, key: first, fetches: 2},
		}, 1},
		"after a clock was set back, keys are fetched again": {[]step{
			now, {wait: -24 * time.Hour, key: first, fetches: 2}, {key: first, fetches: 2},
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t)
			expect.Equal(t, p.calls.Load(), 0, "before there is a token, the number of fetches is")
			p.take(t, c.steps...)
			expect.Equal(t, p.failures.Load(), c.failures, "the number of failures is")
		})
	}
}

func TestKeys_TokenThatCanNeverBecomeValid_CausesNoFetch(t *testing.T) {
	p := newPublisher(t)
	expired := tokentest.NewWorld(noon.Add(-2 * time.Hour)).Person().By(first).Sign()
	_, err := p.Verify(t.Context(), expired)
	expect.That(t, err != nil, "accepted")
	expect.Equal(t, p.calls.Load(), 0, "fetched for an expired token")
}

func TestKeys_BadAnswer_IsNotUsed(t *testing.T) {
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, s) }
	}
	good := tokentest.KeySet(first)
	for name, answer := range map[string]http.HandlerFunc{
		"empty":          text(""),
		"not JSON":       text("<html>maintenance</html>"),
		"no keys":        text(`{"error":"unavailable"}`),
		"keys null":      text(`{"keys":null}`),
		"keys twice":     text(`{"keys":[],"keys":[]}`),
		"a list":         text(`[]`),
		"cut short":      text(`{"keys":[`),
		"nested deeply":  text(`{"keys":` + strings.Repeat("[", 100_000)),
		"oversized":      text(good + strings.Repeat(" ", 256<<10)),
		"another status": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, good, http.StatusNotFound) },
		"connection cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t)
			p.serve(answer)
			p.take(t, step{key: first, refused: token.KeysUnavailable, fetches: 1})
			expect.Equal(t, p.failures.Load(), 1, "the number of failures is")
		})
	}
}

func TestKeys_RedirectToAGoodKeySet_IsNotFollowed(t *testing.T) {
	p := newPublisher(t)
	var followed atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		followed.Store(true)
		_, _ = fmt.Fprint(w, tokentest.KeySet(first))
	}))
	defer target.Close()
	p.serve(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) })
	p.take(t, step{key: first, refused: token.KeysUnavailable, fetches: 1})
	expect.That(t, !followed.Load(), "the redirect was followed")
}

func TestKeys_IssuerDoesNotAnswer_FetchTimesOut(t *testing.T) {
	for name, begin := range map[string]string{"before the answer": "", "within the answer": `{"keys":[`} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t)
			token.SetFetchTimeout(p.Verifier, time.Second) // a busy machine takes longer than a few milliseconds to connect
			p.serve(func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprint(w, begin)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done() // until the caller leaves
			})
			p.take(t, step{key: first, refused: token.KeysUnavailable, fetches: 1})
		})
	}
}

func TestKeys_IssuerDoesNotAnswer_StaleKeysAreUsed(t *testing.T) {
	p := newPublisher(t)
	p.take(t, step{key: first, fetches: 1})
	token.SetFetchTimeout(p.Verifier, time.Second) // a busy machine takes longer than a few milliseconds to connect
	p.serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p.wait(time.Hour)
	p.take(t, step{key: first, fetches: 2})
}

func TestKeys_ManyCallersAtOnce_ShareOneFetch(t *testing.T) {
	p := newPublisher(t)
	token.SetFetchTimeout(p.Verifier, time.Minute) // 200 callers on a slow machine take more than the usual time
	release := make(chan struct{})
	p.serve(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = fmt.Fprint(w, tokentest.KeySet(first))
	})
	var callers sync.WaitGroup
	var accepted atomic.Int64
	for range 200 {
		callers.Go(func() {
			if p.try(t.Context(), first) == "" {
				accepted.Add(1)
			}
		})
	}
	for p.calls.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	callers.Wait()
	expect.Equal(t, accepted.Load(), 200, "of 200 callers, accepted are")
	expect.Equal(t, p.calls.Load(), 1, "the number of fetches is")
}

// The caller that began the fetch leaves. The callers that wait for the same fetch still get its
// keys.
func TestKeys_CallerLeavesDuringAFetch_OthersGetTheKeys(t *testing.T) {
	p := newPublisher(t)
	asked, release := make(chan struct{}), make(chan struct{})
	p.serve(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		_, _ = fmt.Fprint(w, tokentest.KeySet(first))
	})
	ctx, leave := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	callers.Go(func() {
		expect.Equal(t, p.try(ctx, first), token.KeysUnavailable, "the one that left got")
	})
	<-asked
	leave()
	callers.Wait()
	callers.Go(func() { p.take(t, step{key: first, fetches: 1}) })
	close(release)
	callers.Wait()
}

func TestKeys_OfOneIssuer_AreNotThoseOfAnother(t *testing.T) {
	p := newPublisher(t)
	w := tokentest.NewWorld(noon)
	_, err := p.Verify(t.Context(), w.Box().By(first).Sign())
	expect.Equal(t, reasonOf(err), token.BadIssuer, "refused as")
	expect.Equal(t, p.calls.Load(), 0, "asked one issuer for the keys of another")
}
