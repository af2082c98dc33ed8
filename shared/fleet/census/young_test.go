package census_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestGuard_ItsPromotions_TellNewBoxesAStageLater, through the store and the channel's row.
func TestGuard_ItsPromotions_TellNewBoxesAStageLater(t *testing.T) {
	g := newJudgedFleet(t, dynamotest.Embedded(t), quick(), 60, "acme", "initech")
	for range 12 {
		g.update()
		g.tick(time.Minute)
		if g.rollout().StagedPercent == 10 {
			break
		}
	}
	r := g.rollout()
	expect.Must(t, r.StagedPercent == 10 && len(r.YoungAt) == 1 && r.YoungAt[0].Equal(r.StageSince), "at %d percent, steps at %v", r.StagedPercent, r.YoungAt)
	g.now = g.now.Add(2 * time.Second)
	var id string
	for i := 0; id == ""; i++ { // one that the first stage would reach
		if name := fmt.Sprintf("%s-new-%d", g.boxes[0], i); cohort.FirstStage(g.edgeType, "2.0.0", name) == 1 {
			id = name
		}
	}
	expect.Value(g.registry.Put(g.ctx, audit.Origin{}, id, edge.Assignment{EdgeType: g.edgeType, Channel: g.channel, OrganizationID: "acme"}, input.Preconditions{}))(t)
	g.poll("1.0.0", id)
	expect.Equal(t, g.told(id), "1.0.0", "a new box is told")
	why := expect.Value(g.progress.Why(g.ctx, owner, id))(t)
	expect.That(t, strings.Contains(why.Sentence, "such boxes come at least a stage later"), "%s", why.Sentence)
	for range 12 {
		g.update()
		g.tick(time.Minute)
		if g.rollout().StagedPercent == 50 {
			break
		}
	}
	expect.Equal(t, len(g.rollout().YoungAt), 2, "at 50 percent, the steps are")
	expect.Equal(t, g.told(id), "2.0.0", "a stage later, it is told")
}
