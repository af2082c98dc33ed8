package box

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// content is an artifact.
func content(version string) []byte { return bytes.Repeat([]byte("image of "+version+"\n"), 10_000) }

func readerOf(b []byte) io.ReadSeeker { return bytes.NewReader(b) }

// A device is a folder: the file "version" has the version that it runs, and "does" the outcome of activations.
type device string

func newDevice(t *testing.T) device {
	t.Helper()
	d := device(t.TempDir())
	d.write(t, "version", "1.0.0")
	d.write(t, "does", "well")
	d.write(t, "activations", "")
	return d
}

func (d device) file(name string) string { return filepath.Join(string(d), name) }

func (d device) write(t *testing.T, name, text string) {
	t.Helper()
	expect.OK(t, os.WriteFile(d.file(name), []byte(text), 0o600))
}

func (d device) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(d.file(name))
	expect.OK(t, err)
	return strings.TrimSpace(string(text))
}

// Installed and Activate implement Device.
func (d device) Installed(context.Context) (string, error) {
	text, err := os.ReadFile(d.file("version"))
	return strings.TrimSpace(string(text)), err
}

func (d device) Activate(_ context.Context, m Manifest, file string) error {
	does, err := os.ReadFile(d.file("does"))
	if err != nil {
		return err
	}
	got, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(d.file("activations"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, m.Version)
	f.Close()
	switch {
	case !bytes.Equal(got, content(m.Version)):
		return errors.New("the file is not the artifact")
	case string(does) == "fail":
		return errors.New("it cannot\x00 do so")
	case string(does) == "defer":
		return &Deferral{}
	}
	return os.WriteFile(d.file("version"), []byte(m.Version), 0o600)
}

// A start starts a client for box-1 on a device, and returns the function that ends it.
type start func(t *testing.T, o *origin, d device, folder string) (end func())

// A minute takes a tenth of a second here.
var fast = DefaultTiming.Scaled(1.0 / 600)

func authorizes(context.Context) (string, error) { return authorization, nil }

func startGo(t *testing.T, o *origin, d device, folder string) func() {
	c := &Client{API: o.URL, EdgeID: "box-1", Device: d, Folder: folder, Timing: fast, Authorization: authorizes}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestClient_DoesTheWholeLoop(t *testing.T) { playLoop(t, startGo) }

// playLoop takes a client through the life of a box.
func playLoop(t *testing.T, begin start) {
	o, d, folder := newOrigin(t), newDevice(t), t.TempDir()
	end := begin(t, o, d, folder)
	defer func() { end() }()
	settled := func() {
		t.Helper()
		bells, silent := 0, 0
		o.until(t, "it knows the sound", func() bool { bells, silent = o.bells, o.silent; return bells > 0 && silent > 0 })
		o.until(t, "it hears the bell", func() bool { return o.bells > bells+2 })
	}
	settled()
	if polls := o.polled("1.0.0"); polls > 3 {
		t.Errorf("an idle box polled %d times", polls)
	}

	o.changes("1.1.0")
	o.until(t, "it reports that it runs 1.1.0", func() bool { return o.polls["1.1.0"] > 0 })

	// A halt during the download.
	o.mu.Lock()
	o.serving = func(string) { o.changes("1.1.0") }
	o.mu.Unlock()
	polls := o.polled("1.1.0")
	o.changes("1.2.0")
	o.until(t, "it polls after the halt", func() bool { return o.polls["1.1.0"] >= polls+2 && o.target == "1.1.0" })
	settled()
	expect.Equal(t, d.read(t, "activations"), "1.1.0", "it activated")

	// It cannot install 1.3.0, and a person puts it off. Then it is told to give up.
	o.mu.Lock()
	o.serving = nil
	o.mu.Unlock()
	d.write(t, "does", "fail")
	o.changes("1.3.0")
	o.until(t, "it reports a failure", func() bool { return len(o.reports) == 1 })
	d.write(t, "does", "defer")
	o.until(t, "it reports that it was put off", func() bool { return len(o.reports) >= 2 && o.reports[len(o.reports)-1].Outcome == Deferred })
	o.mu.Lock()
	o.advice = `{"retry":false}`
	told := len(o.reports)
	o.mu.Unlock()
	o.until(t, "it reports that it was put off again", func() bool { return len(o.reports) == told+1 })
	settled()
	o.mu.Lock()
	failures := 0
	for i, r := range o.reports {
		expect.Equal(t, []any{r.Version, r.RolloutID, r.Attempt}, []any{"1.3.0", "rollout-1.3.0", failures + 1}, "report %d", i)
		if r.Outcome == Failed {
			failures++
		}
	}
	if first := o.reports[0]; first.Outcome != Failed || first.Code != "install" || len(o.reports) != told+1 {
		t.Errorf("its reports are %+v", o.reports)
	}
	o.reports, o.advice = nil, `{"retryAfterSeconds":3600}`
	o.mu.Unlock()

	// It is switched off while it activates 1.4.0, and comes back with the previous version.
	end()
	d.write(t, "does", "well")
	beginsToActivate(t, folder, "1.4.0")
	o.changes("1.4.0")
	end = begin(t, o, d, folder)
	o.until(t, "it reports that it did not boot", func() bool { return len(o.reports) == 1 })
	r := o.reports[0]
	expect.Equal(t, []any{r.Version, r.Code, r.Attempt}, []any{"1.4.0", "boot", 1}, "it reports %+v:", r)

	// The bell calls only this box.
	settled()
	polls = o.polled("1.1.0")
	o.mu.Lock()
	o.called = "code of box-1"
	o.mu.Unlock()
	o.until(t, "it polls when it is called", func() bool { return o.polls["1.1.0"] > polls })
	if got := strings.Fields(d.read(t, "activations")); slices.Contains(got, "1.2.0") || slices.Contains(got, "1.4.0") {
		t.Errorf("it activated %v", got)
	}
}

// beginsToActivate leaves the files that either client writes before it activates a version.
func beginsToActivate(t *testing.T, folder, version string) {
	t.Helper()
	for name, text := range map[string]string{
		"memory.json": fmt.Sprintf(`{"version":%q,"rolloutId":"rollout-%s","activating":true}`, version, version),
		"activating":  version + "\n",
	} {
		expect.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
}

func TestClient_OtherBytesThanTold_AreReported_AndNotActivated(t *testing.T) {
	o, d := newOrigin(t), newDevice(t)
	c := &Client{API: o.URL, EdgeID: "box-1", Device: d, Folder: t.TempDir(), Timing: fast, Authorization: authorizes,
		Fetch: func(_ context.Context, _ Manifest, file string) error {
			return os.WriteFile(file, []byte("other bytes"), 0o600)
		}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	o.changes("1.1.0")
	o.until(t, "it reports", func() bool { return len(o.reports) > 0 })
	cancel()
	if err := <-ended; err != nil || o.reports[0].Code != "checksum" || d.read(t, "activations") != "" {
		t.Errorf("%v, reports %+v, activations %q", err, o.reports, d.read(t, "activations"))
	}
}

func TestClient_MemoryThatCannotBeRead_BeginsAgain(t *testing.T) {
	c := &Client{Folder: t.TempDir()}
	expect.OK(t, c.keep(Memory{Version: "1.1.0", Attempts: 2}))
	expect.Equal(t, c.recall(), Memory{Version: "1.1.0", Attempts: 2}, "it remembers")
	expect.OK(t, os.WriteFile(c.memory(), []byte(`{"version":`), 0o600))
	expect.Equal(t, c.recall(), (Memory{}), "it remembers")
}
