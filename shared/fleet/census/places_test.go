package census_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

// TestJudge_APlantThatIsOff_DoesNotSpeakForItsOrganization: most boxes with the release happen to be in the plant that is
// off. If only those with the release are silent there, or the boxes are in no plant, it is the release.
func TestJudge_APlantThatIsOff_DoesNotSpeakForItsOrganization(t *testing.T) {
	policy := guard.Default().For(false)
	start := noon.Add(-8 * 24 * time.Hour)
	r := rollout.Rollout{ID: "r", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "2", StagedPercent: 50, Status: rollout.Active, Revision: 1,
		StartedAt: start, StageSince: start, StageStarts: rollout.StageStarts{At1: &start, At10: &start, At50: &start}, Terms: &rollout.Terms{Policy: policy, Revision: 1}}
	for name, c := range map[string]struct {
		plant         string
		controlSilent bool
		want          bool
	}{
		"all of the plant's boxes are silent":  {"off", true, false},
		"only those with the release are":      {"off", false, true},
		"they are silent, and are in no plant": {"", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			count, silent := census.NewCensus(r, noon), map[string]bool{}
			add := func(n int, reached bool, organization, plant string, isSilent bool) {
				for i := 0; n > 0; i++ {
					id := fmt.Sprintf("box-%s-%s-%t-%d", organization, plant, reached, i)
					stage := cohort.FirstStage(r.EdgeType, r.TargetVersion, id)
					if stage <= 50 != reached {
						continue
					}
					e := report.IndexEntry{EdgeID: id, Hash: fmt.Sprintf("%08x", report.Place(id)), OrganizationID: organization, FactoryID: plant, Running: "1"}
					if reached {
						e.Running, e.Version, e.State, e.Stage, e.RolloutID, e.Since = "2", "2", report.Installed, stage, r.ID, start.Add(time.Hour)
					}
					silent[id] = isSilent
					count.Add(e)
					n--
				}
			}
			add(10, true, "acme", c.plant, true)
			add(6, false, "acme", c.plant, c.controlSilent)
			add(2, true, "acme", "on", false)
			add(40, false, "acme", "on", false)
			add(600, true, "other", "other", false)
			add(600, false, "other", "other", false)
			question := census.Ask(count, nil, true)
			var seen []census.Sighting
			for _, e := range question.Boxes() {
				s := census.Sighting{EdgeID: e.EdgeID, OrganizationID: e.OrganizationID, LastSeen: noon,
					Offer: report.Offer{RolloutID: e.RolloutID, Version: e.Version, State: e.State, Since: e.Since}}
				if silent[e.EdgeID] {
					s.LastSeen = noon.Add(-2 * 24 * time.Hour)
				}
				seen = append(seen, s)
			}
			got := question.Judge(seen, nil, nil)
			expect.Equal(t, slices.Contains(got.Reasons, guard.FactoryBad), c.want, "%s", got.Sentence)
		})
	}
}
