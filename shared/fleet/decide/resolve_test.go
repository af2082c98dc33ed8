package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// box finds a box that a rollout of version at percent reaches, or does not.
func box(version string, percent int, in bool) edge.Edge {
	for i := 0; ; i++ {
		id := fmt.Sprintf("box-%d", i)
		if cohort.Of("gateway-x", version, id).In(percent) == in {
			return edge.Edge{EdgeID: id, EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Revision: 1}
		}
	}
}

// of is a box that says what it runs.
func of(e edge.Edge, runs string) decide.Box {
	return decide.Saying(report.Row{}.Registered(e.Registration()), runs, time.Time{})
}

func row(current string, rollout *release.Carried, earlier ...release.RolloutTarget) release.ChannelRow {
	return release.ChannelRow{
		Channel: release.Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: current,
			ArtifactURL: "https://a.example/channel/" + current, SHA256: "digest of " + current, Revision: 1},
		Rollout: rollout, Earlier: earlier,
	}
}

func carried(target string, percent int, active bool) *release.Carried {
	return &release.Carried{ID: "the-rollout", TargetVersion: target, ArtifactURL: "https://a.example/rollout/" + target,
		SHA256: "digest of " + target, StagedPercent: percent, Active: active, Revision: 1}
}

func earlier(version string) release.RolloutTarget {
	return release.RolloutTarget{Version: version, ArtifactURL: "https://a.example/earlier/" + version, SHA256: "digest of " + version}
}

