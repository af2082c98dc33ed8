package census_test

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// TestRollout_BoxesOnTheWay_AreToldAndHaveNotTakenIt: 3.0.0 requires 2.1.0. One box runs the stone, one failed at it, one fell
// back from it, and one has the target.
func TestRollout_BoxesOnTheWay_AreToldAndHaveNotTakenIt(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 1)
	f.later(time.Second) // orders are times in seconds
	f.publish(t, "canary", "2.1.0")
	f.later(time.Second)
	_, err := f.publications.Publish(f.ctx, audit.Origin{}, release.Publication{EdgeType: f.edgeType, Channel: "canary", CurrentVersion: "3.0.0",
		SHA256: "3.0.0", Lineage: release.Lineage{Requires: "2.1.0"}}, input.Preconditions{})
	expect.OK(t, err)
	boxes := []string{}
	for i := range 4 {
		boxes = append(boxes, fmt.Sprintf("%s-%d", f.edgeType, i))
		f.register(t, boxes[i], f.channel, "")
	}
	id, err := f.rollouts.Start(f.ctx, audit.Origin{}, rollout.Plan{EdgeType: f.edgeType, Channel: f.channel, TargetVersion: "3.0.0"}, idempotency.Claim{})
	expect.OK(t, err)
	for _, stage := range cohort.Stages[1:] {
		f.move(t, id, rollout.Move{StagedPercent: &stage})
	}
	for _, box := range boxes {
		f.poll(t, box, "1.0.0")
	}
	expect.Value(f.reports.Take(f.ctx, auth.Principal{Issuer: fleetIssuer, UserID: boxes[1]}, boxes[1],
		report.Outcome{Version: "2.1.0", Attempt: 1, State: report.Failed, Code: report.CodeBoot, At: f.now}))(t)
	for _, box := range []string{boxes[0], boxes[2], boxes[3]} {
		f.poll(t, box, "2.1.0")
	}
	f.poll(t, boxes[2], "1.0.0")
	f.poll(t, boxes[3], "3.0.0")
	expect.Equal(t, census.Total(f.count(t, id).Stages), guard.Counts{Expected: 4, Offered: 2, Failed: 1, Installed: 1}, "all boxes")
	found := expect.Value(f.progress.Search(f.ctx, owner, id, report.Failed))(t)
	page := expect.Value(found.Page(f.ctx, dynamo.Span{Limit: 10}))(t)
	expect.Equal(t, fmt.Sprint(len(page.Items), page.Items[0].EdgeID, page.Items[0].Version, page.Items[0].Code), fmt.Sprint(1, boxes[1], "2.1.0", "boot"), "the failed box")
	row := expect.Value(report.NewStore(f.db, 1).Get(f.ctx, boxes[2]))(t)
	expect.Equal(t, row.Offer.Code, report.CodeReverted, "what the box did that fell back")
}
