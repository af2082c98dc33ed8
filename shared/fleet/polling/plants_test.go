package polling_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/plant"
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
		expect.Equal(t, m.Version+" "+string(m.Source), "1.5.0 "+string(decide.FromWaits), "told")
		expect.Equal(t, p.row(t).Offer.State, report.Reverted, "after")
	})
}
