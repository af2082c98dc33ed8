package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// A library is a DDI client library, in a program that uses it according to its documentation.
type library struct {
	program []string
	server  string // the configured path after the service's URL
	refused string // what it prints when a poll is refused
}

func TestClient_RustCrateHawkbit_Follows(t *testing.T) {
	expect.Full(t)
	follow(t, library{crate(t), "/api/ddi/", "no poll: HTTP status client error (401"})
}

func TestClient_NpmHawkbitDDI_Follows(t *testing.T) {
	expect.Full(t)
	follow(t, library{npmPackage(t), "", "failed: invalid statusCode (401) value"})
}

func TestClient_PyPIRaucHawkbit_Follows(t *testing.T) {
	expect.Full(t)
	follow(t, library{pypiPackage(t), "/api/ddi", "temporary error: 401"})
}

// A clientBox is a box with a program that updates it.
type clientBox struct {
	library
	id, token, place string
	w                *harness.World
	shelf            *shelf
}

// start starts the program on a box that runs a version, and returns the function that ends it.
func (b clientBox) start(t *testing.T, runs string) (stop func()) {
	t.Helper()
	log := expect.Value(os.OpenFile(filepath.Join(b.place, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
	c := exec.Command(b.program[0], append(b.program[1:], server(b.w)+b.server, "acme", b.id, b.token, runs, b.place)...)
	certificate := b.shelf.certificate(t)
	c.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+certificate, "SSL_CERT_FILE="+certificate)
	c.Stdout, c.Stderr = log, log
	expect.OK(t, c.Start())
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
			t.Logf("the client says:\n%s", b.said())
		}
	})
	return stop
}

func (b clientBox) said() string {
	said, _ := os.ReadFile(filepath.Join(b.place, "log"))
	return string(said)
}

// told makes the box report its version, and starts a rollout of 1.1.0 that reaches it.
func (b clientBox) told(t *testing.T, owner *harness.Caller, broken bool) (rollout string) {
	t.Helper()
	runs(t, owner, b.id, "1.0.0")
	owner.Put(t, channelPath("gateway-x", "canary"), b.shelf.publication("1.1.0", broken)).Is(t, http.StatusCreated)
	return owner.Post(t, rollouts, judged(brief)).Made(t)
}

// installs takes a box through an update, from the first poll to the reboot.
func (b clientBox) installs(t *testing.T, owner *harness.Caller) {
	t.Helper()
	stop := b.start(t, "1.0.0")
	b.told(t, owner, false)
	expect.Until(t, "the image is written", func() bool { return why(t, owner, b.id).Written == "1.1.0" })
	stop()
	b.start(t, "1.1.0")
	reportsAs(t, owner, b.id, "1.1.0", report.Installed)
	expect.That(t, b.shelf.tokens.Load() != 0, "no token came to the artifact's host; README.md says that it does")
}

