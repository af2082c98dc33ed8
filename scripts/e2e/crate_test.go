//go:build full

package e2e

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
)

// A shelf serves one file over HTTPS to anyone.
type shelf struct {
	*httptest.Server
	content []byte
	slow    bool
	// tokens counts the requests with a token, and sent the bytes.
	tokens, sent atomic.Int64
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{content: bytes.Repeat([]byte("image"), 100_000)}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		s.tokens.Add(1)
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(s.content)))
	for part := range slices.Chunk(s.content, 16<<10) {
		n, err := w.Write(part)
		s.sent.Add(int64(n))
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		if s.slow {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// publication is that of the file, with the digests of other bytes if it is broken.
func (s *shelf) publication(version string, broken bool) string {
	content := s.content
	if broken {
		content = []byte("other bytes")
	}
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"%s/%s.img","sha256":"%x","sizeBytes":%d,"sha1":"%x","md5":"%x"}`,
		version, s.URL, version, sha256.Sum256(content), len(s.content), sha1.Sum(content), md5.Sum(content))
}

// crate builds the program that uses the Rust crate hawkbit, once for a user's machine. It is empty on a machine without
// cargo. CI must have it.
func crate(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("cargo"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Logf("left out: %v; rustup or Debian's cargo-web and rustc-web bring it", err)
		return ""
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(cache, "wavegate", "hawkbit")
	in(t, "testdata/hawkbit", "cargo", "build", "--quiet", "--locked", "--target-dir", target)
	return filepath.Join(target, "debug", "box")
}

// A crateBox is a box that uses the crate.
type crateBox struct {
	program, id, token, place string
	w                         *harness.World
}

// start starts the program on the box, which runs a version, and returns what ends it.
func (b crateBox) start(t *testing.T, runs string) (stop func()) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(b.place, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(b.program, b.w.Target.URL+"/api/ddi/", "acme", b.id, b.token, runs, b.place)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("the crate says:\n%s", b.said())
		}
	})
	return stop
}

func (b crateBox) said() string {
	said, _ := os.ReadFile(filepath.Join(b.place, "log"))
	return string(said)
}

// TestCrate_Hawkbit_Follows: a good image, one with another checksum, one that does not boot, a halt during the download, and
// a token that is taken back. The crate sends its token to the artifact's host each time, and cannot be told not to.
func TestCrate_Hawkbit_Follows(t *testing.T) {
	program := crate(t)
	if program == "" {
		return
	}
	id, _ := boxesOf("1.1.0", 1)
	begin := func(t *testing.T) (*harness.World, *harness.Caller, *shelf, crateBox) {
		w := harness.New(t, func(o *service.Options) {
			o.Environment = func(string) []string {
				return []string{setting.PollIntervalSeconds.Assign(1), setting.IdlePollIntervalSeconds.Assign(1), setting.ChannelCacheSeconds.Assign(0), setting.GuardIntervalSeconds.Assign(1)}
			}
		})
		owner := w.Owner(t)
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		return w, owner, newShelf(t), crateBox{program, id, enrol(t, owner, id), t.TempDir(), w}
	}
	told := func(t *testing.T, owner *harness.Caller, publication string) string {
		eventually(t, "the box says what it runs", func() bool { return why(t, owner, id).Running == "1.0.0" })
		owner.Put(t, channelPath("gateway-x", "canary"), publication).Is(t, http.StatusCreated)
		body := strings.TrimSuffix(plan("gateway-x", "stable", "1.1.0"), "}") + `,"policy":` + brief + `}`
		return owner.Post(t, rollouts, body).Is(t, http.StatusCreated).Header.Get("Location")
	}
	t.Run("good", func(t *testing.T) {
		_, owner, s, b := begin(t)
		stop := b.start(t, "1.0.0")
		told(t, owner, s.publication("1.1.0", false))
		eventually(t, "the image is written", func() bool { return why(t, owner, id).Written == "1.1.0" })
		stop()
		b.start(t, "1.1.0")
		eventually(t, "the box is installed", func() bool { return at(why(t, owner, id), "1.1.0", report.Installed) })
		if s.tokens.Load() == 0 {
			t.Error("no token came to the artifact's host; README.md says that it does")
		}
	})
	t.Run("bad checksum", func(t *testing.T) {
		_, owner, s, b := begin(t)
		b.start(t, "1.0.0")
		told(t, owner, s.publication("1.1.0", true))
		eventually(t, "the attempt has failed", func() bool { return at(why(t, owner, id), "1.1.0", report.Failed) })
		if r := why(t, owner, id).Report; r.Code != report.CodeChecksum {
			t.Errorf("the report is %+v", r)
		}
	})
	t.Run("does not boot", func(t *testing.T) {
		_, owner, s, b := begin(t)
		stop := b.start(t, "1.0.0")
		told(t, owner, s.publication("1.1.0", false))
		eventually(t, "the image is written", func() bool { return why(t, owner, id).Written == "1.1.0" })
		stop()
		b.start(t, "1.0.0")
		eventually(t, "the box has fallen back", func() bool {
			known := why(t, owner, id)
			return at(known, "1.1.0", report.Reverted) && known.Report.Code == report.CodeBoot
		})
	})
	t.Run("halted during the download", func(t *testing.T) {
		_, owner, s, b := begin(t)
		s.slow = true
		b.start(t, "1.0.0")
		rollout := told(t, owner, s.publication("1.1.0", false))
		eventually(t, "the image is downloaded", func() bool { return s.sent.Load() > 0 })
		owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
		eventually(t, "the crate has finished, since it does not poll meanwhile", func() bool { return strings.Contains(b.said(), "written: ") })
		eventually(t, "that is known", func() bool {
			r := why(t, owner, id).Report
			return r != nil && (r.State == report.Working || r.State == report.Reverted)
		})
	})
	t.Run("token taken back", func(t *testing.T) {
		_, owner, _, b := begin(t)
		b.start(t, "1.0.0")
		eventually(t, "the box says what it runs", func() bool { return why(t, owner, id).Running == "1.0.0" })
		owner.Do(t, http.MethodDelete, "/api/edges/"+id+"/token", "").Is(t, http.StatusNoContent)
		eventually(t, "its polls are refused", func() bool { return strings.Contains(b.said(), "no poll: HTTP status client error (401") })
	})
}
