package decide_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
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
		source          decide.Source
		towards         string
	}{
		"channel, two stones behind":             {out, "0.9.0", "", plain("3.0.0", nil), "1.0.0", decide.FromChannel, "3.0.0"},
		"channel, on the first stone":            {out, "1.0.0", "", plain("3.0.0", nil), "2.0.0", decide.FromChannel, "3.0.0"},
		"channel, between the stones":            {out, "1.5.0", "", plain("3.0.0", nil), "2.0.0", decide.FromChannel, "3.0.0"},
		"channel, on the last stone":             {out, "2.0.0", "", plain("3.0.0", nil), "3.0.0", decide.FromChannel, ""},
		"channel, past the stones":               {out, "2.5.0", "", plain("3.0.0", nil), "3.0.0", decide.FromChannel, ""},
		"channel, runs it":                       {out, "3.0.0", "", plain("3.0.0", nil), "3.0.0", decide.FromChannel, ""},
		"channel, runs what was never published": {out, "dev", "", plain("3.0.0", nil), "1.0.0", decide.FromChannel, "3.0.0"},
		"rollout, behind":                        {in, "1.5.0", "", plain("1.5.0", ten), "2.0.0", decide.FromRollout, "3.0.0"},
		"rollout, on the stone":                  {in, "2.0.0", "2.0.0", plain("1.5.0", ten), "3.0.0", decide.FromRollout, ""},
		"rollout, not reached":                   {out, "1.5.0", "", plain("1.5.0", ten), "1.5.0", decide.FromChannel, ""},
		"halted, on the stone":                   {in, "2.0.0", "", plain("1.5.0", halted), "2.0.0", decide.FromInstalled, ""},
		"halted, on the stone of an earlier one": {in, "2.0.0", "", plain("1.5.0", nil, earlier("3.0.0")), "2.0.0", decide.FromInstalled, ""},
		"halted, on a stone below the channel's": {in, "1.0.0", "", plain("1.5.0", halted), "1.5.0", decide.FromChannel, ""},
		"halted, on what no stone is":            {in, "2.5.0", "", plain("1.5.0", halted), "1.5.0", decide.FromChannel, ""},
		"pinned, behind":                         {pinned, "0.9.0", "", row("1.0.0", nil), "1.0.0", decide.FromPin, "3.0.0"},
		"pinned, on the stone":                   {pinned, "2.0.0", "", row("1.0.0", nil), "3.0.0", decide.FromPin, ""},
		"held, the channel's requires more":      {held, "1.5.0", "", plain("3.0.0", nil), "2.0.0", decide.FromChannel, "3.0.0"},
		"held, the channel is older":             {held, "2.5.0", "", plain("1.0.0", nil), "2.5.0", decide.FromHold, ""},
		"held, on the stone of an ended rollout": {held, "2.0.0", "", plain("1.5.0", halted), "2.0.0", decide.FromInstalled, ""},
		"does not say what it runs":              {out, "", "", plain("3.0.0", nil), "1.0.0", decide.FromChannel, "3.0.0"},
		"does not say, was told the stone":       {out, "", "1.0.0", plain("3.0.0", nil), "1.0.0", decide.FromChannel, "3.0.0"},
		"does not say, was told something newer": {out, "", "2.5.0", plain("3.0.0", nil), "2.5.0", decide.FromChannel, "3.0.0"},
		"does not say, was told the version":     {out, "", "3.0.0", plain("3.0.0", nil), "3.0.0", decide.FromChannel, ""},
		"does not say, was told what is unknown": {out, "", "dev", plain("3.0.0", nil), "1.0.0", decide.FromChannel, "3.0.0"},
		"the row knows none":                     {out, "0.9.0", "", row("3.0.0", nil), "3.0.0", decide.FromChannel, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := of(c.box, c.installed)
			b.Told, b.At = c.told, moved
			got, err := decide.Resolve(b, c.row, stepped)
			expect.OK(t, err)
			expect.Equal(t, [3]string{got.Version, string(got.Source()), got.Towards()}, [3]string{c.version, string(c.source), c.towards}, "told, from, towards")
			if got.RolloutID != "" != (c.row.Rollout != nil && c.source != decide.FromChannel) || got.SHA256 != "digest of "+c.version {
				t.Errorf("rollout %q, digest %q", got.RolloutID, got.SHA256)
			}
		})
	}
}

func TestResolve_AStoneWithoutItsRelease_IsSaid(t *testing.T) {
	r := row("3.0.0", nil)
	r.Ways = []release.Path{{Version: "3.0.0", Way: release.Way{{Version: "9.0.0", Order: 99}}}}
	got, err := decide.Resolve(of(box("3.0.0", 10, true), "1.0.0"), r, stepped)
	expect.That(t, err == nil && got.Reason == decide.StoneMissing && got.Version == "1.0.0" && problem.Has(got.Missing(), problem.Unavailable), "%+v, %v", got, err)
}
