package box

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

// A minute of the boxes and of the cache takes a second here.
const minute = time.Second

// plantCache runs nginx in front of an origin, with the configuration of infra/plant-cache.md, and returns its URL.
func plantCache(t *testing.T, origin string) string {
	t.Helper()
	nginx := expect.Program(t, "Debian's nginx brings it", "nginx", "/usr/sbin/nginx")
	page, err := os.ReadFile(filepath.Join("..", "..", "infra", "plant-cache.md"))
	expect.OK(t, err)
	block := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no configuration")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	expect.OK(t, err)
	address, dir := listener.Addr().String(), t.TempDir()
	listener.Close()
	server := string(block[1])
	for was, is := range map[string]string{
		"/var/cache/nginx/bell":                             dir + "/bell",
		"/var/cache/nginx/artifacts":                        dir + "/artifacts",
		"listen 8080;":                                      "listen " + address + ";",
		"https://abcdefghij.lambda-url.eu-central-1.on.aws": origin,
		"https://d111111abcdef8.cloudfront.net":             origin,
		"60s":                                               minute.String(),
	} {
		if strings.Count(server, was) != 1 {
			t.Fatalf("the page's configuration has not one %q:\n%s", was, server)
		}
		server = strings.Replace(server, was, is, 1)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n"
	}
	whole := fmt.Sprintf("%sdaemon off;\nworker_processes 1;\nerror_log %s/error.log;\npid %s/pid;\nevents { worker_connections 4096; }\nhttp {\naccess_log off;\n", user, dir, dir)
	for _, temp := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		whole += temp + "_temp_path " + dir + "/" + temp + ";\n"
	}
	config := filepath.Join(dir, "nginx.conf")
	expect.OK(t, os.WriteFile(config, []byte(whole+server+"}\n"), 0o600))
	c := exec.Command(nginx, "-c", config, "-p", dir, "-e", dir+"/error.log")
	c.Stderr = t.Output()
	expect.OK(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait() // it was ended
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return "http://" + address
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// A plant is a group of boxes that hear the bell through a cache.
type plant struct {
	asked, heard, polled atomic.Int64 // calls of the bell, answered ones, and answered polls
	activated            atomic.Int64
	downloading          atomic.Int64
	cut, back            atomic.Int64  // boxes with a failed poll, and boxes that have polled since
	arrives              chan struct{} // closed when the downloads end
}

// A plantBox is a device that installs in no time.
type plantBox struct {
	*plant
	runs      string
	cut, back bool
}

func (b *plantBox) Installed(context.Context) (string, error) {
	return b.runs, nil
}

func (b *plantBox) Activate(_ context.Context, m Manifest, _ string) error {
	b.runs = m.Version
	b.activated.Add(1)
	return nil
}

func (p *plant) fetch(ctx context.Context, _ Manifest, _ string) error {
	p.downloading.Add(1)
	select {
	case <-p.arrives:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *plantBox) trace(c Call) {
	switch {
	case c.Deed == Listen:
		b.asked.Add(1)
		if c.Err == nil {
			b.heard.Add(1)
		}
	case c.Deed == Poll && c.Err == nil:
		b.polled.Add(1)
		if b.cut && !b.back {
			b.back = true
			b.plant.back.Add(1)
		}
	case c.Deed == Poll && !b.cut:
		b.cut = true
		b.plant.cut.Add(1)
	}
}

// run runs boxes until the returned function is called.
func (p *plant) run(t *testing.T, boxes int, api, cache string) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{MaxConnsPerHost: 128, MaxIdleConnsPerHost: 128}
	var all sync.WaitGroup
	for i := range boxes {
		b := &plantBox{plant: p, runs: "1.0.0"}
		c := &Client{API: api, EdgeID: fmt.Sprintf("box-%d", i), Device: b, BellVia: cache, HTTP: &http.Client{Transport: transport},
			Fetch: p.fetch, Timing: DefaultTiming.Scaled(minute.Seconds() / 60), Authorization: authorizes, Trace: b.trace}
		all.Go(func() {
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// TestPlantCache_AThousandBoxes_AnHourWithoutTheUplink counts what reaches the bell through the cache. Then all boxes
// download a release, the uplink fails, and meanwhile the release is halted: no box activates it.
func TestPlantCache_AThousandBoxes_AnHourWithoutTheUplink(t *testing.T) {
	expect.Full(t)
	const boxes = 1000
	o := newOrigin(t)
	o.interval = 120
	p := &plant{arrives: make(chan struct{})}
	end := p.run(t, boxes, o.URL, plantCache(t, o.URL))
	defer end()
	uplink := func(up bool) { o.mu.Lock(); defer o.mu.Unlock(); o.down = !up }
	reach := func(what string, counter *atomic.Int64, least int64) {
		t.Helper()
		o.until(t, what, func() bool { return counter.Load() >= least })
	}

	reach("all know the sound", &p.polled, 2*boxes)
	asked, polled, began := p.asked.Load(), p.polled.Load(), time.Now()
	o.mu.Lock()
	before := o.bells
	o.mu.Unlock()
	reach("all ask ten times", &p.asked, asked+10*boxes)
	o.mu.Lock()
	reached := o.bells - before
	o.mu.Unlock()
	// The cache makes one call a minute by its own clock, which has whole seconds and jumps on a busy machine, where boxes
	// also take longer for their calls. So the test checks that less than one call in a hundred comes through, or two a
	// minute, if that is more.
	took := time.Since(began)
	if calls := p.asked.Load() - asked; int64(reached) > max(calls/100, 2*int64(took/minute)) {
		t.Errorf("%d of %d calls reached the bell, in %v", reached, calls, took)
	}
	if got := p.polled.Load() - polled; got > 0 {
		t.Errorf("idle boxes polled %d times", got)
	}
	t.Logf("%d calls of %d boxes in %v: %d reached the bell", p.asked.Load()-asked, boxes, took.Round(time.Second), reached)

	o.changes("1.1.0")
	reach("all download", &p.downloading, boxes)
	uplink(false)
	down := time.Now()
	close(p.arrives)
	reach("all poll again before they activate", &p.cut, boxes)
	o.changes("1.0.0") // the halt
	time.Sleep(time.Until(down.Add(3 * minute)))
	heard := p.heard.Load() // an answer that was on its way, or from the last 60 s
	time.Sleep(time.Until(down.Add(60 * minute)))
	if late := p.heard.Load() - heard; late > 0 {
		t.Errorf("%d boxes were served an old answer", late)
	}
	uplink(true)
	reach("all poll when the uplink is back", &p.back, boxes)
	if n := p.activated.Load(); n > 0 {
		t.Errorf("%d boxes activated a halted release", n)
	}

	o.changes("1.1.0") // resumed
	o.until(t, "all activate it", func() bool { return p.activated.Load() == boxes })
}

// TestPlantCache_FiftyDownloadsAtOnce_AreOneAtTheOrigin, without a token. Ranges come from the cached file, and what the
// origin refuses is asked again.
func TestPlantCache_FiftyDownloadsAtOnce_AreOneAtTheOrigin(t *testing.T) {
	expect.Full(t)
	const there, gone = "/aaaaaaaaaaaaaaaaaaaaaaaaaa/box.swu", "/bbbbbbbbbbbbbbbbbbbbbbbbbb/box.swu"
	whole := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	var mu sync.Mutex
	calls := map[string]int{}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		calls[r.Method+" "+r.RequestURI+r.Header.Get("Authorization")+r.Header.Get("Range")]++
		mu.Unlock()
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		if r.URL.Path != there {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(whole))
	}))
	defer origin.Close()
	cache := plantCache(t, origin.URL)
	get := func(path, ranges string) (int, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cache+path, nil)
		expect.OK(t, err)
		r.Header.Set("Authorization", "TargetToken secret")
		if ranges != "" {
			r.Header.Set("Range", ranges)
		}
		res, err := http.DefaultClient.Do(r)
		expect.OK(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		expect.OK(t, err)
		return res.StatusCode, body
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if status, body := get(there, ""); status != http.StatusOK || !bytes.Equal(body, whole) {
				t.Errorf("a box got %d and %d bytes", status, len(body))
			}
		})
	}
	all.Wait()
	status, some := get(there, "bytes=1000-1999")
	if status != http.StatusPartialContent || !bytes.Equal(some, whole[1000:2000]) {
		t.Errorf("a range is answered with %d and %d bytes", status, len(some))
	}
	for range 2 {
		status, _ = get(gone, "")
		expect.Equal(t, status, http.StatusForbidden, "a file that is not there:")
	}
	status, _ = get("/api/ota/artifacts", "")
	expect.Equal(t, status, http.StatusNotFound, "another path:")
	expect.Equal(t, calls, map[string]int{"GET " + there: 1, "GET " + gone: 2}, "the origin was called")
}
