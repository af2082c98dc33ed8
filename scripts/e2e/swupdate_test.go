package e2e

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// A depot makes images for SWUpdate and serves them over HTTPS.
type depot struct {
	dir    string // with the signer's key and certificate, and the server's certificate
	server *httptest.Server
	// padding is the number of bytes in an image's file besides its version.
	padding int
	// slow sends images in small parts with pauses.
	slow bool
	// hold, if set, keeps all of an image but its first byte until it is closed.
	hold chan struct{}
	// within is a command in which SWUpdate runs; empty: in none.
	within []string
	// sent, begun and broken count the bytes of slow images, the downloads of them, and those that a box broke off.
	sent, begun, broken atomic.Int64
}

func newDepot(t *testing.T) *depot {
	t.Helper()
	for _, program := range []string{"swupdate", "cpio", "openssl"} {
		expect.Program(t, "Debian's package of the same name brings it", program)
	}
	d := &depot{dir: t.TempDir()}
	in(t, d.dir, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
		"-subj", "/CN=images", "-addext", "extendedKeyUsage=emailProtection")
	d.server = httptest.NewUnstartedServer(http.HandlerFunc(d.serve))
	// SWUpdate closes the connection when it has read the archive, and fails if the padding comes after that. So the
	// image is sent in records as large as possible.
	d.server.TLS = &tls.Config{DynamicRecordSizingDisabled: true, MinVersion: tls.VersionTLS12}
	d.server.StartTLS()
	t.Cleanup(d.server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.server.Certificate().Raw})
	d.write(t, "ca.pem", ca)
	return d
}

// withDepot runs a test on a service with boxes that run SWUpdate.
func withDepot(t *testing.T, test func(d *depot, w *harness.World, owner *harness.Caller)) {
	t.Helper()
	d := newDepot(t)
	w, owner := begin(t, quick)
	test(d, w, owner)
}

func (d *depot) write(t *testing.T, name string, content []byte) {
	t.Helper()
	expect.OK(t, os.WriteFile(filepath.Join(d.dir, name), content, 0o600))
}

// serve serves an image. A token for the service must never come here.
func (d *depot) serve(w http.ResponseWriter, r *http.Request) {
	image, err := os.ReadFile(filepath.Join(d.dir, filepath.Base(r.URL.Path)))
	if err != nil || r.Header.Get("Authorization") != "" {
		http.Error(w, "no such image, or a token", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(image)))
	if r.Method == http.MethodHead { // SWUpdate first asks for the size
		return
	}
	if d.hold != nil {
		_, _ = w.Write(image[:1])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-d.hold:
		case <-r.Context().Done():
			return
		}
		image = image[1:]
	}
	if !d.slow {
		_, _ = w.Write(image)
		return
	}
	d.begun.Add(1)
	for part := range slices.Chunk(image, 16<<10) {
		if _, err := w.Write(part); err != nil || http.NewResponseController(w).Flush() != nil {
			d.broken.Add(1)
			return
		}
		d.sent.Add(int64(len(part)))
		time.Sleep(50 * time.Millisecond)
	}
}

