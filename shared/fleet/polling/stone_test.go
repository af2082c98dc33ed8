package polling_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// shelved are the versions of the tests below, in the order of their releases. 3.0.0 requires 2.0.0, which requires 1.0.0.
var shelved = []string{"0.9.0", "1.0.0", "1.5.0", "2.0.0", "2.5.0", "3.0.0"}

var way = release.Way{{Version: "2.0.0", Order: 4}, {Version: "1.0.0", Order: 2}}

func stepped(version string) (release.Release, error) {
	is, err := shelf(shelved...)(version)
	if version == "3.0.0" {
		is.Way = way
	}
	return is, err
}

func TestResolve_ABoxBelowAStone_IsToldTheStoneFirst(t *testing.T) {
	moved := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plain := func(current string, rollout *release.Carried, earlier ...release.RolloutTarget) release.ChannelRow {
		r := row(current, rollout, earlier...)
		r.Ways = []release.Path{{Version: "3.0.0", Way: way}}
		return r
	}
	in, out := box("3.0.0", 10, true), box("3.0.0", 10, false)
	pinned, held := in, out
	pinned.Pin, held.Hold = &report.Pin{Version: "3.0.0", Until: moved.Add(time.Hour)}, &report.Hold{Since: moved.Add(-time.Hour)}
	ten, halted := carried("3.0.0", 10, true), carried("3.0.0", 10, false)
	for name, c := range map[string]struct {
		box             edge.Edge
		installed, told string
		row             release.ChannelRow
		version         string
		source          polling.Source
		towards         string
	}{
		"channel, two stones behind":             {out, "0.9.0", "", plain("3.0.0", nil), "1.0.0", polling.FromChannel, "3.0.0"},
		"channel, on the first stone":            {out, "1.0.0", "", plain("3.0.0", nil), "2.0.0", polling.FromChannel, "3.0.0"},
		"channel, between the stones":            {out, "1.5.0", "", plain("3.0.0", nil), "2.0.0", polling.FromChannel, "3.0.0"},
		"channel, on the last stone":             {out, "2.0.0", "", plain("3.0.0", nil), "3.0.0", polling.FromChannel, ""},
		"channel, past the stones":               {out, "2.5.0", "", plain("3.0.0", nil), "3.0.0", polling.FromChannel, ""},
		"channel, runs it":                       {out, "3.0.0", "", plain("3.0.0", nil), "3.0.0", polling.FromChannel, ""},
		"channel, runs what was never published": {out, "dev", "", plain("3.0.0", nil), "1.0.0", polling.FromChannel, "3.0.0"},
		"rollout, behind":                        {in, "1.5.0", "", plain("1.5.0", ten), "2.0.0", polling.FromRollout, "3.0.0"},
		"rollout, on the stone":                  {in, "2.0.0", "2.0.0", plain("1.5.0", ten), "3.0.0", polling.FromRollout, ""},
		"rollout, not reached":                   {out, "1.5.0", "", plain("1.5.0", ten), "1.5.0", polling.FromChannel, ""},
		"halted, on the stone":                   {in, "2.0.0", "", plain("1.5.0", halted), "2.0.0", polling.FromInstalled, ""},
		"halted, on the stone of an earlier one": {in, "2.0.0", "", plain("1.5.0", nil, earlier("3.0.0")), "2.0.0", polling.FromInstalled, ""},
		"halted, on a stone below the channel's": {in, "1.0.0", "", plain("1.5.0", halted), "1.5.0", polling.FromChannel, ""},
		"halted, on what no stone is":            {in, "2.5.0", "", plain("1.5.0", halted), "1.5.0", polling.FromChannel, ""},
		"pinned, behind":                         {pinned, "0.9.0", "", row("1.0.0", nil), "1.0.0", polling.FromPin, "3.0.0"},
		"pinned, on the stone":                   {pinned, "2.0.0", "", row("1.0.0", nil), "3.0.0", polling.FromPin, ""},
		"held, the channel's requires more":      {held, "1.5.0", "", plain("3.0.0", nil), "2.0.0", polling.FromChannel, "3.0.0"},
		"held, the channel is older":             {held, "2.5.0", "", plain("1.0.0", nil), "2.5.0", polling.FromHold, ""},
		"held, on the stone of an ended rollout": {held, "2.0.0", "", plain("1.5.0", halted), "2.0.0", polling.FromInstalled, ""},
		"does not say what it runs":              {out, "", "", plain("3.0.0", nil), "1.0.0", polling.FromChannel, "3.0.0"},
		"does not say, was told the stone":       {out, "", "1.0.0", plain("3.0.0", nil), "1.0.0", polling.FromChannel, "3.0.0"},
		"does not say, was told something newer": {out, "", "2.5.0", plain("3.0.0", nil), "2.5.0", polling.FromChannel, "3.0.0"},
		"does not say, was told the version":     {out, "", "3.0.0", plain("3.0.0", nil), "3.0.0", polling.FromChannel, ""},
		"does not say, was told what is unknown": {out, "", "dev", plain("3.0.0", nil), "1.0.0", polling.FromChannel, "3.0.0"},
		"the row knows none":                     {out, "0.9.0", "", row("3.0.0", nil), "3.0.0", polling.FromChannel, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := polling.Box{Edge: c.box, Installed: c.installed, Told: c.told, At: moved}
			got, _, err := polling.Resolve(b, c.row, stepped)
			expect.OK(t, err)
			expect.Equal(t, [3]string{got.Version, string(got.Source), got.Towards}, [3]string{c.version, string(c.source), c.towards}, "told, from, towards")
			if got.RolloutID != "" != (c.row.Rollout != nil && c.source != polling.FromChannel) || got.SHA256 != "digest of "+c.version {
				t.Errorf("rollout %q, digest %q", got.RolloutID, got.SHA256)
			}
		})
	}
}

func TestResolve_AStoneWithoutItsRelease_IsAnError(t *testing.T) {
	r := row("3.0.0", nil)
	r.Ways = []release.Path{{Version: "3.0.0", Way: release.Way{{Version: "9.0.0", Order: 99}}}}
	_, _, err := polling.Resolve(polling.Box{Edge: box("3.0.0", 10, true), Installed: "1.0.0"}, r, stepped)
	expect.That(t, problem.Has(err, problem.Unavailable), "%v", err)
}

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
		p.polls = polling.NewPolls(p.db, polling.Settings{PollInterval: time.Minute, ChannelCache: time.Hour, Shards: 1}, func() time.Time { return now })
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
