package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	client "wavegate/scripts/box"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
)

// A listener is a box with the client for makers: it listens to the bell if there is one, and polls when that rings.
type listener struct {
	*box
	slower share         // by which its cycles take longer with a new version
	health client.Health // of which it measures one cycle before each poll
	stop   func()        // ends the client: the box dies, or restarts
}

// listen runs the box until the context ends or the box dies.
func (b *box) listen(ctx context.Context, p plan) {
	timing := client.DefaultTiming
	if p.interval > 0 {
		timing.Start, timing.Interval, timing.LeastInterval, timing.MostInterval = p.interval, p.interval, p.interval, p.interval
		timing.Retry = p.interval // also after a poll that was not recorded
	}
	for ctx.Err() == nil && !b.dead {
		running, stop := context.WithCancel(ctx)
		l := &listener{box: b, slower: p.slower, stop: stop}
		c := client.Client{API: p.url, EdgeID: b.id, Device: l, HTTP: b.client, Timing: timing, Authorization: l.authorization, Fetch: l.fetch,
			Health: &l.health, Trace: l.made}
		if err := c.Run(running); err != nil && running.Err() == nil {
			b.seen.trouble(b.id, err)
		}
		stop()
	}
}

func (l *listener) authorization(context.Context) (string, error) { return l.bearer() }

// fetch downloads nothing. For a version that the box fell back from, it never ends.
func (l *listener) fetch(ctx context.Context, m client.Manifest, _ string) error {
	if m.Version == l.refused {
		<-ctx.Done()
	}
	return ctx.Err()
}

// Installed and Activate implement the client's device.
func (l *listener) Installed(ctx context.Context) (string, error) {
	if !l.dies.IsZero() && time.Now().After(l.dies) {
		l.die()
	}
	seconds := 10 * (1 + 0.02*rand.NormFloat64())
	if l.before != "" {
		seconds *= 1 + float64(l.slower)
	}
	l.health.Measure("cycleSeconds", seconds)
	return l.installed, ctx.Err()
}

func (l *listener) Activate(ctx context.Context, m client.Manifest, _ string) error {
	f, code := l.chances.of(l.id, m.Version)
	if l.installed == "" || l.told.Version == m.Version && f == deferred {
		f = well // the version from production, and one that was put off long enough
	}
	l.told.Version = m.Version
	switch f {
	case fails:
		return &client.Failure{Code: string(code), Err: errors.New("as it was told to")}
	case deferred:
		return &client.Deferral{Until: time.Now().Add(time.Hour)}
	case bricks:
		if l.chances.brickAfter == 0 {
			l.die()
			return ctx.Err()
		}
		l.dies = time.Now().Add(l.chances.brickAfter)
	case reverts:
		l.falls = true
	}
	l.before, l.installed = l.installed, m.Version
	return nil
}

func (l *listener) die() {
	l.dead = true
	l.stop()
}

// made counts a call that the client made.
func (l *listener) made(c client.Call) {
	if l.dead {
		return
	}
	switch c.Deed {
	case client.Listen:
		l.seen.bell(l.id, c.Err)
	case client.Poll:
		o := outcome{status: c.Status, took: c.Took, failed: c.Err}
		if c.Status == http.StatusUnauthorized {
			l.token, o.failed = "", nil // it has expired; the next poll has a new one
		}
		if c.Manifest != nil {
			o.version, o.source = c.Manifest.Version, decide.Source(c.Manifest.Source)
			if c.Tag != "" {
				l.seen.told(l.id, polling.Manifest{Version: o.version, Source: o.source, RolloutID: c.Manifest.RolloutID}, c.Installed)
			}
		}
		l.seen.poll(l.id, o)
		if l.falls && c.Err == nil && c.Installed == l.installed {
			l.falls, l.refused, l.installed = false, l.installed, l.before
			l.stop() // it restarts to fall back
		}
	case client.Tell:
		if c.Err != nil {
			l.seen.trouble(l.id, c.Err)
			return
		}
		l.seen.reported(l.id, c.Report.Version, report.State(c.Report.Outcome))
	}
}
