package method_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// besides are changes of machines that are made beside a move: press-1 has version 2, and press-2 gets the class late.
var besides = []struct {
	name, code string
	change     machine.Registration
	confirms   bool
	box        func(context.Context, *edge.Registry, string) error
}{
	{name: "press-1 loses its class", code: "press-1", change: machine.Registration{Classes: []string{}}},
	{name: "press-2 gets the class", code: "press-2", change: machine.Registration{Classes: []string{"press"}}},
	{name: "press-2 is admitted", code: "press-2", change: machine.Registration{Classes: []string{"press"}, Admission: "inspected"}},
	{name: "press-1 is renamed", code: "press-1", change: machine.Registration{Name: "Press 1"}},
	{name: "press-1 is scrapped", code: "press-1", change: machine.Registration{Scrapped: "sold"}},
	{name: "press-2 is back", code: "press-2", change: machine.Registration{Returned: true, Classes: []string{"press"}}},
	{name: "press-1 loses its box", code: "press-1", change: machine.Registration{EdgeID: new("")}},
	{name: "press-1 is confirmed", code: "press-1", confirms: true},
	{name: "its box leaves", box: func(ctx context.Context, r *edge.Registry, id string) error { return sendAway(ctx, r, id, "") }},
	{name: "its box leaves, signed", box: func(ctx context.Context, r *edge.Registry, id string) error { return sendAway(ctx, r, id, "sold") }},
	{name: "its box is retired", box: func(ctx context.Context, r *edge.Registry, id string) error {
		return r.Retire(ctx, origin, id, input.Preconditions{})
	}},
	{name: "press-1 is registered elsewhere", box: func(ctx context.Context, r *edge.Registry, id string) error {
		if err := r.Retire(ctx, origin, id, input.Preconditions{}); err != nil {
			return err
		}
		return sendAway(ctx, r, id, "")
	}},
}

func sendAway(ctx context.Context, r *edge.Registry, id, signed string) error {
	none := ""
	_, err := r.Put(ctx, origin, id, edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", FactoryID: &none, Departure: signed}, input.Preconditions{})
	return err
}

// TestRaces_MachinesBesideMoves_AreToldWhatTheyAreListedFor makes each change of a machine beside each withdrawal and
// approval, and each move of the box of press-1, and then withdraws everything: each machine on a list is told, and shown
// as without a box if it has none. RACE_ROUNDS is the number of rounds of a pair.
func TestRaces_MachinesBesideMoves_AreToldWhatTheyAreListedFor(t *testing.T) {
	rounds := raceRounds()
	for _, i := range []int{0, 1, 2, 4, 7} { // of racers: withdrawals of 2, a release and a trial of 3
		for _, beside := range besides {
			t.Run(racers[i].name+", "+beside.name, func(t *testing.T) {
				var db, racing *dynamo.DB
				var slug string
				for round := range rounds {
					if round%20 == 0 { // the embedded store becomes slow as it grows
						store := dynamotest.Embedded(t)
						db, racing = dynamo.Open(store, time.Now), dynamo.Open(slow{store}, time.Now)
						slug = plant(t, db)
					}
					raceBeside(t, db, racing, slug, i, func(ref method.Ref, edges *edge.Registry) error {
						if beside.box != nil {
							return beside.box(admission.Unlimited(context.Background()), edges, "box-"+slug)
						}
						if beside.confirms {
							ref.Version = 2
							_, err := method.NewStore(racing).Confirm(admission.Unlimited(context.Background()), engineer, origin, ref, method.Confirmations{Machines: []string{beside.code}, Reason: "seen"})
							return err
						}
						r := beside.change
						r.Name = cmp.Or(r.Name, "Press")
						_, err := machine.NewStore(racing).Put(admission.Unlimited(context.Background()), engineer, origin, slug, beside.code, r, input.Preconditions{})
						return err
					})
				}
			})
		}
	}
}

func raceBeside(t *testing.T, db, racing *dynamo.DB, slug string, i int, beside func(method.Ref, *edge.Registry) error) {
	t.Helper()
	ctx := admission.Unlimited(context.Background())
	edges := edge.NewRegistry(racing, 1).Within(edge.Quotas{Boxes: 1e6, Daily: 1e6}).Leaving(method.NewStore(racing).Leaves).For(admin)
	box, none := "box-"+slug, ""
	_, err := edges.Put(ctx, origin, box, edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", FactoryID: &slug}, input.Preconditions{})
	expect.OK(t, err)
	for code, r := range map[string]machine.Registration{"press-1": {Classes: []string{"press"}, EdgeID: &box}, "press-2": {Classes: []string{}, EdgeID: &none}} {
		r.Name, r.Returned = "Press", true
		expect.Value(machine.NewStore(db).Put(ctx, engineer, origin, slug, code, r, input.Preconditions{}))(t)
	}
	methods, ref := staged(t, db, slug)
	was := look(t, methods, ref)
	done := make(chan error, 1)
	go func() { done <- beside(ref, edges) }()
	r := ref
	r.Version = racers[i].version
	_, err = method.NewStore(racing).Move(ctx, person(racers[i].user), origin, r, wish(was, i), input.Preconditions{})
	if err != nil && racers[i].move.Status == method.Withdrawn {
		t.Errorf("the withdrawal is refused: %v", err)
	}
	if err := <-done; err != nil && problem.From(err).Code == problem.Internal { // it may have come too early or too late
		t.Error(err)
	}
	for version := int64(1); version <= 3; version++ {
		r.Version = version
		if _, err := methods.Move(ctx, person("otto"), origin, r, method.Move{Status: method.Withdrawn, Reason: "all"}, input.Preconditions{}); err != nil {
			t.Fatal(err)
		}
	}
	told := look(t, methods, ref).method
	for version := int64(1); version <= 3; version++ {
		r.Version = version
		page := expect.Value(methods.Machines(ctx, engineer, r, false, nobodyHeard, dynamo.Span{Limit: 10}))(t)
		for _, x := range page.Items {
			one := expect.Value(machine.NewStore(db).Get(ctx, engineer, slug, x.Machine))(t)
			stored, err := edge.NewStore(db).Get(ctx, box)
			if err != nil && !problem.Has(err, problem.NotFound) {
				t.Fatal(err)
			}
			if here := one.EdgeID == box && stored.FactoryID == slug; x.WithoutBox == here {
				t.Errorf("%s is shown without a box: %v; its box is %+v", x.Machine, x.WithoutBox, stored)
			}
			state, _ := told.On(one, time.Now(), func(int64) string { return "" }, func(string) []content.Stop { return nil })
			if !slices.ContainsFunc(state.Withdrawn, func(w method.WithdrawnVersion) bool { return w.Version == version }) {
				t.Errorf("%s is listed for version %d, and not told", x.Machine, version)
			}
		}
		if !slices.ContainsFunc(page.Items, func(x method.Reached) bool { return x.Machine == "press-1" }) && version < 3 {
			t.Errorf("press-1 is not listed for version %d", version)
		}
	}
}
