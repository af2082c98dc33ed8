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
	// Installed is the version that the device runs; empty: it does not know.
	Installed(ctx context.Context) (string, error)
	// Activate has the device run the version that the manifest tells, from the file, whose digest was checked. It may
	// start the device again and not return. The error may be a *Failure or a *Deferral; another one is a failure with the
	// code "install".
	Activate(ctx context.Context, m Manifest, file string) error
}

// A Failure is why an attempt failed.
type Failure struct {
	// Code is one of the API: download, checksum, signature, space, power, incompatible, install, boot, health, other.
	Code string
	Err  error
}

func (f *Failure) Error() string { return f.Code + ": " + f.Err.Error() }

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A Deferral says that a person put the update off.
type Deferral struct {
	Until time.Time // zero: the person did not say
}

func (d *Deferral) Error() string { return "a person put the update off" }

// A Client updates a device.
type Client struct {
	// API is the service's URL without a slash at its end, and EdgeID is the box's id.
	API, EdgeID string
	// Authorization gives the value of that header. It is sent to the API, and never to the bell or the artifact's host.
	Authorization func(ctx context.Context) (string, error)
	Device        Device
	// Folder keeps the download and what the box remembers of its attempts. It must survive a device that falls back to
	// the version before. Nothing is kept if it is empty.
	Folder string
	// BellVia is the scheme and host of a plant cache, for example http://cache.plant.example:8080. The bell is called
	// directly if it is empty.
	BellVia string
	// HTTP makes the calls. If it is nil, Run sets one that resumes TLS sessions: a full handshake is ten times as long as
	// an answer of the bell. A call ends after 30 seconds, and a download after an hour.
	HTTP *http.Client
	// Fetch downloads the artifact of a manifest into a file. If it is nil, the artifact is downloaded from its URL.
	Fetch func(ctx context.Context, m Manifest, file string) error
	// Timing is DefaultTiming if it is zero.
	Timing Timing
	// Trace is called after each call, if it is not nil.
	Trace func(Call)
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

// keep keeps what the box remembers, if that has changed.
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

// do carries out an action and tells the state how it went.
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

// wait waits for a time or the end of the download. A download that the box is no longer told ends.
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

// A download goes on beside the calls.
type download struct {
	digest string
	cancel context.CancelFunc
	done   chan struct{} // is closed at its end
	err    error         // how it ended
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

// stopDownload ends the download, if there is one, and waits for its end.
func (l *loop) stopDownload() {
	if l.download != nil {
		l.download.cancel()
		<-l.download.done
		l.download = nil
	}
}

// attempted notes an attempt that failed or was put off. An attempt that the end of the client broke off did neither.
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

// detail is a text as the API takes it: 256 printable characters of ASCII at most.
func detail(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	return text[:min(len(text), 256)]
}
