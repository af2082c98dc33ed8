package guard_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/stats"
	"wavegate/shared/testing/expect"
)

// A growth is how a channel of 1,000 boxes grows by a share while a rollout is at 10 percent. The release kills all new boxes or none,
// and others are silent anyway, by plants of 50.
type growth struct {
	share, silence float64
	brick          bool
}

// plays plays the stages 50 and 100, each looked at once after half an hour and judged once when it has soaked, and returns how many
// new boxes are dead, and whether the rollout was completed.
func (g growth) plays(r *rand.Rand, seed int) (dead int, completed bool, v guard.Verdict) {
	const old, organizations = 1000, 5
	start := now.Add(-9 * 24 * time.Hour)
	of := release.Carried{TargetVersion: fmt.Sprint("2.0.", seed), StartedAt: start}
	off := make([]bool, old/50)
	for i := range off {
		off[i] = r.Float64() < g.silence
	}
	boxes := make([]bool, int(g.share*old)) // told
	quiet := make([]bool, len(boxes))
	for i := range quiet {
		quiet[i] = off[r.IntN(len(off))]
	}
	control := guard.Group{Boxes: 500}
	for range 500 {
		control.Silent += count(off[r.IntN(len(off))])
	}
	var young *guard.Young
	for step, percent := range []int{50, 100, 100, 100} {
		of.StagedPercent, of.Young = percent, of.Further(now.Add(time.Duration(step)*time.Hour))
		y := guard.Young{At: now, Number: 1, By: map[string]guard.Share{}, Control: control}
		if young != nil {
			y.Number, y.Holds = young.Number+1, young.Holds
		}
		harmed := map[string]bool{}
		for i := range boxes {
			organization := fmt.Sprint("o", i%organizations)
			boxes[i] = of.Reaches("gateway-x", fmt.Sprint("box-", i), organization, now.Add(-time.Hour), boxes[i])
			one := guard.Group{Boxes: 1, Silent: count(quiet[i] || boxes[i] && g.brick)}
			if !boxes[i] {
				y.Control = y.Control.Plus(one)
				continue
			}
			y.Told, y.Treated = y.Told+1, y.Treated.Plus(one)
			y.By[organization] = y.By[organization].Plus(guard.Share{Told: 1, Treated: one})
			harmed[organization] = harmed[organization] || one.Silent > 0
		}
		for _, is := range harmed {
			y.Organizations += count(is)
		}
		e := healthy(percent)
		e.Newcomers = guard.Newcomers{Untold: len(boxes) - y.Told, At: now.Add(-25 * time.Hour), Steps: step + 1, Stopped: of.YoungStopped}
		for i := range e.Stages { // a fleet of 1,000
			s := &e.Stages[i]
			s.Counts = guard.Counts{Expected: s.Expected / 10, Installed: s.Installed / 10}
		}
		if y.Told > 0 {
			e.Young, e.YoungNew = &y, true
		}
		v = guard.Decide(acting(), e, now)
		of.Young = of.StopFor(v.YoungStop)
		if young = v.Young; v.Action == guard.Complete {
			return len(boxes) * count(g.brick), true, v
		}
		if v.Action == guard.Hold && !v.Steps {
			break
		}
	}
	for i := range boxes {
		dead += count(boxes[i] && g.brick)
	}
	return dead, false, v
}

// TestPower_AFleetThatGrows prints how often a release that kills only new boxes is completed, how many it kills, and how often a good
// one is held. Bounds are one-sided, of 95 percent.
func TestPower_AFleetThatGrows(t *testing.T) {
	draws := expect.Long(150, 3000)
	for _, g := range []growth{{0.02, 0, true}, {0.1, 0, true}, {0.3, 0, true}, {0.3, 0.3, true}, {0.1, 0, false}, {0.3, 0, false}, {0.1, 0.3, false}, {0.3, 0.3, false}, {0.3, 0.02, false}} {
		r := rand.New(rand.NewPCG(72, 1))
		completed, dead, most := 0, 0, 0
		var last guard.Verdict
		for seed := range draws {
			n, is, v := g.plays(r, seed)
			completed += count(is)
			if !is {
				dead, most, last = dead+n, max(most, n), v
			}
		}
		held := draws - completed
		t.Logf("%+v: %d of %d held (%.1f to %.1f %%), dead if held: mean %.1f, most %d: %s", g, held, draws, 100*stats.Lower(held, draws, 0.05), 100*stats.Upper(held, draws, 0.05),
			float64(dead)/float64(max(held, 1)), most, last.Sentence)
		switch boxes := 1000 * (1 + g.share); {
		case !g.brick:
			expect.That(t, stats.Lower(held, draws, 0.05) <= 0.05, "%+v: %d good ones are held", g, held)
		case g.share >= 0.1:
			expect.That(t, completed == 0 && float64(most) <= 0.11*boxes, "%+v: %d were completed, and killed %d at most", g, completed, most)
		}
	}
}
