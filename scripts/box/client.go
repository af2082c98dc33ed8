package box

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Device is what the client updates.
type Device interface {
	// Installed returns the version that the device runs; empty if it is unknown.
	Installed(ctx context.Context) (string, error)
	// Activate makes the device run the manifest's version from the file, after its digest was checked. It may restart
	// the device and not return. The error may be a *Failure or a *Deferral; any other error is a failure with the code
	// "install".
	Activate(ctx context.Context, m Manifest, file string) error
}

// A Failure is the reason why an attempt failed.
type Failure struct {
	// Code is one of the API's codes: download, checksum, signature, space, power, incompatible, install, boot, health,
	// other.
	Code string
	Err  error
}

func (f *Failure) Error() string { return f.Code + ": " + f.Err.Error() }

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A Deferral says that a person put the update off.
type Deferral struct {
	Until time.Time // zero: not given
}

func (d *Deferral) Error() string { return "a person put the update off" }

// A Client updates a device.
type Client struct {
	// API is the service's URL without a slash at the end, and EdgeID is the box's id.
	API, EdgeID string
	// Authorization returns the value of that header. It is sent only to the API and to the door of which the API told the
	// box, never to the bell or the artifact's host.
	Authorization func(ctx context.Context) (string, error)
	Device        Device
	// Folder keeps the download and the box's memory of its attempts. It must survive a fallback of the device to the
	// previous version. If it is empty, nothing is kept.
	Folder string
	// BellVia is the scheme and host of a plant cache, for example http://cache.plant.example:8080. If it is empty, the
	// client calls the bell directly.
	BellVia string
	// HTTP makes the calls. If it is nil, Run sets one that resumes TLS sessions: a full handshake is ten times as large
	// as an answer of the bell. A call ends after 30 seconds, and a download after an hour.
	HTTP *http.Client
	// Fetch downloads the artifact of a manifest into a file. If it is nil, the artifact is downloaded from its URL.
	Fetch func(ctx context.Context, m Manifest, file string) error
	// Health keeps numbers about the box's work, which polls say if the service asks for them. If it is nil, nothing is said.
	Health *Health
	// Timing defaults to DefaultTiming.
	Timing Timing
	// Trace is called after each call, if it is not nil.
	Trace func(Call)

	doorway doorway
}

// Run updates the device until the context ends.
func (c *Client) Run(ctx context.Context) error {
	if c.Folder == "" && c.Fetch == nil {
		return errors.New("box: there is no folder for downloads")
	}
	installed, err := c.Device.Installed(ctx)
	if err != nil {
		return fmt.Errorf("what the device runs: %w", err)
	}
	if c.HTTP == nil {
		c.HTTP = resuming()
	}
	l := loop{Client: c, s: &State{Timing: c.Timing, Memory: c.recall()}}
	if l.s.Timing == (Timing{}) {
		l.s.Timing = DefaultTiming
	}
	l.kept = l.s.Memory
	l.s.Started(installed, time.Now())
	for ctx.Err() == nil {
		a := l.s.Next(time.Now())
		if a.Deed == Activate {
			l.s.Activating()
		}
		if l.keep() != nil && a.Deed == Activate {
			l.attempted(ctx, &Failure{Code: "space", Err: errors.New("what the box remembers cannot be kept")}, "")
			continue
		}
		l.do(ctx, a)
	}
	l.stopDownload()
	return nil
}

// resuming makes a client that remembers the sessions of some servers.
func resuming() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 30 * time.Second, IdleConnTimeout: time.Minute,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(8)},
	}}
}

// A loop is a client that runs.
type loop struct {
	*Client
	s        *State
	kept     Memory
	download *download
}

// keep stores the box's memory, if it has changed.
func (l *loop) keep() error {
	if l.s.Memory == l.kept {
		return nil
	}
	err := l.Client.keep(l.s.Memory)
	if err == nil {
		l.kept = l.s.Memory
	}
	return err
}

// do carries out an action and passes its result to the state.
func (l *loop) do(ctx context.Context, a Action) {
	switch a.Deed {
	case Wait:
		l.wait(ctx, a.Until)
	case Listen:
		l.listen(ctx, l.s)
	case Poll:
		l.poll(ctx, l.s)
	case Tell:
		l.tell(ctx, l.s)
	case Fetch:
		l.stopDownload()
		l.s.Fetch()
		l.download = l.begin(ctx, l.s.told)
	case Activate:
		if err := l.Device.Activate(ctx, l.s.told, l.file()); err != nil {
			l.attempted(ctx, err, "install")
			return
		}
		l.s.Activated(time.Now())
		l.discard()
	}
}

// wait waits for a time or the end of the download. It stops a download that the box should no longer make.
func (l *loop) wait(ctx context.Context, until time.Time) {
	if l.download != nil && l.download.digest != l.s.Fetching() {
		l.stopDownload()
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	var downloaded <-chan struct{}
	if l.download != nil {
		downloaded = l.download.done
	}
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-downloaded:
		err := l.download.err
		l.download = nil
		if err != nil {
			l.attempted(ctx, err, "download")
			return
		}
		l.s.Fetched(time.Now())
	}
}

// A download runs in the background of the calls.
type download struct {
	digest string
	cancel context.CancelFunc
	done   chan struct{} // closed at the end
	err    error         // the result
}

func (l *loop) begin(ctx context.Context, m Manifest) *download {
	ctx, cancel := context.WithCancel(ctx)
	d := &download{digest: m.SHA256, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		defer cancel()
		d.err = l.fetch(ctx, m)
	}()
	return d
}

// stopDownload stops the download, if there is one, and waits for its end.
func (l *loop) stopDownload() {
	if l.download != nil {
		l.download.cancel()
		<-l.download.done
		l.download = nil
	}
}

// attempted records an attempt that failed or was put off. It ignores an attempt that was interrupted because the
// client ended.
func (l *loop) attempted(ctx context.Context, err error, code string) {
	if ctx.Err() != nil {
		return
	}
	r := Report{Outcome: Failed, Code: code, Detail: detail(err.Error())}
	if f, ok := errors.AsType[*Failure](err); ok {
		r.Code, r.Detail = f.Code, detail(f.Err.Error())
	}
	if d, ok := errors.AsType[*Deferral](err); ok {
		r = Report{Outcome: Deferred}
		if !d.Until.IsZero() {
			until := d.Until.UTC().Truncate(time.Second)
			r.Until = &until
		}
	}
	l.s.Attempt(r, time.Now())
}

// detail makes a text acceptable to the API: at most 256 printable ASCII characters.
func detail(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	return text[:min(len(text), 256)]
}
