package box

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// An origin answers like the service: the bell, polls and reports. It also serves the artifacts. Every box is told
// the target.
type origin struct {
	*httptest.Server

	mu        sync.Mutex
	target    string
	interval  int // of the bell, in seconds
	sound     int
	called    string // the box that the bell calls
	down      bool
	advice    string               // the answer to reports
	serving   func(version string) // called before an artifact is sent
	bells     int                  // calls of the bell
	polls     map[string]int       // by the version that the boxes reported
	silent    int                  // polls that were answered with 304
	reports   []Report
	strangers []string // calls with a token that need none, or without one that need it
	door      string   // where boxes are told to call
}

const authorization = "Bearer of the box"

func newOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{target: "1.0.0", interval: 60, advice: `{"retryAfterSeconds":1}`, polls: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /b/gateway-x/stable/proof", o.bell)
	mux.HandleFunc("GET /api/edges/{id}/update/manifest", o.manifest)
	mux.HandleFunc("PUT /api/edges/{id}/update/report", o.report)
	mux.HandleFunc("GET /artifacts/{version}", o.artifact)
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		down := o.down
		o.mu.Unlock()
		if down {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		o.Close()
		if len(o.strangers) > 0 {
			t.Errorf("with the wrong authorization: %q", o.strangers)
		}
	})
	return o
}

func (o *origin) bell(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bells++
	o.expect(r, "")
	tag := fmt.Sprintf(`"sound-%d.%x"`, o.sound, o.called)
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "public, max-age=2")
	w.Header().Set("Wavegate-Interval", fmt.Sprint(o.interval))
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprintf(w, `{"sound":"sound-%d","intervalSeconds":%d,"calls":["other","%s"]}`, o.sound, o.interval, o.called)
}

func (o *origin) manifest(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expect(r, authorization)
	installed := r.FormValue("installed")
	o.polls[installed]++
	m := Manifest{
		Version: o.target, ArtifactURL: o.URL + "/artifacts/" + o.target, SHA256: fmt.Sprintf("%x", sha256.Sum256(content(o.target))),
		RolloutID: "rollout-" + o.target, PollIntervalSeconds: 21_600, Door: o.door,
	}
	if r.FormValue("bell") == "true" {
		m.Bell = &Bell{URL: o.URL + "/b/gateway-x/stable/proof", Call: "code of " + r.PathValue("id")}
	}
	tag := fmt.Sprintf(`"%s told %s"`, o.target, installed)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		o.silent++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_ = json.NewEncoder(w).Encode(m) // the test notices
}

func (o *origin) report(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expect(r, authorization)
	var report Report
	text, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(text, &report) != nil {
		http.Error(w, "no report", http.StatusBadRequest)
		return
	}
	o.reports = append(o.reports, report)
	_, _ = io.WriteString(w, o.advice)
}

func (o *origin) artifact(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.expect(r, "")
	serving := o.serving
	o.mu.Unlock()
	if serving != nil {
		serving(r.PathValue("version"))
	}
	http.ServeContent(w, r, "artifact", time.Time{}, readerOf(content(r.PathValue("version"))))
}

// expect records a call with the wrong authorization. The caller holds the lock.
func (o *origin) expect(r *http.Request, want string) {
	if got := r.Header.Get("Authorization"); got != want {
		o.strangers = append(o.strangers, r.Method+" "+r.URL.Path+" "+got)
	}
}

// changes changes the version that boxes are told, and rings.
func (o *origin) changes(target string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.target, o.sound = target, o.sound+1
}

// polled counts the polls that reported a version.
func (o *origin) polled(version string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.polls[version]
}

// until waits for a condition.
func (o *origin) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		o.mu.Lock()
		so := is()
		o.mu.Unlock()
		if so {
			return
		}
		if time.Now().After(deadline) {
			o.mu.Lock()
			defer o.mu.Unlock()
			t.Fatalf("never: %s; polls %v, reports %+v, %d bells", what, o.polls, o.reports, o.bells)
		}
	}
}
