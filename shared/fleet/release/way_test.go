package release

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

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
		"a release":                    {Release{}, "1", stones(1), 0, ""},
		"the eighth stone":             {Release{}, "8", stones(8), 0, ""},
		"the ninth stone":              {Release{}, "9", stones(9), 0, problem.RequiresCycle},
		"what was never published":     {Release{}, "9.9", Release{}, 0, problem.ReleaseNotPublished},
		"itself, new":                  {Release{}, "1.0.0", Release{}, 0, problem.RequiresCycle},
		"itself":                       {twin, "1.0.0", twin, 0, problem.RequiresCycle},
		"itself, through others":       {twin, "3", Release{Version: "3", Bound: Bound{Way: twin.Onward()}}, 0, problem.RequiresCycle},
		"a higher order":               {Release{}, "2", stones(2), 19, problem.ValidationFailed},
		"the same order":               {Release{}, "2", stones(2), 20, problem.ValidationFailed},
		"the next order":               {Release{}, "2", stones(2), 21, ""},
		"of the same second":           {Release{}, "1", Release{Version: "1", Bound: Bound{PublishedAt: noon}}, 0, ""},
		"of a tie of the same second":  {Release{}, "1", Release{Version: "1", Bound: Bound{PublishedAt: noon, Lineage: Lineage{Order: noon.Unix() + 1}}}, 0, ""},
		"of the same second, the time": {Release{}, "1", Release{Version: "1", Bound: Bound{PublishedAt: noon}}, noon.Unix(), problem.ValidationFailed},
		"again, nothing said":          {twin, "", Release{}, 0, ""},
		"again, the same":              {twin, "1", stones(1), 0, ""},
		"again, another":               {twin, "2", stones(2), 0, problem.ReleaseImmutable},
		"later, for the first time":    {Release{Version: "1.0.0", Bound: Bound{SHA256: same().SHA256, Lineage: Lineage{Order: 99}}}, "1", stones(1), 0, problem.ReleaseImmutable},
	} {
		t.Run(name, func(t *testing.T) {
			p := same()
			p.Requires, p.Order = c.requires, c.order
			err := c.known.MayRequire(c.known.Ordered(p, c.stone, noon), c.stone, noon)
			if c.refused != "" && !problem.Has(err, c.refused) || c.refused == "" && err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOrdered_ManyInOneSecond_EachIsAboveWhatItRequires: whatever the clocks say, if the publications say no order.
func TestOrdered_ManyInOneSecond_EachIsAboveWhatItRequires(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stone Release
		for i := range MostStones {
			at := noon.Add(time.Duration(rapid.IntRange(-1500, 1500).Draw(t, "ms")) * time.Millisecond)
			p := same()
			p.CurrentVersion, p.Requires = fmt.Sprint(i+1), stone.Version
			p = Release{}.Ordered(p, stone, at)
			expect.OK(t, Release{}.MayRequire(p, stone, at))
			next := Release{}.Published(p, stone.Onward(), at)
			expect.Must(t, i == 0 || next.Rank() > stone.Rank(), "%d requires %d", next.Rank(), stone.Rank())
			expect.Must(t, next.Rank() == max(at.Unix(), stone.Rank()+1) || i == 0, "%d at %d after %d", next.Rank(), at.Unix(), stone.Rank())
			again := next.Ordered(p, stone, at.Add(time.Hour)) // the same publication, repeated
			expect.OK(t, next.MayRequire(again, stone, at.Add(time.Hour)))
			stone = next
		}
	})
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
