package box

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"wavegate/shared/testing/expect"
)

func TestClient_FullDoor_GoesToTheAPI(t *testing.T) { playDoor(t, startGo) }

// playDoor tells a client of a door that becomes full while the box is told another version.
func playDoor(t *testing.T, begin start) {
	o, d := newOrigin(t), newDevice(t)
	api, err := url.Parse(o.URL)
	expect.OK(t, err)
	var answered, refused atomic.Int64
	var full atomic.Bool
	forward := httputil.NewSingleHostReverseProxy(api)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if full.Load() {
			refused.Add(1)
			w.WriteHeader(http.StatusTooManyRequests) // as Lambda answers
			return
		}
		answered.Add(1)
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	o.door = door.URL
	defer begin(t, o, d, t.TempDir())()
	o.until(t, "it polls at the door", func() bool { return answered.Load() > 0 })
	o.changes("1.1.0")
	o.until(t, "it runs what it was told at the door", func() bool { return d.read(t, "version") == "1.1.0" && o.polls["1.1.0"] > 0 })
	full.Store(true)
	o.changes("1.2.0")
	o.until(t, "it runs what it was told at the API", func() bool { return d.read(t, "version") == "1.2.0" && o.polls["1.2.0"] > 0 })
	if n := refused.Load(); n < 2 || n > 4 {
		t.Errorf("it called the full door %d times", n)
	}
}