// image makes an image that installs a file with the version into a folder of the box, and returns its publication.
// A broken image has the signature of other bytes.
func (d *depot) image(t *testing.T, version string, broken bool) string {
	t.Helper()
	content := append([]byte(version+"\n"), make([]byte, d.padding)...)
	d.write(t, "hello.txt", content)
	sum := sha256.Sum256(content)
	description := fmt.Sprintf("software = {\n version = %q;\n hardware-compatibility: [ \"1.0\" ];\n files: ( { filename = \"hello.txt\"; path = \"%s\"; sha256 = \"%x\"; } );\n}\n",
		version, filepath.Join(d.dir, "installed-"+version), sum)
	d.write(t, "sw-description", []byte(description))
	in(t, d.dir, "openssl", "cms", "-sign", "-in", "sw-description", "-out", "sw-description.sig", "-signer", "cert.pem", "-inkey", "key.pem",
		"-outform", "DER", "-nosmimecap", "-binary")
	if broken {
		d.write(t, "sw-description", []byte(strings.Replace(description, "1.0\" ]", "1.0\", \"2.0\" ]", 1)))
	}
	archive := exec.CommandContext(t.Context(), "cpio", "--quiet", "-o", "-H", "crc")
	archive.Dir, archive.Stdin = d.dir, strings.NewReader("sw-description\nsw-description.sig\nhello.txt\n")
	swu := expect.Value(archive.Output())(t)
	d.write(t, version+".swu", swu)
	sha256s, sha1s := sha256.Sum256(swu), sha1.Sum(swu)
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"%s/%s.swu","sha256":%q,"sizeBytes":%d,"sha1":%q}`,
		version, d.server.URL, version, hex.EncodeToString(sha256s[:]), len(swu), hex.EncodeToString(sha1s[:]))
}

// installed reports whether the file of a version is there.
func (d *depot) installed(version string) bool {
	_, err := os.Stat(filepath.Join(d.dir, "installed-"+version))
	return err == nil
}

// A daemon is SWUpdate on one box, under a supervisor like systemd's Restart=always. It needs one: SIGPIPE ends
// SWUpdate 2022.12 if one of its own threads asks it for its status and gets no answer within 100 ms.
type daemon struct {
	log     string
	command func() *exec.Cmd
	stopped chan struct{} // closed: the box has no power
	over    chan struct{} // closed: SWUpdate is gone, and is not started again

	mu    sync.Mutex
	runs  *exec.Cmd
	ended []string // how SWUpdate ended on its own
}

// swupdate starts SWUpdate for a box that runs a version.
func (d *depot) swupdate(t *testing.T, w *harness.World, id, token, runs string, arguments ...string) *daemon {
	t.Helper()
	home := t.TempDir()
	config := fmt.Sprintf("globals : { verbose = true; };\nsuricatta : { cafile = %q; };\nidentify : ( { name = \"installed\"; value = %q; } );\n", filepath.Join(d.dir, "ca.pem"), runs)
	expect.OK(t, os.WriteFile(filepath.Join(home, "swupdate.cfg"), []byte(config), 0o600))
	suricatta := append([]string{"-t", "acme", "-u", server(w) + "/api/ddi", "-i", id, "-k", token, "-p", "1",
		"--disable-token-for-dwl"}, arguments...)
	out := expect.Value(os.Create(filepath.Join(home, "log")))(t)
	b := &daemon{log: out.Name(), stopped: make(chan struct{}), over: make(chan struct{})}
	b.command = func() *exec.Cmd {
		program := append(slices.Clone(d.within), "swupdate", "-v", "-f", filepath.Join(home, "swupdate.cfg"), "-k", filepath.Join(d.dir, "cert.pem"), "-H", "box:1.0",
			"-u", strings.Join(suricatta, " "))
		c := exec.Command(program[0], program[1:]...)
		c.Env = append(os.Environ(), "TMPDIR="+home)
		c.Dir, c.Stdout, c.Stderr = home, out, out
		return c
	}
	expect.OK(t, b.start())
	go b.supervise()
	t.Cleanup(func() {
		b.stop()
		_ = out.Close()
		if len(b.ended) > 0 {
			t.Logf("SWUpdate on %s ended on its own: %s", id, strings.Join(b.ended, ", "))
		}
		if t.Failed() {
			log, _ := os.ReadFile(b.log)
			t.Logf("SWUpdate on %s:\n%s\nthe service's last words to its polls:\n%s", id, log[max(0, len(log)-8000):],
				last(w.Logs("get-ddi-base"), 10))
		}
	})
	return b
}

// start starts SWUpdate, unless the box has no power.
func (b *daemon) start() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.stopped:
		return os.ErrProcessDone
	default:
	}
	b.runs = b.command()
	return b.runs.Start()
}

// supervise starts SWUpdate again, a second after it has ended on its own.
func (b *daemon) supervise() {
	defer close(b.over)
	for {
		err := b.runs.Wait()
		select {
		case <-b.stopped:
			return
		case <-time.After(time.Second):
		}
		b.ended = append(b.ended, fmt.Sprint(err))
		if b.start() != nil {
			return
		}
	}
}

// stop ends SWUpdate like a loss of power.
func (b *daemon) stop() {
	b.mu.Lock()
	select {
	case <-b.stopped:
	default:
		close(b.stopped)
		_ = b.runs.Process.Kill()
	}
	b.mu.Unlock()
	<-b.over
}

// last returns the last lines of many.
func last(lines []string, n int) string { return strings.Join(lines[max(0, len(lines)-n):], "\n") }

// says reports whether SWUpdate has logged a text.
func (b *daemon) says(text string) bool {
	log, _ := os.ReadFile(b.log)
	return bytes.Contains(log, []byte(text))
}

// installs waits until SWUpdate has installed an image.
func (b *daemon) installs(t *testing.T) {
	t.Helper()
	expect.Until(t, "SWUpdate has installed the image", func() bool { return b.says("Update successful") })
}

// givesUp waits until a box has abandoned its update.
func givesUp(t *testing.T, owner *harness.Caller, id string) {
	t.Helper()
	expect.Until(t, "the box has given up", func() bool { r := why(t, owner, id).Report; return r != nil && r.Cancelled })
}

func TestSWUpdate_GoodImage_IsInstalledOnceTheBoxHasRebooted(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) { installsOnce(t, d, w, owner) })
}

func installsOnce(t *testing.T, d *depot, w *harness.World, owner *harness.Caller) {
	owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	token := enrol(t, owner, "box-1")
	first := d.swupdate(t, w, "box-1", token, "1.0.0")
	runs(t, owner, "box-1", "1.0.0")
	owner.Put(t, channel, d.image(t, "1.1.0", false)).Is(t, http.StatusNoContent)
	expect.Until(t, "SWUpdate has installed the image", func() bool { return first.says("Update successful") && d.installed("1.1.0") })
	if known := why(t, owner, "box-1"); !at(known, "1.1.0", report.Working) || known.Running != "1.0.0" {
		t.Errorf("before the reboot it is known as %+v, its report as %+v", known, known.Report)
	}
	first.stop()
	d.swupdate(t, w, "box-1", token, "1.1.0", "-c", "2")
	reportsAs(t, owner, "box-1", "1.1.0", report.Installed)
	expect.Equal(t, why(t, owner, "box-1").Running, "1.1.0", "known as")
}

func TestSWUpdate_BrokenImage_IsAFailedAttempt(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, d.image(t, "1.1.0", true)).Is(t, http.StatusCreated)
		d.hold = make(chan struct{})
		b := d.swupdate(t, w, "box-1", enrol(t, owner, "box-1"), "1.0.0")
		// SWUpdate 2022.12 reports a success if its installer has not begun when the download ends. That happens to small
		// images on a busy machine.
		expect.Until(t, "SWUpdate's installer has begun", func() bool { return b.says("Software Update started") })
		close(d.hold)
		reportsAs(t, owner, "box-1", "1.1.0", report.Failed)
		known := why(t, owner, "box-1")
		r := known.Report
		if r.Attempts != 1 || !strings.HasSuffix(r.Detail, "No suitable .swu image found") || r.RetryAt == nil ||
			known.Running != "1.0.0" || d.installed("1.1.0") {
			t.Errorf("known as %+v, its report as %+v", known, r)
		}
		// SWUpdate reports the last lines of its log, which do not always include the cause.
		want := report.CodeOther
		if strings.Contains(r.Detail, "Signature verification failed") {
			want = report.CodeSignature
		}
		expect.Equal(t, r.Code, want, "the code of %q is", r.Detail)
		b.stop()
	})
}

// TestSWUpdate_HaltBeforeTheReboot_IsCancelled: SWUpdate has not closed the action, and abandons it.
func TestSWUpdate_HaltBeforeTheReboot_IsCancelled(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		owner.Put(t, channelPath("gateway-x", "canary"), d.image(t, "1.1.0", false)).Is(t, http.StatusCreated)
		id, _ := boxesOf("1.1.0", 1)
		b := d.swupdate(t, w, id, enrol(t, owner, id), "1.0.0")
		runs(t, owner, id, "1.0.0")
		rollout := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")).Made(t)
		b.installs(t)
		owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
		givesUp(t, owner, id)
		if known := why(t, owner, id); known.Report.State != report.Working || known.Running != "1.0.0" || known.Version != "1.0.0" {
			t.Errorf("known as %+v, its report as %+v", known, known.Report)
		}
	})
}

// TestSWUpdate_HaltDuringTheDownload_StopsIt: SWUpdate polls while it downloads, stops the download and abandons the
// action. Nothing is installed, and the box has not failed.
func TestSWUpdate_HaltDuringTheDownload_StopsIt(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		d.padding, d.slow = 32<<20, true // this takes 100 seconds
		owner.Put(t, channelPath("gateway-x", "canary"), d.image(t, "1.1.0", false)).Is(t, http.StatusCreated)
		id, _ := boxesOf("1.1.0", 1)
		b := d.swupdate(t, w, id, enrol(t, owner, id), "1.0.0")
		runs(t, owner, id, "1.0.0")
		rollout := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")).Made(t)
		expect.Until(t, "SWUpdate downloads the image", func() bool { return d.sent.Load() > 1<<20 })
		owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
		givesUp(t, owner, id)
		// SWUpdate may have been started again and have begun again.
		expect.Until(t, "the download is broken off", func() bool { return d.broken.Load() > 0 && d.broken.Load() == d.begun.Load() })
		if known := why(t, owner, id); known.Report.State == report.Failed || known.Version != "1.0.0" || b.says("Update successful") {
			t.Errorf("known as %+v, its report as %+v", known, known.Report)
		}
		t.Logf("%d bytes were sent", d.sent.Load())
	})
}

// TestSWUpdate_Rollout_ReachesTheBoxesOfEachStage runs a box of each stage.
func TestSWUpdate_Rollout_ReachesTheBoxesOfEachStage(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		owner.Put(t, channelPath("gateway-x", "canary"), d.image(t, "1.1.0", false)).Is(t, http.StatusCreated)
		ids, tokens, daemons := map[int]string{}, map[int]string{}, map[int]*daemon{}
		for _, stage := range cohort.Stages {
			for i := 0; ids[stage] == ""; i++ {
				if id := fmt.Sprintf("box-%d", i); cohort.FirstStage("gateway-x", "1.1.0", id) == stage {
					ids[stage], tokens[stage] = id, enrol(t, owner, id)
				}
			}
			daemons[stage] = d.swupdate(t, w, ids[stage], tokens[stage], "1.0.0")
		}
		t.Cleanup(func() {
			for _, stage := range cohort.Stages {
				if t.Failed() {
					t.Logf("%s of stage %d is known as %s", ids[stage], stage, owner.Get(t, "/api/edges/"+ids[stage]+"/update/why").Body)
				}
			}
		})
		for _, stage := range cohort.Stages {
			runs(t, owner, ids[stage], "1.0.0")
		}
		rollout := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")).Made(t)
		for n, stage := range cohort.Stages {
			if n > 0 {
				owner.Patch(t, rollout, fmt.Sprintf(`{"staged_percent":%d}`, stage)).Is(t, http.StatusNoContent)
			}
			expect.Until(t, fmt.Sprintf("the box of stage %d has the image", stage), func() bool { return daemons[stage].says("Update successful") })
			for _, later := range cohort.Stages[n+1:] {
				if known := why(t, owner, ids[later]); known.Report != nil {
					t.Errorf("at %d percent the box of stage %d was offered %+v", stage, later, known.Report)
				}
			}
			daemons[stage].stop()
			d.swupdate(t, w, ids[stage], tokens[stage], "1.1.0", "-c", "2")
			expect.Until(t, fmt.Sprintf("the box of stage %d is installed", stage),
				func() bool { return at(why(t, owner, ids[stage]), "1.1.0", report.Installed) })
			var p census.Progress
			owner.Get(t, rollout+"/progress").Is(t, http.StatusOK).Into(t, &p)
			t.Logf("at %d percent: %+v", stage, p.Stages)
		}
	})
}