func TestResolve_EveryState(t *testing.T) {
	const none = ""
	in, out := box("2.0.0", 10, true), box("2.0.0", 10, false)
	ten, hundred := carried("2.0.0", 10, true), carried("2.0.0", 100, true)
	haltedAt10, haltedAt100 := carried("2.0.0", 10, false), carried("2.0.0", 100, false)
	// A rollout that was completed early leaves the same row as one halted at that stage. After a completion at 100, the
	// target is also the channel's version.
	completedEarly, adopted := haltedAt10, row("2.0.0", haltedAt100)
	cases := []struct {
		state     string
		box       edge.Edge
		installed string
		row       release.ChannelRow
		version   string
		source    decide.Source
		place     string // whose URL is served: channel, rollout or earlier
	}{
		{"no rollout, nothing said", in, none, row("1.0.0", nil), "1.0.0", decide.FromChannel, "channel"},
		{"no rollout, the channel's installed", in, "1.0.0", row("1.0.0", nil), "1.0.0", decide.FromChannel, "channel"},
		{"no rollout, something newer installed: a publish sent it back", in, "2.0.0", row("1.0.0", nil), "1.0.0", decide.FromChannel, "channel"},

		{"active, in, nothing said", in, none, row("1.0.0", ten), "2.0.0", decide.FromRollout, "rollout"},
		{"active, in, the channel's installed", in, "1.0.0", row("1.0.0", ten), "2.0.0", decide.FromRollout, "rollout"},
		{"active, in, the target installed", in, "2.0.0", row("1.0.0", ten), "2.0.0", decide.FromRollout, "rollout"},
		{"active, in, something else installed", in, "0.9.0", row("1.0.0", ten), "2.0.0", decide.FromRollout, "rollout"},
		{"active, out, nothing said", out, none, row("1.0.0", ten), "1.0.0", decide.FromChannel, "channel"},
		{"active, out, the channel's installed", out, "1.0.0", row("1.0.0", ten), "1.0.0", decide.FromChannel, "channel"},
		{"active, out, something else installed", out, "0.9.0", row("1.0.0", ten), "1.0.0", decide.FromChannel, "channel"},
		{"active, out, the target installed anyway", out, "2.0.0", row("1.0.0", ten), "2.0.0", decide.FromInstalled, "rollout"},
		{"active at 100: everyone", out, none, row("1.0.0", hundred), "2.0.0", decide.FromRollout, "rollout"},

		{"halted, the target installed", in, "2.0.0", row("1.0.0", haltedAt10), "2.0.0", decide.FromInstalled, "rollout"},
		{"halted, was in, the channel's installed", in, "1.0.0", row("1.0.0", haltedAt10), "1.0.0", decide.FromChannel, "channel"},
		{"halted, was in, nothing said", in, none, row("1.0.0", haltedAt10), "1.0.0", decide.FromChannel, "channel"},
		{"halted, was in, something else installed", in, "0.9.0", row("1.0.0", haltedAt10), "1.0.0", decide.FromChannel, "channel"},
		{"halted at 100, the target installed", out, "2.0.0", row("1.0.0", haltedAt100), "2.0.0", decide.FromInstalled, "rollout"},
		{"halted at 100, the channel's installed", out, "1.0.0", row("1.0.0", haltedAt100), "1.0.0", decide.FromChannel, "channel"},
		{"halted at 100, nothing said", out, none, row("1.0.0", haltedAt100), "1.0.0", decide.FromChannel, "channel"},

		{"completed early, the target installed", in, "2.0.0", row("1.0.0", completedEarly), "2.0.0", decide.FromInstalled, "rollout"},
		{"completed early, the channel's installed", in, "1.0.0", row("1.0.0", completedEarly), "1.0.0", decide.FromChannel, "channel"},
		{"completed early, something else installed", in, "0.9.0", row("1.0.0", completedEarly), "1.0.0", decide.FromChannel, "channel"},
		{"completed early, nothing said", in, none, row("1.0.0", completedEarly), "1.0.0", decide.FromChannel, "channel"},
		{"completed at 100, the target installed", in, "2.0.0", adopted, "2.0.0", decide.FromChannel, "channel"},
		{"completed at 100, the old version installed", in, "1.0.0", adopted, "2.0.0", decide.FromChannel, "channel"},
		{"completed at 100, something else installed", in, "0.9.0", adopted, "2.0.0", decide.FromChannel, "channel"},
		{"completed at 100, nothing said", in, none, adopted, "2.0.0", decide.FromChannel, "channel"},

		{"published since: the row has forgotten the rollout", in, "2.0.0", row("1.5.0", nil), "1.5.0", decide.FromChannel, "channel"},

		{"the target is the channel's version, in", in, "2.0.0", row("2.0.0", ten), "2.0.0", decide.FromRollout, "rollout"},
		{"the target is the channel's version, out", out, "2.0.0", row("2.0.0", ten), "2.0.0", decide.FromChannel, "channel"},
		{"the target is the channel's version, halted", in, "2.0.0", row("2.0.0", haltedAt10), "2.0.0", decide.FromChannel, "channel"},

		{"the next one active, out, an earlier target installed", out, "1.8.0", row("1.0.0", ten, earlier("1.8.0")), "1.8.0", decide.FromInstalled, "earlier"},
		{"the next one active, in, an earlier target installed", in, "1.8.0", row("1.0.0", ten, earlier("1.8.0")), "2.0.0", decide.FromRollout, "rollout"},
		{"the next one halted, an earlier target installed", in, "1.8.0", row("1.0.0", haltedAt10, earlier("1.8.0")), "1.8.0", decide.FromInstalled, "earlier"},
		{"an earlier target, nothing said", out, none, row("1.0.0", ten, earlier("1.8.0")), "1.0.0", decide.FromChannel, "channel"},
		{"an earlier target that the channel has", out, "1.0.0", row("1.0.0", ten, earlier("1.0.0")), "1.0.0", decide.FromChannel, "channel"},
	}
	for _, c := range cases {
		t.Run(c.state, func(t *testing.T) {
			got := expect.Value(decide.Resolve(of(c.box, c.installed), c.row, nil))(t)
			expect.That(t, got.Version == c.version && got.Source() == c.source,
				"told %s from %s, want %s from %s", got.Version, got.Source(), c.version, c.source)
			if want := "https://a.example/" + c.place + "/" + c.version; got.ArtifactURL != want || got.SHA256 != "digest of "+c.version {
				t.Errorf("the bytes are %s, %s, want those at %s", got.ArtifactURL, got.SHA256, want)
			}
			if named := got.RolloutID != ""; named != (c.place == "rollout") {
				t.Errorf("rollout %q, but the version comes from the %s", got.RolloutID, c.place)
			}
		})
	}
}

func TestResolve_ChannelThatDoesNotExist_IsNothing(t *testing.T) {
	for _, installed := range []string{"", "1.0.0"} {
		got, err := decide.Resolve(of(box("2.0.0", 10, true), installed), release.ChannelRow{}, nil)
		expect.That(t, err == nil && got.Reason == decide.NothingPublished && got.Version == "", "installed %q: told %+v", installed, got)
	}
}

