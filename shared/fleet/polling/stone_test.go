package polling_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestPolls_OnTheWay_ReadTheReleasesOnce: for ten seconds, a box is told a stone of what is published. The answer names both.
func TestPolls_OnTheWay_ReadTheReleasesOnce(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		old, stone, target := "0-"+p.id, "1-"+p.id, "2-"+p.id
		for i, version := range []string{old, stone, target} {
			_, err := publication.NewStore(p.db).Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{EdgeType: p.box.EdgeType, Channel: p.box.Channel,
				CurrentVersion: version, SHA256: version, Lineage: release.Lineage{Order: int64(i + 1), Requires: []string{"", "", stone}[i]}}, input.Preconditions{})
			expect.OK(t, err)
		}
		now := time.Now()
		p.polls = polling.NewPolls(p.db, polling.Settings{PollInterval: time.Minute, ChannelCache: time.Hour, Shards: 1}, nil, func() time.Time { return now })
		clear(p.calls)
		for range 10 {
			m := p.ask(t, old, "").Manifest
			expect.Equal(t, [3]string{m.Version, m.Towards, m.SHA256}, [3]string{stone, target, stone}, "told, towards, bytes")
			now = now.Add(time.Second)
		}
		expect.Equal(t, p.calls[dynamo.Channels.Name()+" strongly"], 1, "reads of the channel")
		expect.Equal(t, p.calls[dynamo.Releases.Name()+" strongly"], 2, "reads of releases: what it runs, and the stone")
		expect.Equal(t, p.ask(t, stone, "").Manifest.Version, target, "told on the stone")
	})
}
