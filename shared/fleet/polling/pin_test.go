package polling_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestPolls_APinnedBox_DoesNotReadTheChannelEachTime: it runs a version that the row of its channel does not know.
func TestPolls_APinnedBox_DoesNotReadTheChannelEachTime(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		home := p.box.Channel
		p.publish(t, "lab-"+home, "7.0.0")
		p.box.Pin = &edge.PinRequest{Version: "7.0.0", Reason: "a test"}
		p.register(t)
		p.asksTenTimes(t, decide.FromPin, 1)
	})
}

// TestPolls_AHeldBox_DoesNotReadTheChannelEachTime is the same for a box that came from another channel.
func TestPolls_AHeldBox_DoesNotReadTheChannelEachTime(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		home := p.box.Channel
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // orders are times in seconds
		p.publish(t, "lab-"+home, "7.0.0")
		p.box.Channel = "lab-" + home
		p.register(t)
		p.box.Channel = home
		p.register(t)
		p.asksTenTimes(t, decide.FromHold, 2)
	})
}

// asksTenTimes polls for ten seconds, with version 7.0.0, which it is told from a source, and which needs so many releases.
func (p *place) asksTenTimes(t *testing.T, source decide.Source, releases int) {
	t.Helper()
	now := time.Now()
	p.polls = polling.NewPolls(p.db, polling.Settings{PollInterval: time.Minute, ChannelCache: time.Hour, Shards: 1}, nil, func() time.Time { return now })
	clear(p.calls)
	for range 10 {
		reply := p.ask(t, "7.0.0", "")
		expect.Equal(t, reply.Manifest.Source, source, "told from")
		expect.Equal(t, reply.Manifest.Version, "7.0.0", "told")
		now = now.Add(time.Second)
	}
	expect.Equal(t, p.calls[dynamo.Channels.Name()+" strongly"], 1, "reads of the channel")
	expect.Equal(t, p.calls[dynamo.Releases.Name()+" strongly"], releases, "reads of releases")
}

func TestUntilEnd_APinnedBoxPolls_WhenItsPinEnds(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		pin  *report.Pin
		want time.Duration
	}{
		"not pinned":          {nil, 6 * time.Hour},
		"ends later":          {&report.Pin{Until: now.Add(7 * time.Hour)}, 6 * time.Hour},
		"ends before":         {&report.Pin{Until: now.Add(90 * time.Minute)}, 90 * time.Minute},
		"has ended":           {&report.Pin{Until: now}, 6 * time.Hour},
		"ends in a moment":    {&report.Pin{Until: now.Add(time.Millisecond)}, time.Millisecond},
		"ended some time ago": {&report.Pin{Until: now.Add(-time.Hour)}, 6 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, polling.UntilEnd(c.pin, 6*time.Hour, now), c.want, "the time until the next poll")
		})
	}
}