func TestResolve_OneVersionStartedTwice_ReachesTheSameBoxes(t *testing.T) {
	first, second := carried("2.0.0", 10, true), carried("2.0.0", 10, true)
	second.ID, second.Revision = "another-rollout", 7
	for i := range 5000 {
		e := edge.Edge{EdgeID: fmt.Sprintf("box-%d", i), EdgeType: "gateway-x", Channel: "stable"}
		a, _ := decide.Resolve(of(e, "1.0.0"), row("1.0.0", first), nil)
		b, _ := decide.Resolve(of(e, "1.0.0"), row("1.0.0", second), nil)
		expect.Must(t, a.Version == b.Version, "%s: %s in the one and %s in the other", e.EdgeID, a.Version, b.Version)
	}
}

// shelf has the releases of some versions, in this order.
func shelf(versions ...string) decide.Releases {
	return func(version string) (release.Release, error) {
		order := int64(slices.Index(versions, version) + 1)
		if order == 0 {
			return release.Release{}, nil
		}
		return release.Release{EdgeType: "gateway-x", Version: version, ArtifactURL: "https://a.example/release/" + version,
			Bound: release.Bound{SHA256: "digest of " + version, Lineage: release.Lineage{Order: order}}}, nil
	}
}

func TestResolve_AHeldBox_KeepsWhatItRuns(t *testing.T) {
	moved := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	held := func(e edge.Edge) edge.Edge {
		e.Hold = &report.Hold{Since: moved}
		return e
	}
	since := func(r release.ChannelRow, at time.Time) release.ChannelRow {
		r.UpdatedAt, r.PublishedAt = at, at
		return r
	}
	in, out := held(box("2.0.0", 10, true)), held(box("2.0.0", 10, false))
	before, after := moved.Add(-time.Hour), moved.Add(time.Hour)
	ended := box("2.0.0", 10, false)
	ended.Pin = &report.Pin{Version: "1.5.0", Until: moved}
	for name, c := range map[string]struct {
		box             edge.Edge
		installed, told string
		row             release.ChannelRow
		version         string
		source          decide.Source
	}{
		"the channel is older":                 {out, "2.5.0", "", since(row("1.0.0", nil), before), "2.5.0", decide.FromHold},
		"the channel is newer":                 {out, "1.0.0", "", since(row("1.5.0", nil), before), "1.5.0", decide.FromChannel},
		"the channel has what it runs":         {out, "1.0.0", "", since(row("1.0.0", nil), before), "1.0.0", decide.FromChannel},
		"a pin has ended":                      {ended, "2.5.0", "", since(row("1.0.0", nil), before), "2.5.0", decide.FromHold},
		"the cohort's target is older":         {in, "2.5.0", "", since(row("1.0.0", carried("2.0.0", 10, true)), before), "2.5.0", decide.FromHold},
		"the cohort's target is newer":         {in, "1.5.0", "", since(row("1.0.0", carried("2.0.0", 10, true)), before), "2.0.0", decide.FromRollout},
		"not in the cohort":                    {out, "1.5.0", "", since(row("1.0.0", carried("2.0.0", 10, true)), before), "1.5.0", decide.FromHold},
		"runs a remembered target":             {out, "2.0.0", "", since(row("1.0.0", carried("2.0.0", 10, false)), before), "2.0.0", decide.FromInstalled},
		"published since":                      {out, "2.5.0", "", since(row("1.0.0", nil), after), "1.0.0", decide.FromChannel},
		"published since, then a rollout":      {out, "2.5.0", "", since(row("1.0.0", carried("2.0.0", 10, true)), after), "1.0.0", decide.FromChannel},
		"published at that moment":             {out, "2.5.0", "", since(row("1.0.0", nil), moved), "1.0.0", decide.FromChannel},
		"does not say what it runs":            {out, "", "2.5.0", since(row("1.0.0", nil), before), "2.5.0", decide.FromHold},
		"was never told anything":              {out, "", "", since(row("1.0.0", nil), before), "1.0.0", decide.FromChannel},
		"runs what was never published":        {out, "0.0.1-dev", "", since(row("1.0.0", nil), before), "1.0.0", decide.FromChannel},
		"the channel's was never bound":        {out, "2.5.0", "", since(row("0.9.0", nil), before), "2.5.0", decide.FromHold},
		"a row without the time of its change": {out, "2.5.0", "", row("1.0.0", carried("2.0.0", 10, false)), "2.5.0", decide.FromHold},
	} {
		t.Run(name, func(t *testing.T) {
			b := of(c.box, c.installed)
			b.Told, b.At = c.told, moved.Add(2*time.Hour)
			got, err := decide.Resolve(b, c.row, shelf("1.0.0", "1.5.0", "2.0.0", "2.5.0"))
			expect.That(t, err == nil && got.Version == c.version && got.Source() == c.source,
				"told %s from %s, %v", got.Version, got.Source(), err)
		})
	}
}

