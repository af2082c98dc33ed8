package polling_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// withoutAcme brings a version to everyone but the organization of the place's box, and completes its rollout.
func (p *place) withoutAcme(t *testing.T, plan rollout.Plan) {
	t.Helper()
	ctx, rollouts := admission.Unlimited(t.Context()), rollout.NewStore(p.db)
	p.publish(t, "lab-"+p.box.Channel, plan.TargetVersion)
	plan.EdgeType, plan.Channel = p.box.EdgeType, p.box.Channel
	id := expect.Value(rollouts.Start(ctx, audit.Origin{}, plan, idempotency.Claim{}))(t)
	moves := []rollout.Move{{Status: rollout.Active, Without: []string{p.box.OrganizationID}}}
	for _, percent := range []int{10, 50, 100} {
		moves = append(moves, rollout.Move{StagedPercent: &percent})
	}
	for _, move := range append(moves, rollout.Move{Status: rollout.Completed}) {
		expect.Value(rollouts.Move(ctx, audit.Origin{}, id, move, input.Preconditions{}))(t)
	}
}

// told is what the box is told, by a poll that reads the channel.
func (p *place) told(t *testing.T, runs string) string {
	t.Helper()
	p.forget()
	m := p.ask(t, runs, "").Manifest
	return m.Version + " " + string(m.Source)
}

// TestPoll_LeftOutOfACompletedRollout_KeepsWhatItRuns: the target of an earlier rollout, and what the channel had before.
func TestPoll_LeftOutOfACompletedRollout_KeepsWhatItRuns(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		rollouts, id := p.rollOut(t, "2.0.0")
		expect.Equal(t, p.told(t, "2.0.0"), "2.0.0 rollout", "what the first rollout brings is")
		expect.Value(rollouts.Move(admission.Unlimited(t.Context()), audit.Origin{}, id, rollout.Move{Status: rollout.Halted}, input.Preconditions{}))(t)
		p.withoutAcme(t, rollout.Plan{TargetVersion: "30.0.0"})
		p.withoutAcme(t, rollout.Plan{TargetVersion: "40.0.0"})
		for runs, want := range map[string]string{"2.0.0": "2.0.0 kept", "1.0.0": "1.0.0 kept", "0.9.0": "1.0.0 kept", "30.0.0": "30.0.0 kept", "40.0.0": "40.0.0 channel"} {
			expect.Equal(t, p.told(t, runs), want, "a box that runs %s is told", runs)
		}
	})
}

// TestPoll_WhatABoxKeeps_IsNotHurriedByAnotherVersion: the channel's version is urgent, and the box's organization was left
// out of it.
func TestPoll_WhatABoxKeeps_IsNotHurriedByAnotherVersion(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		id, until := "plant-"+uuid.NewString(), time.Now().Add(72*time.Hour)
		p.box.FactoryID = &id
		p.register(t)
		paused := plant.Plant{FactoryID: id, Updates: &calendar.Updates{PausedUntil: &until, Reason: "stocktaking"}}
		expect.OK(t, p.db.Put(admission.Unlimited(t.Context()), dynamo.Factories, nil, paused, dynamo.Absent("factoryId")))
		p.publish(t, p.box.Channel, "2.0.0")
		p.withoutAcme(t, rollout.Plan{TargetVersion: "30.0.0", Urgent: true})
		expect.Equal(t, p.told(t, "1.0.0"), "1.0.0 waits", "told in a pause")
		expect.That(t, strings.HasSuffix(p.told(t, ""), string(decide.FromWaits)), "a box that does not say what it runs does not wait")
	})
}
