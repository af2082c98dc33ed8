package polling_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestPoll_FallsBackWhileItsPlantIsClosed_IsSeen: a waiting box is told what it runs, which must not look as if it had followed an
// answer. The box ran the target before the rollout reached it, so it may fall back to anything.
func TestPoll_FallsBackWhileItsPlantIsClosed_IsSeen(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		id := "plant-" + uuid.NewString()
		p.box.FactoryID = &id
		p.register(t)
		p.ask(t, "2.0.0", "")
		p.rollOut(t, "2.0.0")
		p.ask(t, "2.0.0", "")
		expect.Equal(t, p.row(t).Offer.State, report.Installed, "before")
		until := time.Now().Add(time.Hour)
		closed := plant.Plant{FactoryID: id, Updates: &calendar.Updates{PausedUntil: &until, Reason: "a test"}}
		expect.OK(t, p.db.Put(admission.Unlimited(t.Context()), dynamo.Factories, nil, closed, dynamo.Absent("factoryId")))
		p.forget()
		m := p.ask(t, "1.5.0", "").Manifest
		expect.Equal(t, m.Version+" "+string(m.Source), "1.5.0 "+string(polling.FromWaits), "told")
		expect.Equal(t, p.row(t).Offer.State, report.Reverted, "after")
	})
}

func TestPatience_BelowTheLastStage_AndByThePolicy_IsLonger(t *testing.T) {
	row := func(percent int) release.ChannelRow {
		return release.ChannelRow{Rollout: &release.Carried{ID: "r", StagedPercent: percent, Active: true}}
	}
	reached := polling.Resolution{Source: polling.FromRollout, RolloutID: "r"}
	expect.Equal(t, polling.Patience(reached, row(50)), report.Patience{Proof: 4 * time.Hour, DecideWithin: time.Hour}, "at 50 percent")
	expect.Equal(t, polling.Patience(reached, row(100)), report.Patience{Proof: 10 * time.Minute, DecideWithin: time.Hour}, "at 100 percent")
	expect.Equal(t, polling.Patience(polling.Resolution{Source: polling.FromChannel}, release.ChannelRow{}), report.Patience{Proof: 10 * time.Minute, DecideWithin: time.Hour}, "after a publication")
	slow := row(100)
	slow.Telling = release.Telling{TellingID: "r", DecideWithin: 21600}
	expect.Equal(t, polling.Patience(reached, slow).DecideWithin, 6*time.Hour, "by a policy of six hours")
	slow.TellingID = "another"
	expect.Equal(t, polling.Patience(reached, slow).DecideWithin, time.Hour, "by the policy of another rollout")
}
