package release

import (
	"fmt"
	"testing"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// stones makes releases 1 to n, each of which requires the one before, with orders 10, 20 and so on.
func stones(n int) (last Release) {
	for i := range n {
		way, before := last.Onward(), last.Version
		last = Release{Version: fmt.Sprint(i + 1), Bound: Bound{SHA256: same().SHA256, Lineage: Lineage{Order: int64(10 * (i + 1)), Requires: before}, Way: way}}
	}
	return last
}

func TestMayRequire_EveryRefusal(t *testing.T) {
	twin := stones(2)
	twin.Version, twin.Order = "1.0.0", 15
	for name, c := range map[string]struct {
		known    Release
		requires string
		stone    Release
		order    int64
		refused  problem.Code
	}{
		"a release":                     {Release{}, "1", stones(1), 0, ""},
		"the eighth stone":              {Release{}, "8", stones(8), 0, ""},
		"the ninth stone":               {Release{}, "9", stones(9), 0, problem.RequiresCycle},
		"what was never published":      {Release{}, "9.9", Release{}, 0, problem.ReleaseNotPublished},
		"itself, new":                   {Release{}, "1.0.0", Release{}, 0, problem.RequiresCycle},
		"itself":                        {twin, "1.0.0", twin, 0, problem.RequiresCycle},
		"itself, through others":        {twin, "3", Release{Version: "3", Bound: Bound{Way: twin.Onward()}}, 0, problem.RequiresCycle},
		"a higher order":                {Release{}, "2", stones(2), 19, problem.ValidationFailed},
		"the same order":                {Release{}, "2", stones(2), 20, problem.ValidationFailed},
		"the next order":                {Release{}, "2", stones(2), 21, ""},
		"the default order is the time": {Release{}, "1", Release{Version: "1", Bound: Bound{PublishedAt: noon}}, 0, problem.ValidationFailed},
		"again, nothing said":           {twin, "", Release{}, 0, ""},
		"again, the same":               {twin, "1", stones(1), 0, ""},
		"again, another":                {twin, "2", stones(2), 0, problem.ReleaseImmutable},
		"later, for the first time":     {Release{Version: "1.0.0", Bound: Bound{SHA256: same().SHA256, Lineage: Lineage{Order: 99}}}, "1", stones(1), 0, problem.ReleaseImmutable},
	} {
		t.Run(name, func(t *testing.T) {
			p := same()
			p.Requires, p.Order = c.requires, c.order
			err := c.known.MayRequire(p, c.stone, noon)
			if c.refused != "" && !problem.Has(err, c.refused) || c.refused == "" && err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWay_TheNextStone_IsTheLowestAboveWhatTheBoxRuns(t *testing.T) {
	way := stones(3).Onward()
	expect.Equal(t, way, Way{{"3", 30}, {"2", 20}, {"1", 10}}, "the way")
	for order, want := range map[int64]string{0: "1", 9: "1", 10: "2", 19: "2", 20: "3", 29: "3", 30: "", 40: ""} {
		next, below := way.Next(order)
		expect.Equal(t, next.Version, want, "after order %d", order)
		expect.Equal(t, below, want != "", "below, at order %d", order)
	}
}

// TestShowing_ARow_KnowsTheWaysOfWhatItTells: of its version, of the targets that it remembers and of what others keep.
func TestShowing_ARow_KnowsTheWaysOfWhatItTells(t *testing.T) {
	release := func(version string, way Way) Release { return Release{Version: version, Bound: Bound{Way: way}} }
	short, long := Way{{"0.9", 9}}, Way{{"1.5", 15}, {"0.9", 9}}
	row := published(nil).Showing(release("1.0.0", short))
	row = row.Begin(Carried{ID: "r", TargetVersion: "2.0.0"}).Showing(release("2.0.0", long))
	row = row.Begin(Carried{ID: "s", TargetVersion: "3.0.0", Telling: Telling{Without: []string{"acme"}}}).Showing(release("3.0.0", nil))
	ways := []Path{{"1.0.0", short}, {"2.0.0", long}}
	expect.Equal(t, row.Ways, ways, "the ways during the second rollout")
	expect.Equal(t, []bool{row.Knows("1.5"), row.Knows("15"), row.Knows("0.9")}, []bool{true, false, true}, "stones that it knows")
	adopted := row.Adopt(*row.Rollout, release("3.0.0", nil), noon)
	expect.Equal(t, adopted.Ways, ways, "the ways after the second rollout, with what acme keeps")
	p := same()
	p.CurrentVersion = "4.0.0"
	expect.Equal(t, len(adopted.Publish(p, noon).Showing(release("4.0.0", nil)).Ways), 0, "ways after a publication")
}