// follow runs a library with a good image, one with another checksum, one that does not boot, a halt during the
// download, and a revoked token. None of the libraries polls while it downloads, and each sends its token to the
// artifact's host.
func follow(t *testing.T, l library) {
	t.Parallel()
	begin := func(t *testing.T, more ...func(*service.Options)) (*harness.Caller, clientBox) {
		w, owner := published(t, append(more, swift, func(o *service.Options) { o.DDIRoot = l.server == "" })...)
		id, _ := boxesOf("1.1.0", 1)
		return owner, clientBox{l, id, enrol(t, owner, id), t.TempDir(), w, newShelf(t)}
	}
	t.Run("good", func(t *testing.T) {
		owner, b := begin(t)
		b.installs(t, owner)
	})
	t.Run("good, at the door", func(t *testing.T) {
		owner, b := begin(t, harness.WithDoor())
		b.installs(t, owner)
	})
	t.Run("good, with the token of another server", func(t *testing.T) {
		owner, b := begin(t, withForeignTokens)
		owner.Post(t, "/api/edges", strings.Replace(importedWith(hawkBits, `,"imported":{}`), "box-1", b.id, 1)).Is(t, http.StatusOK)
		b.token = hawkBits
		b.installs(t, owner)
	})
	t.Run("an artifact that the service keeps", func(t *testing.T) {
		owner, b := begin(t)
		b.start(t, "1.0.0")
		runs(t, owner, b.id, "1.0.0")
		image := file(b.shelf.content)
		keep(t, owner, image)
		owner.Put(t, channelPath("gateway-x", "canary"), image.publish("1.1.0")).Is(t, http.StatusCreated)
		owner.Post(t, rollouts, judged(brief)).Made(t)
		expect.Until(t, "the image is written", func() bool { return why(t, owner, b.id).Written == "1.1.0" })
	})
	t.Run("its plant is closed, and opens", func(t *testing.T) {
		owner, b := begin(t)
		owner.Put(t, plantPath, updating(farAway())).Is(t, http.StatusCreated)
		owner.Put(t, "/api/edges/"+b.id, strings.Replace(box, "}", `,"factoryId":"munich-1"}`, 1)).Is(t, http.StatusNoContent)
		b.start(t, "1.0.0")
		b.told(t, owner, false)
		expect.Until(t, "the box waits", func() bool { return why(t, owner, b.id).Source == decide.FromWaits })
		waits := time.Now()
		expect.Until(t, "it polls on", func() bool {
			seen := why(t, owner, b.id).LastSeenAt
			return seen != nil && seen.After(waits.Add(2*time.Second))
		})
		if b.shelf.sent.Load() > 0 || strings.Contains(b.said(), "written: ") {
			t.Errorf("it has begun to download: %s", b.said())
		}
		owner.Put(t, plantPath, updating(`{"windows":[]}`)).Is(t, http.StatusNoContent)
		expect.Until(t, "the image is written", func() bool { return why(t, owner, b.id).Written == "1.1.0" })
	})
	t.Run("bad checksum", func(t *testing.T) {
		owner, b := begin(t)
		b.start(t, "1.0.0")
		b.told(t, owner, true)
		reportsAs(t, owner, b.id, "1.1.0", report.Failed)
		r := why(t, owner, b.id).Report
		expect.That(t, r.Code == report.CodeChecksum, "the report is %+v", r)
	})
	t.Run("does not boot", func(t *testing.T) {
		owner, b := begin(t)
		stop := b.start(t, "1.0.0")
		b.told(t, owner, false)
		expect.Until(t, "the image is written", func() bool { return why(t, owner, b.id).Written == "1.1.0" })
		stop()
		b.start(t, "1.0.0")
		expect.Until(t, "the box has fallen back", func() bool {
			known := why(t, owner, b.id)
			return at(known, "1.1.0", report.Reverted) && known.Report.Code == report.CodeBoot
		})
	})
	t.Run("halted during the download", func(t *testing.T) {
		owner, b := begin(t)
		b.shelf.slow = true
		b.start(t, "1.0.0")
		rollout := b.told(t, owner, false)
		expect.Until(t, "the image is downloaded", func() bool { return b.shelf.sent.Load() > 0 })
		owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
		expect.Until(t, "the client has finished, since it does not poll meanwhile",
			func() bool { return strings.Contains(b.said(), "written: ") })
		expect.Until(t, "that is known", func() bool {
			known := why(t, owner, b.id)
			return known.Written == "1.1.0" || at(known, "1.1.0", report.Reverted) // because the box does not boot the written version
		})
	})
	t.Run("token taken back", func(t *testing.T) {
		owner, b := begin(t, harness.WithDoor())
		b.start(t, "1.0.0")
		runs(t, owner, b.id, "1.0.0")
		owner.Do(t, http.MethodDelete, "/api/edges/"+b.id+"/token", "").Is(t, http.StatusNoContent)
		expect.Until(t, "its polls are refused", func() bool { return strings.Contains(b.said(), b.refused) })
	})
}
