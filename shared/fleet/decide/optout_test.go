package decide_test

import (
	"testing"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// TestOptOut_TheWayBack_PassesAllButAnOptOutOfAll: boxes with a release that was returned go back, unless their plant takes nothing
// at all.
func TestOptOut_TheWayBack_PassesAllButAnOptOutOfAll(t *testing.T) {
	for of, want := range map[calendar.Scope]string{calendar.OfOrdinary: "1.0.0 channel", calendar.OfAll: "2.0.0 waits"} {
		h := newHouse(t, dynamotest.Embedded(t))
		h.publish("lab", "2.0.0", described, release.Lineage{Order: 1<<30 + 1})
		h.publish("stable", "1.0.0", described, release.Lineage{Order: 1 << 30})
		h.put("box", "stable", "")
		h.poll("box", "1.0.0")
		id := expect.Value(h.rollouts.Start(h.ctx(), audit.Origin{}, rollout.Plan{EdgeType: h.name, Channel: "stable", TargetVersion: "2.0.0"}, idempotency.Claim{}))(t)
		moves := func(m rollout.Move) {
			expect.Value(h.rollouts.Move(h.ctx(), audit.Origin{}, id, m, input.Preconditions{}))(t)
		}
		for _, percent := range []int{10, 50, 100} {
			moves(rollout.Move{StagedPercent: &percent})
		}
		h.poll("box", "1.0.0")
		h.poll("box", "2.0.0")
		h.optsOut(of)
		moves(rollout.Move{Status: rollout.Halted, Return: true})
		expect.Equal(t, h.manifest("box", "2.0.0"), want, "%s: told", of)
	}
}
