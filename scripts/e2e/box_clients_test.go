package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	boxclient "wavegate/scripts/box"
	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/gateway"
	"wavegate/scripts/local/service"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// A listeningBox is a box on the channel stable that runs 1.0.0 and one of the reference clients. Its minutes take a
// second.
type listeningBox struct {
	*harness.World
	id    string
	dir   string       // with the files "version", which it runs, and "activations"
	polls atomic.Int64 // counted by the service
	bells atomic.Int64
	deaf  atomic.Bool // its calls of the bell do not arrive
	via   *httptest.Server

	images  *httptest.Server
	mu      sync.Mutex
	arrives map[string]chan struct{} // artifacts that are sent when the channel is closed
	asked   map[string]int           // downloads that began
}

// clients start a client on a box.
var clients = map[string]func(*testing.T, *listeningBox){"go": goClient, "shell": shellClient}

// eachClient runs a test with each client, each on its own service.
func eachClient(t *testing.T, heartbeat int, test func(*testing.T, *listeningBox)) {
	for name, begin := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newListeningBox(t, heartbeat)
			begin(t, b)
			test(t, b)
		})
	}
}

func newListeningBox(t *testing.T, heartbeat int) *listeningBox {
	t.Helper()
	b := &listeningBox{dir: t.TempDir(), arrives: map[string]chan struct{}{}, asked: map[string]int{}}
	b.World = harness.New(t, harness.WithBell(), withSettings("CHANNEL_CACHE_SECONDS=0", fmt.Sprintf("HEARTBEAT_SECONDS=%d", heartbeat)),
		func(o *service.Options) {
			o.Access = func(a gateway.Access) {
				if a.Operation == "get-manifest" {
					b.polls.Add(1)
				}
			}
		})
	for i := 0; b.id == ""; i++ {
		if id := fmt.Sprintf("box-%d", i); cohort.FirstStage("gateway-x", "1.1.0", id) == 10 && cohort.FirstStage("gateway-x", "1.2.0", id) == 1 {
			b.id = id
		}
	}
	b.images = httptest.NewTLSServer(http.HandlerFunc(b.image))
	t.Cleanup(b.images.Close)
	at := expect.Value(url.Parse(b.BellURL))(t)
	proxy := httputil.NewSingleHostReverseProxy(at)
	b.via = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.bells.Add(1)
		if b.deaf.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(b.via.Close)
	b.write(t, "version", "1.0.0")
	b.write(t, "activations", "")
	owner := b.Owner(t)
	owner.Put(t, channel, b.publication("1.0.0")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/"+b.id, box).Is(t, http.StatusCreated)
	return b
}

func imageOf(version string) []byte {
	return bytes.Repeat([]byte("image of "+version+"\n"), 10_000)
}

func (b *listeningBox) publication(version string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"%s/%s","sha256":"%x"}`, version, b.images.URL, version,
		sha256.Sum256(imageOf(version)))
}

func (b *listeningBox) image(w http.ResponseWriter, r *http.Request) {
	version := strings.TrimPrefix(r.URL.Path, "/")
	b.mu.Lock()
	b.asked[version]++
	wait := b.arrives[version]
	b.mu.Unlock()
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "a token came here", http.StatusForbidden)
		return
	}
	if wait != nil {
		<-wait
	}
	http.ServeContent(w, r, "image", time.Time{}, bytes.NewReader(imageOf(version)))
}

func (b *listeningBox) write(t *testing.T, name, text string) {
	t.Helper()
	expect.OK(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
}

func (b *listeningBox) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(b.dir, name)) // a missing file is empty
	return strings.TrimSpace(string(text))
}

// until waits for a condition.
func (b *listeningBox) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s; it runs %s, activated %q, polled %d times and called the bell %d times",
				what, b.read("version"), b.read("activations"), b.polls.Load(), b.bells.Load())
		}
	}
}

// runs waits until the service knows that the box runs a version.
func (b *listeningBox) runs(t *testing.T, version string) {
	t.Helper()
	owner := b.Owner(t)
	b.until(t, "it reports that it runs "+version, func() bool {
		return owner.Get(t, "/api/edges/"+b.id+"/update/why").Is(t, http.StatusOK).Object(t)["running"] == version
	})
}

// listensFor waits until the box has called the bell a few times more.
func (b *listeningBox) listensFor(t *testing.T, times int64) {
	t.Helper()
	began := b.bells.Load()
	b.until(t, "it calls the bell", func() bool { return b.bells.Load() >= began+times })
}

// TestBoxClients_ARollout_AHalt_TheWayBack_AndALostRing.
func TestBoxClients_ARollout_AHalt_TheWayBack_AndALostRing(t *testing.T) {
	expect.Full(t)
	const heartbeat = 2400 // 40 s here
	eachClient(t, heartbeat, func(t *testing.T, b *listeningBox) {
		owner := b.Owner(t)
		b.runs(t, "1.0.0")
		b.listensFor(t, 3)
		b.until(t, "it has polled after the first sound", func() bool { return b.polls.Load() >= 2 })
		polls := b.polls.Load()
		b.listensFor(t, 8)
		n := b.polls.Load() - polls
		expect.That(t, n == 0, "nothing changed, and it polled %d times", n)

		owner.Put(t, "/api/ota/release-channels/gateway-x/canary", b.publication("1.1.0")).Is(t, http.StatusCreated)
		rollout := owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`).Made(t)
		b.until(t, "it polls when the rollout starts", func() bool { return b.polls.Load() > polls })
		b.listensFor(t, 3)
		if b.read("activations") != "" {
			t.Fatalf("a box of the second stage activated %s", b.read("activations"))
		}
		owner.Patch(t, rollout, `{"staged_percent":10}`).Is(t, http.StatusNoContent)
		b.runs(t, "1.1.0")
		var page struct{ Items []struct{ EdgeID string } }
		b.until(t, "it counts as installed", func() bool {
			owner.Get(t, rollout+"/edges?state=installed").Is(t, http.StatusOK).Into(t, &page)
			return len(page.Items) == 1 && page.Items[0].EdgeID == b.id
		})

		gate := make(chan struct{})
		b.mu.Lock()
		b.arrives["1.2.0"] = gate
		b.mu.Unlock()
		owner.Put(t, "/api/ota/release-channels/gateway-x/canary", b.publication("1.2.0")).Is(t, http.StatusNoContent)
		owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
		rollout = owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.2.0"}`).Made(t)
		b.until(t, "it downloads 1.2.0", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.asked["1.2.0"] > 0 })
		polls = b.polls.Load()
		owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
		close(gate)
		b.until(t, "it polls after the download or the halt", func() bool { return b.polls.Load() > polls })
		b.listensFor(t, 5)
		got := b.read("activations")
		expect.Must(t, got == "1.1.0", "after the halt it activated %q", got)

		owner.Put(t, channel, b.publication("1.0.0")).Is(t, http.StatusNoContent)
		b.runs(t, "1.0.0")

		lost := b.Front.Intercept(func(c *storefront.Call) storefront.Effect {
			if !c.Writes(dynamolocal.TableName(dynamo.Bells)) {
				return storefront.Effect{}
			}
			return storefront.Effect{DropRequest: true}
		})
		b.listensFor(t, 3)
		owner.Put(t, "/api/edges/"+b.id, strings.Replace(box, "stable", "canary", 1)).Is(t, http.StatusNoContent)
		lost()
		b.listensFor(t, 4)
		expect.Equal(t, b.read("version"), "1.0.0", "nothing rang, and it runs")
		b.runs(t, "1.2.0") // the channel's version, at its heartbeat

		owner.Put(t, "/api/edges/"+b.id, strings.TrimSuffix(box, "}")+`,"allowDowngrade":true}`).Is(t, http.StatusNoContent)
		b.runs(t, "1.0.0") // only this box is called
		expect.Equal(t, strings.Fields(b.read("activations")), []string{"1.1.0", "1.0.0", "1.2.0", "1.0.0"}, "it activated")
	})
}

