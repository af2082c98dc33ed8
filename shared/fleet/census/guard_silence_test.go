package census_test

import (
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestGuard_Silence_IsJudgedByTheBoxesThatAreNotReached has half the boxes with the release go silent: alone, and then
// together with half of all the others, as in a factory that is switched off.
func TestGuard_Silence_IsJudgedByTheBoxesThatAreNotReached(t *testing.T) {
	for name, c := range map[string]struct {
		othersToo bool
		want      rollout.Status
	}{"the release": {false, rollout.Halted}, "the factory": {true, rollout.Active}} {
		t.Run(name, func(t *testing.T) {
			g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 100, "acme")
			g.raise(50)
			g.now = g.now.Add(time.Second)
			g.poll("1.0.0", g.boxes...)
			g.poll("2.0.0", g.reached()...)
			alive, gone := slices.Clone(g.boxes), []string{}
			for i, id := range g.reached() {
				if i%2 == 0 {
					alive, gone = slices.DeleteFunc(alive, func(other string) bool { return other == id }), append(gone, id)
				}
			}
			if c.othersToo {
				for i, id := range g.boxes {
					if i%2 == 0 && !slices.Contains(g.reached(), id) {
						alive = slices.DeleteFunc(alive, func(other string) bool { return other == id })
					}
				}
			}
			g.now = g.now.Add(11 * time.Minute)
			for _, id := range alive {
				version := "1.0.0"
				if slices.Contains(g.reached(), id) {
					version = "2.0.0"
				}
				g.poll(version, id)
			}
			g.tick(time.Minute)
			v := g.verdict()
			if r := g.rollout(); r.Status != c.want || v.Treated.Boxes == 0 || v.Control.Boxes != len(g.boxes)-len(g.reached()) {
				t.Errorf("the rollout is %s: %s (treated %+v, control %+v)", r.Status, v.Sentence, v.Treated, v.Control)
			}
			search, err := g.progress.Search(g.ctx, owner, g.id, "silent") // a halt can be followed up
			expect.OK(t, err)
			page := expect.Value(search.Page(g.ctx, dynamo.Span{Limit: 100}))(t)
			var listed []string
			for _, b := range page.Items {
				listed = append(listed, b.EdgeID)
			}
			slices.Sort(gone)
			expect.Equal(t, listed, gone, "the silent boxes")
		})
	}
}

// TestGuard_HaltForSilence_CountsTheBoxesThatAreSilentNow: the samples of the count before were a minute old.
func TestGuard_HaltForSilence_CountsTheBoxesThatAreSilentNow(t *testing.T) {
	g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 100, "acme")
	g.raise(50)
	g.now = g.now.Add(time.Second)
	g.poll("1.0.0", g.boxes...)
	g.poll("2.0.0", g.reached()...)
	alive := slices.DeleteFunc(slices.Clone(g.boxes), func(id string) bool { return slices.Index(g.reached(), id)%2 == 0 })
	gone := len(g.boxes) - len(alive)
	for range 12 {
		g.tick(time.Minute)
		if g.rollout().Status == rollout.Halted {
			break
		}
		for _, id := range alive {
			version := "1.0.0"
			if slices.Contains(g.reached(), id) {
				version = "2.0.0"
			}
			g.poll(version, id)
		}
	}
	p, err := g.progress.Rollout(g.ctx, g.id, false, false)
	expect.OK(t, err)
	expect.Equal(t, g.rollout().Status, rollout.Halted, "the rollout is")
	expect.Equal(t, p.Silent.Boxes, gone, "silent boxes of the count that halted it:")
}

func TestGuard_Freeze_HoldsItUp_AndNotItsHalts(t *testing.T) {
	for name, c := range map[string]struct {
		fleet func(*testing.T) *judgedFleet
		want  rollout.Status
		stage int
	}{
		"good": {func(t *testing.T) *judgedFleet {
			g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 10, "acme")
			g.update()
			return g
		}, rollout.Active, 1},
		"bad": {func(t *testing.T) *judgedFleet { return failing(t, dynamotest.Embedded(t), quick()) }, rollout.Halted, 100},
	} {
		t.Run(name, func(t *testing.T) {
			g := c.fleet(t)
			if _, err := freeze.NewStore(g.db).Set(g.ctx, audit.Origin{}, freeze.Wish{Reason: "holidays", Until: g.now.Add(time.Hour)}, input.Preconditions{}); err != nil {
				t.Fatal(err)
			}
			for range 4 {
				g.tick(time.Minute)
			}
			if r := g.rollout(); r.Status != c.want || r.StagedPercent != c.stage {
				t.Errorf("the rollout is %s at %d: %s", r.Status, r.StagedPercent, g.verdict().Sentence)
			}
		})
	}
}
