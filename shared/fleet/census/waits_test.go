package census_test

import (
	"fmt"
	"testing"
	"time"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestWaits_OfEachBox_AreWhatWhySays: in plants with a window, with a pause and with neither, in groups, pinned, told before
// the plant closed, and without a first poll.
func TestWaits_OfEachBox_AreWhatWhySays(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 1)
	plants := map[string]*calendar.Updates{"open": nil,
		"closed": {TimeZone: "UTC", Windows: []calendar.Hours{{Days: calendar.Days, From: "01:00", To: "02:00"}}},
		"paused": {PausedUntil: new(f.now.Add(48 * time.Hour)), Reason: "stocktaking"}}
	names := []string{"open", "closed", "paused", ""}
	var ids []string
	for i := range 96 {
		id, factory, group := fmt.Sprintf("box-%02d", i), names[i%4], ""
		if factory != "" && i%3 == 0 {
			group = fmt.Sprint("pair-", i/24)
		}
		a := edge.Assignment{EdgeType: f.edgeType, Channel: f.channel, OrganizationID: "acme", FactoryID: &factory, Group: &group}
		_, err := f.registry.Put(f.ctx, audit.Origin{}, id, a, input.Preconditions{})
		expect.OK(t, err)
		if i%7 > 0 {
			f.poll(t, id, "1.0.0")
		}
		if i%11 == 0 && i%7 > 0 {
			a.Pin = &edge.PinRequest{Version: "1.0.0", Reason: "a test"}
			_, err = f.registry.Put(f.ctx, audit.Origin{}, id, a, input.Preconditions{})
			expect.OK(t, err)
		}
		ids = append(ids, id)
	}
	f.start(t, 100) // all are reached, whatever their type is called
	for i, id := range ids {
		if i%5 == 0 {
			f.poll(t, id, "1.0.0")
		}
	}
	for id, updates := range plants {
		expect.OK(t, f.db.Put(f.ctx, dynamo.Factories, nil, plant.Plant{FactoryID: id, Updates: updates}, dynamo.Condition{}))
	}
	want, kinds := map[string]string{}, map[string]bool{}
	for _, id := range ids {
		why, err := f.progress.Why(f.ctx, owner, id)
		expect.OK(t, err)
		if why.Source == decide.FromWaits {
			want[id] = fmt.Sprint(why.Reason, why.OpensAt)
			kinds[string(why.Reason)] = true
		}
	}
	expect.Equal(t, kinds, map[string]bool{calendar.ForWindow: true, calendar.ForPause: true, calendar.ForGroup: true}, "the boxes wait for")
	got, span := map[string]string{}, dynamo.Span{Limit: 7}
	for {
		page, err := edge.NewStore(f.db).Waiting(decide.Waiting(f.db, ratelimit.LastSeen(f.api))).List(f.ctx, edge.Filter{OrganizationID: "acme", State: "waiting"}, span)
		expect.OK(t, err)
		for _, e := range page.Items {
			got[e.EdgeID] = fmt.Sprint(e.Waits, e.OpensAt)
		}
		if span.After = page.Last; !page.More {
			break
		}
	}
	expect.Equal(t, got, want, "the list has")
}
