package polling_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestGroup_TwoBoxesPollAtOnce_OneIsTold, each from a container of its own, also while another box joins the group and the
// plant begins to pause.
func TestGroup_TwoBoxesPollAtOnce_OneIsTold(t *testing.T) {
	rounds := expect.Long(5, 150)
	polled(t, func(t *testing.T, p *place) {
		ctx := admission.Unlimited(t.Context())
		for range rounds {
			factory, group := "f-"+uuid.NewString(), "pair"
			assignment := p.box
			assignment.FactoryID, assignment.Group = &factory, &group
			boxes := []string{"a-" + uuid.NewString(), "b-" + uuid.NewString()}
			ask := func(id string) (string, error) {
				polls := polling.NewPolls(p.db, polling.Settings{PollInterval: time.Minute, Shards: 1}, nil, time.Now)
				reply, err := polls.Answer(ctx, polling.Poll{EdgeID: id, Installed: "0.9.0", Caller: id, Subject: id})
				return reply.Manifest.Version, err
			}
			put := func(id string) {
				expect.Value(p.registry.Put(ctx, audit.Origin{}, id, assignment, input.Preconditions{}))(t)
			}
			for _, id := range boxes {
				put(id)
			}
			told := make([]string, 2)
			errs := make([]error, 2)
			var all sync.WaitGroup
			for i, id := range boxes {
				all.Go(func() { told[i], errs[i] = ask(id) })
			}
			all.Go(func() { put("c-" + uuid.NewString()) })
			all.Go(func() {
				until := time.Now().Add(time.Hour)
				_ = p.db.Put(ctx, dynamo.Factories, nil, plant.Plant{FactoryID: factory, Updates: &calendar.Updates{PausedUntil: &until}}, dynamo.Absent("factoryId"))
			})
			all.Wait()
			n := 0
			for i, id := range boxes {
				row := expect.Value(p.reports.Get(ctx, id))(t)
				if (told[i] == "1.0.0") != (row.Offer != nil) && errs[i] == nil {
					t.Fatalf("%s is told %q, and its row has %+v", id, told[i], row.Offer)
				}
				if row.Offer != nil {
					n++
				}
			}
			expect.Must(t, n <= 1, "both boxes of a pair are told at once")
		}
	})
}