// TestBoxClients_TheBellIsDown_PollEachHour_AndReturnToIt. The heartbeat is six minutes here.
func TestBoxClients_TheBellIsDown_PollEachHour_AndReturnToIt(t *testing.T) {
	expect.Full(t)
	eachClient(t, 21_600, func(t *testing.T, b *listeningBox) {
		owner := b.Owner(t)
		b.runs(t, "1.0.0")
		b.listensFor(t, 4)
		b.deaf.Store(true)
		owner.Put(t, channel, b.publication("1.1.0")).Is(t, http.StatusNoContent)
		b.runs(t, "1.1.0")
		b.deaf.Store(false)
		b.listensFor(t, 5)
		owner.Put(t, channel, b.publication("1.3.0")).Is(t, http.StatusNoContent)
		polls := b.polls.Load()
		b.runs(t, "1.3.0")
		b.listensFor(t, 5)
		n := b.polls.Load() - polls
		expect.That(t, n <= 6, "it hears the bell again, and polled %d times", n)
	})
}

// Installed and Activate implement the client's device.
func (b *listeningBox) Installed(context.Context) (string, error) { return b.read("version"), nil }

func (b *listeningBox) Activate(_ context.Context, m boxclient.Manifest, file string) error {
	got, err := os.ReadFile(file)
	if err == nil && !bytes.Equal(got, imageOf(m.Version)) {
		err = fmt.Errorf("%s is not the image of %s", file, m.Version)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(b.dir, "activations"), []byte(b.read("activations")+"\n"+m.Version), 0o600)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "version"), []byte(m.Version), 0o600)
}

func goClient(t *testing.T, b *listeningBox) {
	c := boxclient.Client{
		API: b.Target.URL, EdgeID: b.id, Device: b, Folder: t.TempDir(), BellVia: b.via.URL, HTTP: b.images.Client(),
		Timing:        boxclient.DefaultTiming.Scaled(1.0 / 60),
		Authorization: func(context.Context) (string, error) { return b.Box(t, b.id).Bearer, nil },
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		err := <-ended
		expect.That(t, err == nil, "%v", err)
	})
}

func shellClient(t *testing.T, b *listeningBox) {
	t.Helper()
	hooks := t.TempDir()
	for name, text := range map[string]string{
		"authorization": "echo '" + b.Box(t, b.id).Bearer + "'",
		"installed":     "cat '" + b.dir + "/version'",
		"activate":      "grep -q \"^image of $1$\" \"$2\" && echo $1 >>'" + b.dir + "/activations' && printf %s $1 >'" + b.dir + "/version'",
	} {
		expect.OK(t, os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	ca := filepath.Join(hooks, "ca.pem")
	expect.OK(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.images.Certificate().Raw}), 0o600))
	c := exec.Command(filepath.Join("..", "box", "client.sh"))
	c.Env = append(os.Environ(), "API="+b.Target.URL, "BOX="+b.id, "FOLDER="+t.TempDir(), "HOOKS="+hooks,
		"BELL_VIA="+b.via.URL, "MINUTE=1", "CURL_CA_BUNDLE="+ca)
	c.Stderr = t.Output()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	expect.OK(t, c.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // with its children
		_ = c.Wait()                                      // it was killed
	})
}
