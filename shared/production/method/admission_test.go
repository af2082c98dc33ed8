package method_test

import (
	"context"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// TestAdmission_TheSameAgain_IsStoredOnlyIfAVersionWaits also admits a machine many times: repeats must not use up its signatures.
func TestAdmission_TheSameAgain_IsStoredOnlyIfAVersionWaits(t *testing.T) {
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	ctx := admission.Unlimited(context.Background())
	slug := plant(t, db)
	methods, ref := staged(t, db, slug)
	machines := machine.NewStore(db).Admitting(methods.Waits)
	put := func(caller auth.Principal, reason string) int {
		t.Helper()
		_, err := machines.Put(ctx, caller, origin, slug, "press-2", machine.Registration{Name: "Press", Classes: []string{"press"}, Admission: reason}, input.Preconditions{})
		expect.OK(t, err)
		return len(expect.Value(machines.Get(ctx, engineer, slug, "press-2"))(t).Admissions)
	}
	for range 70 {
		expect.Equal(t, put(engineer, "inspected"), 1, "admissions after the same one again")
	}
	expect.Equal(t, put(engineer, "inspected by the maker"), 2, "admissions after one with another reason")
	expect.Equal(t, put(person("anna"), "inspected by the maker"), 3, "admissions after one of another person")
	expect.Equal(t, put(engineer, "inspected by the maker"), 4, "admissions after another person's")

	// With another class, the same signature is for more.
	_, err := machines.Put(ctx, engineer, origin, slug, "press-2", machine.Registration{Name: "Press", Classes: []string{"mill", "press"}, Admission: "inspected by the maker"}, input.Preconditions{})
	expect.OK(t, err)
	expect.Equal(t, len(expect.Value(machines.Get(ctx, engineer, slug, "press-2"))(t).Admissions), 5, "admissions after the same one with a further class")
	expect.Equal(t, put(engineer, "inspected by the maker"), 6, "admissions after the same one with a class less")

	// Version 2 is withdrawn and version 1 holds again, which no admission before was for.
	ref.Version = 2
	moved, err := methods.Move(ctx, person("anna"), origin, ref, method.Move{Status: method.Withdrawn, Reason: "burrs", Reinstate: 1}, input.Preconditions{})
	expect.OK(t, err)
	expect.Equal(t, moved.Waiting, []string{"press-2"}, "the machines that wait")
	expect.Equal(t, put(engineer, "inspected by the maker"), 7, "admissions after the same one, while a version waits")
	expect.Equal(t, put(engineer, "inspected by the maker"), 7, "admissions after the same one again")
}
