package proof

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A keyServer publishes the people's keys, correctly or not.
type keyServer struct {
	*httptest.Server
	mu    sync.Mutex
	serve http.HandlerFunc
	asked int
}

func newKeyServer(t *testing.T) *keyServer {
	t.Helper()
	k := &keyServer{}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		k.asked++
		serve := k.serve
		k.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(k.Close)
	return k
}

func (k *keyServer) does(serve http.HandlerFunc) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.serve = serve
}

func (k *keyServer) times() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked
}

type issuerEntry = map[string]any

// keysOf serves the people's public keys of some issuers as a key set.
func keysOf(t *testing.T, issuers ...*devissuer.Issuers) http.HandlerFunc {
	t.Helper()
	var keys []any
	for _, i := range issuers {
		set := publicOf(t, i)["jwks"].(map[string]any)
		keys = append(keys, set["keys"].([]any)...)
	}
	body := expect.Value(json.Marshal(map[string]any{"keys": keys}))(t)
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
}

// publicOf is the service's setting for the people's issuer, with its keys.
func publicOf(t *testing.T, i *devissuer.Issuers) issuerEntry {
	t.Helper()
	var list []issuerEntry
	expect.OK(t, json.Unmarshal([]byte(i.Setting()), &list))
	return list[0]
}

func issuers(t *testing.T) *devissuer.Issuers {
	t.Helper()
	i := expect.Value(devissuer.Load(t.TempDir()))(t)
	return i
}

// start runs a service whose authorizer fetches the people's keys from the server.
func (k *keyServer) start(t *testing.T, signer *devissuer.Issuers) *harness.World {
	t.Helper()
	entry := publicOf(t, signer)
	delete(entry, "jwks")
	entry["jwksUrl"] = k.URL
	setting := expect.Value(json.Marshal([]issuerEntry{entry}))(t)
	return harness.New(t, func(o *service.Options) {
		o.Environment = func(function string) []string {
			if function == operations.Authorizer {
				return []string{token.Setting + "=" + string(setting)}
			}
			return nil
		}
	})
}

// get makes a read with a new token of the issuer, for which the gateway can have no cached
// answer.
func get(t *testing.T, w *harness.World, signer *devissuer.Issuers, user string) harness.Answer {
	t.Helper()
	return harness.Target{URL: w.Target.URL, Token: signer.Token}.As(t, user, "acme", auth.PlatformOwner).Get(t, "/api/factories")
}

// waitUntilAccepted waits until the service accepts new tokens again. It fetches keys again after a few
// seconds if it has none, and after a minute if it has some.
func waitUntilAccepted(t *testing.T, w *harness.World, signer *devissuer.Issuers, within time.Duration, until problem.Code) {
	t.Helper()
	deadline := time.Now().Add(within)
	for n := 0; ; n++ {
		a := get(t, w, signer, harness.Name("again"))
		if a.Status == http.StatusOK {
			return
		}
		a.Refused(t, until)
		expect.Must(t, !time.Now().After(deadline), "after %s tokens are still refused", within)
		time.Sleep(200 * time.Millisecond)
	}
}

// TestKeys_ServerFails_CallersAreRefusedUntilItRecovers begins without keys. Everyone gets only 503. When
// the server works again, the same callers are accepted.
func TestKeys_ServerFails_CallersAreRefusedUntilItRecovers(t *testing.T) {
	expect.Full(t)
	for name, serve := range map[string]http.HandlerFunc{
		"breaks off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"fails":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"is slow": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Second):
			}
		},
		"sends no keys":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>maintenance</html>")) },
		"sends too much": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat(" ", 1<<20))) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://keys.example/", http.StatusFound)
		},
		"sends no key set": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":null}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signer, server := issuers(t), newKeyServer(t)
			server.does(serve)
			w := server.start(t, signer)
			a := get(t, w, signer, "olga")
			a.Refused(t, problem.Unavailable)
			expect.That(t, a.Header.Get("Retry-After") != "", "a 503 without Retry-After: %v", a.Header)
			server.does(keysOf(t, signer))
			waitUntilAccepted(t, w, signer, time.Minute, problem.Unavailable)
			if a := get(t, w, signer, "olga"); a.Status != http.StatusOK {
				t.Errorf("a caller who was refused before gets %d %s", a.Status, a.Body)
			}
		})
	}
}

// TestKeys_ServerDownLater_KnownKeysAreUsed: keys that were fetched once are used during an
// outage. A container that starts during the outage has none.
func TestKeys_ServerDownLater_KnownKeysAreUsed(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	signer, server := issuers(t), newKeyServer(t)
	server.does(keysOf(t, signer))
	w := server.start(t, signer)
	get(t, w, signer, "olga").Is(t, http.StatusOK)
	server.does(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for range 5 {
		get(t, w, signer, harness.Name("new")).Is(t, http.StatusOK)
	}
	w.Function(operations.Authorizer).Recycle()
	get(t, w, signer, "late").Refused(t, problem.Unavailable)
	server.does(keysOf(t, signer))
	waitUntilAccepted(t, w, signer, time.Minute, problem.Unavailable)
}

// TestKeys_Rotated_NewKeysAreAcceptedAndOldOnesRefused: tokens with a new key are accepted once keys
// are fetched again, and tokens with a removed key are then refused. Many tokens with unknown
// keys do not cause many fetches.
func TestKeys_Rotated_NewKeysAreAcceptedAndOldOnesRefused(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	old, fresh, server := issuers(t), issuers(t), newKeyServer(t)
	server.does(keysOf(t, old))
	w := server.start(t, old)
	get(t, w, old, "olga").Is(t, http.StatusOK)
	server.does(keysOf(t, old, fresh))
	for range 5 { // within the minute in which keys are not fetched again
		if a := get(t, w, fresh, harness.Name("early")); a.Status != http.StatusOK {
			a.Refused(t, problem.Unauthenticated)
		}
	}
	n := server.times()
	expect.That(t, n <= 2, "unknown keys caused %d requests to the server", n)
	if expect.Long(false, true) {
		waitUntilAccepted(t, w, fresh, 2*time.Minute, problem.Unauthenticated)
	}
	w.Function(operations.Authorizer).Recycle()
	get(t, w, fresh, "new").Is(t, http.StatusOK)
	get(t, w, old, "old").Is(t, http.StatusOK)

	server.does(keysOf(t, fresh))
	w.Function(operations.Authorizer).Recycle()
	get(t, w, fresh, "newer").Is(t, http.StatusOK)
	get(t, w, old, "older").Refused(t, problem.Unauthenticated)
}

// TestKeys_AuthorizerKilledDuringAFetch_NextCallSucceeds: the gateway answers for a killed
// authorizer, and caches nothing.
func TestKeys_AuthorizerKilledDuringAFetch_NextCallSucceeds(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	signer, server := issuers(t), newKeyServer(t)
	asked := make(chan struct{}, 1)
	server.does(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	w := server.start(t, signer)
	answer := make(chan harness.Answer)
	caller := harness.Target{URL: w.Target.URL, Token: signer.Token}.As(t, "olga", "acme", auth.PlatformOwner)
	go func() {
		defer close(answer)
		if a, err := caller.Try(http.MethodGet, "/api/factories", ""); err == nil {
			answer <- a
		}
	}()
	<-asked
	server.does(keysOf(t, signer))
	for _, pid := range w.Function(operations.Authorizer).PIDs() {
		kill(pid)
	}
	(<-answer).Refused(t, problem.Unavailable)
	caller.Get(t, "/api/factories").Is(t, http.StatusOK)
}