// TestResolve_ABoxThatCameDuringARollout_KeepsALaterRelease that its manufacturer has flashed, until the next publication. What
// was on the channel is not kept: somebody may have gone back from it.
func TestResolve_ABoxThatCameDuringARollout_KeepsALaterRelease(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	during, before := start.Add(time.Hour), start.Add(-time.Hour)
	for name, c := range map[string]struct {
		registered, published time.Time
		runs                  string
		percent               int
		active                bool
		version               string
		source                decide.Source
	}{
		"later than the target, not reached":    {during, before, "2.5.0", 10, true, "2.5.0", decide.FromHold},
		"later than the target, reached":        {during, before, "2.5.0", 100, true, "2.5.0", decide.FromHold},
		"later than the target, and halted":     {during, before, "2.5.0", 10, false, "2.5.0", decide.FromHold},
		"earlier than the target, reached":      {during, before, "1.5.0", 100, true, "2.0.0", decide.FromRollout},
		"earlier than the channel":              {during, before, "0.5.0", 10, true, "1.0.0", decide.FromChannel},
		"what was never published":              {during, before, "9.0.0", 10, true, "1.0.0", decide.FromChannel},
		"what the channel had before":           {during, before, "1.9.0", 10, true, "1.0.0", decide.FromChannel},
		"registered before the rollout started": {before, before, "2.5.0", 10, true, "1.0.0", decide.FromChannel},
		"registered after the rollout ended":    {during.Add(90 * time.Minute), before, "2.5.0", 10, false, "1.0.0", decide.FromChannel},
		"published since":                       {during, during.Add(time.Hour), "2.5.0", 10, true, "1.0.0", decide.FromChannel},
	} {
		t.Run(name, func(t *testing.T) {
			carries := carried("2.0.0", c.percent, c.active)
			carries.StartedAt, carries.ChangedAt = start, during.Add(time.Hour)
			on := row("1.0.0", carries)
			on.PublishedAt, on.Past = c.published, []string{"1.9.0"}
			b := of(box("2.0.0", 10, false), c.runs)
			b.RegisteredAt, b.At = &c.registered, during.Add(2*time.Hour)
			got, err := decide.Resolve(b, on, shelf("0.5.0", "1.0.0", "1.5.0", "1.9.0", "2.0.0", "2.5.0"))
			expect.That(t, err == nil && got.Version == c.version && got.Source() == c.source, "told %s from %s, %v", got.Version, got.Source(), err)
		})
	}
}

func TestResolve_APinnedBox_IsToldThePinUntilItEnds(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pinned := func(e edge.Edge, version string) edge.Edge {
		e.Pin = &report.Pin{Version: version, Until: end}
		return e
	}
	in, out := box("2.0.0", 10, true), box("2.0.0", 10, false)
	for name, c := range map[string]struct {
		box     edge.Edge
		row     release.ChannelRow
		version string
		source  decide.Source
	}{
		"no rollout":            {pinned(in, "1.5.0"), row("1.0.0", nil), "1.5.0", decide.FromPin},
		"in the cohort":         {pinned(in, "1.5.0"), row("1.0.0", carried("2.0.0", 10, true)), "1.5.0", decide.FromPin},
		"runs a halted target":  {pinned(out, "1.5.0"), row("1.0.0", carried("2.0.0", 10, false)), "1.5.0", decide.FromPin},
		"nothing is published":  {pinned(in, "1.5.0"), release.ChannelRow{}, "1.5.0", decide.FromPin},
		"the release is gone":   {pinned(in, "9.0.0"), row("1.0.0", nil), "1.0.0", decide.FromChannel},
		"to what it would have": {pinned(in, "1.0.0"), row("1.0.0", nil), "1.0.0", decide.FromPin},
	} {
		t.Run(name, func(t *testing.T) {
			b := of(c.box, "2.0.0")
			b.At = end.Add(-time.Millisecond)
			got, err := decide.Resolve(b, c.row, shelf("1.0.0", "1.5.0", "2.0.0"))
			expect.That(t, err == nil && got.Version == c.version && got.Source() == c.source,
				"told %s from %s, %v", got.Version, got.Source(), err)
			b.At = end
			if got, err := decide.Resolve(b, c.row, shelf()); got.Source() == decide.FromPin || err != nil {
				t.Errorf("at the end of the pin: told %+v, %v", got, err)
			}
		})
	}
}
