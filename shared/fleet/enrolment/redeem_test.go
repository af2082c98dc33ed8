package enrolment_test

import (
	"errors"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

func TestRedeem_ListedBox_IsRegisteredWithItsTokenAndLearnsItAgain(t *testing.T) {
	each(t, func(w *world) {
		w.must(enrolment.Enrols, w.box, hash(1))
		is := w.stored(w.box)
		e := is.Edge
		if e.EdgeType != "gateway-x" || e.Channel != "stable" || e.OrganizationID != "acme" || e.EnrolmentID != w.id || !is.Row.Tokens.Accepts(hash(1), w.now) {
			t.Fatalf("stored %+v", is)
		}
		w.must(enrolment.Again, w.box, hash(1))
		if again := w.stored(w.box); again.Edge.Revision != e.Revision || again.Row.Revision != is.Row.Revision {
			t.Errorf("repeating it wrote %+v", again)
		}
		if d := w.details(); len(d.Redemptions) != 1 || d.Redemptions[0].EdgeID != w.box || !d.Redemptions[0].RedeemedAt.Equal(w.now) {
			t.Errorf("shown %+v", d)
		}
	})
}

func TestRedeem_AnotherHash_IsRefusedAndToldOnceAnHour(t *testing.T) {
	each(t, func(w *world) {
		w.must(enrolment.Enrols, w.box, hash(1))
		w.now = w.now.Add(time.Second)
		for range 3 {
			_, err := w.redeem(w.box, hash(2))
			expect.Must(t, problem.Has(err, problem.EdgeEnrolled), "%v", err)
		}
		if is := w.stored(w.box); is.Row.Tokens.Accepts(hash(2), w.now) || !is.Row.Tokens.Accepts(hash(1), w.now) {
			t.Errorf("stored %+v", is)
		}
		d := w.details()
		expect.That(t, d.Revision == 2 && d.RefusedFor == w.box && d.RefusedAt.Equal(w.now),
			"the enrolment is %+v", d.Enrolment)
		page, err := audit.NewLog(w.db).List(w.ctx(), audit.Platform, audit.Filter{ResourceType: enrolment.ResourceType, ResourceID: w.id}, "", 10)
		expect.That(t, err == nil && len(page.Items) == 2 && page.Items[0].EventName == "EnrolmentRefused",
			"the trail has %+v, %v", page.Items, err)
		w.now = w.now.Add(30 * time.Minute)
		w.must(enrolment.Again, w.box, hash(1))
	})
}

func TestRedeem_BoxThatWasRegisteredOtherwise_IsNeverTouched(t *testing.T) {
	each(t, func(w *world) {
		expect.OK(t, w.register(w.box))
		before := w.stored(w.box).Edge
		_, err := w.redeem(w.box, hash(1))
		expect.Must(t, problem.Has(err, problem.EdgeEnrolled), "%v", err)
		after := w.stored(w.box).Edge
		expect.That(t, dynamo.Same(after, before), "before %+v, after %+v", before, after)
	})
}

// TestRedeem_BoxThatWasTakenBack_NeedsAReset: a stolen box still has the code.
func TestRedeem_BoxThatWasTakenBack_NeedsAReset(t *testing.T) {
	take := map[string]func(w *world) error{
		"retired": func(w *world) error { return w.edges.Retire(w.ctx(), audit.Origin{}, w.box, input.Preconditions{}) },
		"its token ended": func(w *world) error {
			return w.edges.EndTokens(w.ctx(), audit.Origin{}, w.box, input.Preconditions{})
		},
	}
	for name, back := range take {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.must(enrolment.Enrols, w.box, hash(1))
				expect.OK(t, back(w))
				for n := range 2 {
					if _, err := w.redeem(w.box, hash(1+n)); !problem.Has(err, problem.EdgeEnrolled) {
						t.Fatal(n, err)
					}
				}
				expect.OK(t, w.enrolments.Reset(w.ctx(), audit.Origin{}, admin, w.id, w.box))
				expect.That(t, !w.stored(w.box).Edge.Exists(), "a reset box is registered")
				w.must(enrolment.Enrols, w.box, hash(2))
				if is := w.stored(w.box); is.Row.Tokens.Accepts(hash(1), w.now) || !is.Row.Tokens.Accepts(hash(2), w.now) {
					t.Errorf("stored %+v", is)
				}
			})
		})
	}
}

// TestRedeem_BoxThatWasRegisteredOtherwiseAndRetired_IsRefused: whoever has it may have the code. A box that was retired before
// the enrolment was made is listed on purpose.
func TestRedeem_BoxThatWasRegisteredOtherwiseAndRetired_IsRefused(t *testing.T) {
	each(t, func(w *world) {
		expect.OK(t, errors.Join(w.register(w.box), w.edges.Retire(w.ctx(), audit.Origin{}, w.box, input.Preconditions{})))
		_, err := w.redeem(w.box, hash(1))
		expect.Must(t, problem.Has(err, problem.EdgeEnrolled), "%v", err)
	})
}

// TestRedeem_CodeThatIsNoLongerGood_IsUnauthenticated, although the authorizer may have known it for a while.
func TestRedeem_CodeThatIsNoLongerGood_IsUnauthenticated(t *testing.T) {
	spoil := map[string]func(w *world){
		"ended": func(w *world) {
			for range 2 { // ending it again changes nothing
				if err := w.enrolments.End(w.ctx(), audit.Origin{}, admin, w.id); err != nil {
					w.Fatal(err)
				}
			}
		},
		"expired":              func(w *world) { w.now = w.now.Add(time.Hour) },
		"of another enrolment": func(w *world) { _, other := w.enrolment("x"); other.UserID = w.id; w.code = other },
		"of none":              func(w *world) { w.code.UserID = "0192f0c1-8a31-7b0c-9d2e-4f5a6b7c8d90" },
		"no hash":              func(w *world) { w.code.Credential = "" },
		"no code at all":       func(w *world) { w.code.Issuer = "https://people.example" },
	}
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.must(enrolment.Enrols, w.box, hash(1))
				change(w)
				_, err := w.redeem(w.box, hash(1))
				expect.That(t, problem.Has(err, problem.Unauthenticated), "got %v", err)
			})
		})
	}
}

func TestEnrolment_OfAnotherOrganization_IsNotFoundLikeNone(t *testing.T) {
	each(t, func(w *world) {
		for name, call := range map[string]func(caller auth.Principal, id string) error{
			"get": func(p auth.Principal, id string) error { _, err := w.enrolments.Get(w.ctx(), p, id); return err },
			"end": func(p auth.Principal, id string) error {
				return w.enrolments.End(w.ctx(), audit.Origin{}, p, id)
			},
			"accept": func(p auth.Principal, id string) error {
				return w.enrolments.Accept(w.ctx(), audit.Origin{}, p, id, []enrolment.Pair{{EdgeID: w.box, TokenSHA256: hash(1)}})
			},
			"reset": func(p auth.Principal, id string) error {
				return w.enrolments.Reset(w.ctx(), audit.Origin{}, p, id, w.box)
			},
		} {
			foreign, none := call(rival, w.id), call(rival, "0192f0c1-8a31-7b0c-9d2e-4f5a6b7c8d90")
			expect.That(t, problem.Has(foreign, problem.NotFound) && none != nil && foreign.Error() == none.Error(),
				"%s: %v and %v", name, foreign, none)
		}
		expect.That(t, w.details().EndedAt == nil, "it has ended")
	})
}
