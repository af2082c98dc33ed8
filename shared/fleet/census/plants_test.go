package census

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

// TestPlants_DarkSoonAfterABoxWasTold_AreDown: others are dark for another reason, and those of two boxes say nothing.
func TestPlants_DarkSoonAfterABoxWasTold_AreDown(t *testing.T) {
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	policy := guard.Default()
	g := &Groups{policy: policy, at: start.Add(6 * time.Hour), of: rollout.Rollout{ID: "r", StartedAt: start, Terms: &rollout.Terms{Policy: policy}}}
	for name, c := range map[string]struct {
		boxes  int
		silent int           // of them, since
		last   time.Duration // after the start
		told   time.Duration // when one was told; 0: none
		spoke  time.Duration // when that box said something new about it, if not at once
		want   guard.Plants
	}{
		"lit, and told":                               {5, 0, 0, time.Hour, 0, guard.Plants{Told: 1}},
		"lit, and not told":                           {5, 0, 0, 0, 0, guard.Plants{Others: 1}},
		"dark ten minutes after":                      {5, 5, 70 * time.Minute, time.Hour, 0, guard.Plants{Told: 1, Down: 1}},
		"four of five are":                            {5, 4, 70 * time.Minute, time.Hour, 0, guard.Plants{Told: 1, Down: 1}},
		"three of five are":                           {5, 3, 70 * time.Minute, time.Hour, 0, guard.Plants{Told: 1}},
		"dark two hours after":                        {5, 5, 3 * time.Hour, time.Hour, 0, guard.Plants{Others: 1, OthersDark: 1}},
		"dark ten minutes after, and it speaks later": {5, 4, 70 * time.Minute, time.Hour, 5 * time.Hour, guard.Plants{Told: 1, Down: 1}},
		"dark ten minutes after it installed":         {5, 5, 4*time.Hour + 10*time.Minute, time.Hour, 4 * time.Hour, guard.Plants{Told: 1, Down: 1}},
		"dark before it was told":                     {5, 5, time.Hour, 2 * time.Hour, 0, guard.Plants{Others: 1, OthersDark: 1}},
		"dark, and not told":                          {5, 5, time.Hour, 0, 0, guard.Plants{Others: 1, OthersDark: 1}},
		"two boxes, dark ten minutes on":              {2, 2, 70 * time.Minute, time.Hour, 0, guard.Plants{}},
		"off since before the rollout":                {5, 5, -time.Hour, 0, 0, guard.Plants{}},
	} {
		p := plants{}
		for i := range c.boxes {
			b := lookedUp{report.IndexEntry{EdgeID: fmt.Sprint(i), FactoryID: "plant"}, Sighting{LastSeen: g.at.Add(-time.Minute)}}
			if i < c.silent {
				b.seen.LastSeen = start.Add(c.last)
			}
			if i == 0 && c.told != 0 {
				b.seen.Offer = report.Offer{RolloutID: "r", ToldAt: start.Add(c.told), Since: start.Add(max(c.told, c.spoke))}
			}
			p.add(g, b)
		}
		expect.Equal(t, p.count(), c.want, "%s:", name)
	}
}
