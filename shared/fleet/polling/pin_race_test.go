package polling_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestRaces_APinBesideAnotherChange_IsAsIfOneCameFirst: the registration and the report row never differ, and each change
// has one event.
func TestRaces_APinBesideAnotherChange_IsAsIfOneCameFirst(t *testing.T) {
	rounds := expect.Long(5, 150)
	for name, other := range map[string]func(ctx context.Context, p *place) error{
		"a move": func(ctx context.Context, p *place) error {
			moved := p.box
			moved.Channel = "lab-" + p.box.Channel
			_, err := p.registry.Put(ctx, audit.Origin{}, p.id, moved, input.Preconditions{})
			return err
		},
		"a retirement": func(ctx context.Context, p *place) error {
			return p.registry.Retire(ctx, audit.Origin{}, p.id, input.Preconditions{})
		},
		"a publication": func(_ context.Context, p *place) error {
			p.publish(t, p.box.Channel, "1.1.0")
			return nil
		},
		"a report": func(ctx context.Context, p *place) error {
			_, err := p.polls.Answer(ctx, polling.Poll{EdgeID: p.id, Installed: "1.0.0", Caller: "the box", Subject: "its subject"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamotest.Embedded(t)
			for range rounds {
				p := newPlace(t, client)
				p.db = dynamo.Open(dynamotest.Uneven{API: client}, time.Now)
				p.registry = edge.NewRegistry(p.db, 1).For(owner)
				p.publish(t, "lab-"+p.box.Channel, "7.0.0")
				p.ask(t, "1.0.0", "")
				pinned := p.box
				pinned.Pin = &edge.PinRequest{Version: "7.0.0", Reason: "a test"}
				var pinErr, otherErr error
				var both sync.WaitGroup
				ctx := admission.Unlimited(t.Context())
				both.Go(func() { _, pinErr = p.registry.Put(ctx, audit.Origin{}, p.id, pinned, input.Preconditions{}) })
				both.Go(func() { otherErr = other(ctx, p) })
				both.Wait()
				for _, err := range []error{pinErr, otherErr} {
					if err != nil && !problem.Has(err, problem.Conflict) && !problem.Has(err, problem.NotFound) {
						t.Fatal(err)
					}
				}
				p.whole(t)
			}
		})
	}
}

// whole checks that the box's registration and its report row agree, and that each of its revisions has one event.
func (p *place) whole(t *testing.T) {
	t.Helper()
	var e edge.Edge
	_, err := p.db.Get(t.Context(), dynamo.Edges, dynamo.Key{"edgeId": p.id}, &e)
	expect.OK(t, err)
	row := p.row(t)
	got := report.Registration{EdgeID: row.EdgeID, EdgeType: row.EdgeType, Channel: row.Channel, OrganizationID: row.OrganizationID, At: row.EdgeAt,
		First: e.CreatedAt, Pin: row.Pin, Hold: row.Hold, Retired: row.Retired}
	if diff := cmp.Diff(e.Registration(), got); diff != "" {
		t.Fatalf("the registration and the row differ: %s", diff)
	}
	events, err := audit.NewLog(p.db).List(t.Context(), audit.Box(p.id), audit.Filter{ResourceType: "edge", ResourceID: p.id}, "", 100)
	expect.OK(t, err)
	expect.Equal(t, int64(len(events.Items)), e.Revision, "events of the box")
}
