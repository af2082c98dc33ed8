package method_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var watcher = audit.Origin{Actor: audit.Actor{Issuer: "urn:wavegate:guard", UserID: "guard"}, RequestID: "the tick"}

// A recalling is a method whose version 2 holds, and a clock.
type recalling struct {
	*testing.T
	db      *dynamo.DB
	methods *method.Store
	ref     method.Ref
	now     time.Time
}

func newRecalling(t *testing.T, client dynamo.API) *recalling {
	t.Helper()
	r := &recalling{T: t, now: time.Now().UTC().Truncate(time.Millisecond)}
	r.db = dynamo.Open(client, func() time.Time { return r.now })
	r.methods, r.ref = staged(t, r.db, plant(t, r.db))
	r.ref.Version = 2
	r.now = r.now.Add(time.Minute)
	return r
}

func (r *recalling) withdraw(orders method.Orders) {
	r.Helper()
	_, err := r.methods.Move(admission.Unlimited(r.Context()), person("anna"), origin, r.ref,
		method.Move{Status: method.Withdrawn, Reason: "worn tools of ACME", Orders: orders}, input.Preconditions{})
	if err != nil {
		r.Fatal(err)
	}
}

// told lets time pass and tells people. It returns the audit events, oldest first.
func (r *recalling) told(after time.Duration) []audit.Event {
	r.Helper()
	r.now = r.now.Add(after)
	expect.Value(r.methods.TellUnconfirmed(admission.Unlimited(r.Context()), watcher))(r)
	page, err := audit.NewLog(r.db).List(r.Context(), audit.Factory(r.ref.FactoryID), audit.Filter{}, "", 100)
	if err != nil {
		r.Fatal(err)
	}
	events := slices.DeleteFunc(page.Items, func(e audit.Event) bool { return e.Resource.Type != method.RecallResourceType })
	slices.Reverse(events)
	return events
}

func TestRecall_MachinesThatSaidNothing_AreToldOfOnce_AfterHalfAnHour(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		r := newRecalling(t, client)
		r.withdraw(method.Stop)
		if events := r.told(29 * time.Minute); len(events) != 0 {
			t.Fatalf("told %+v", events)
		}
		events := r.told(time.Minute)
		expect.Must(t, len(events) == 1, "told %d times", len(events))
		cause, _ := events[0].Cause.(map[string]any)
		const sentence = "1 of 1 machines have not said that they no longer have version 2, 30 minutes after its orders were stopped."
		if e := events[0]; e.EventName != "RecallUnconfirmed" || e.Resource.ID != r.ref.FactoryID+"/"+r.ref.MethodID+"/2" || e.OrganizationID != "acme" ||
			cause["sentence"] != sentence || !slices.Equal(cause["machines"].([]any), []any{"press-1"}) {
			t.Errorf("the event is %+v", e)
		}
		stopped := r.now.Add(-30 * time.Minute)
		events = r.told(time.Hour)
		expect.That(t, len(events) == 1, "told %d times", len(events))
		unconfirmed := func(organization string) []method.Pending {
			t.Helper()
			list := expect.Value(r.methods.Unconfirmed(t.Context(), organization))(t)
			return list
		}
		pending := []method.Pending{{FactoryID: r.ref.FactoryID, OrganizationID: "acme", Since: stopped, Left: 1, Of: 1}}
		expect.Equal(t, unconfirmed(""), pending, "until it is confirmed, for all")
		expect.Equal(t, unconfirmed("acme"), pending, "until it is confirmed, for its organization")
		expect.Equal(t, len(unconfirmed("initech")), 0, "for another one")
		_, err := r.methods.Confirm(admission.Unlimited(t.Context()), engineer, origin, r.ref, method.Confirmations{Machines: []string{"press-1"}, Reason: "looked at it"})
		expect.OK(t, err)
		events = r.told(time.Minute)
		expect.That(t, len(events) == 1, "told %d times", len(events))
		expect.Equal(t, len(unconfirmed("")), 0, "once it is confirmed")
	})
}

// TestRecall_OfADayAgo_IsCountedEveryTenMinutes: a machine that is gone for good would cost the same reads each minute.
func TestRecall_OfADayAgo_IsCountedEveryTenMinutes(t *testing.T) {
	r := newRecalling(t, dynamotest.Embedded(t))
	r.withdraw(method.Stop)
	r.told(method.ConfirmWithin)
	_, err := r.methods.Confirm(admission.Unlimited(t.Context()), engineer, origin, r.ref, method.Confirmations{Machines: []string{"press-1"}, Reason: "looked at it"})
	expect.OK(t, err)
	for _, c := range []struct {
		after time.Duration
		left  int
	}{{24*time.Hour - method.ConfirmWithin + time.Minute, 1}, {8 * time.Minute, 1}, {time.Minute, 0}} {
		r.told(c.after)
		list, err := r.methods.Unconfirmed(t.Context(), "")
		expect.OK(t, err)
		expect.Equal(t, len(list), c.left, "unconfirmed recalls")
	}
}

// TestRecall_TheEventBus_TellsHowMany, but neither the method, nor the machines, nor the reason.
func TestRecall_TheEventBus_TellsHowMany(t *testing.T) {
	cause := method.Missing{Sentence: "2 of 5 machines have it.", Machines: []string{"press-1", "press-2"}}
	got := audit.Why(audit.Factory("munich-1"), audit.Grounds{Cause: cause, Reason: "worn tools of ACME"})
	expect.That(t, got == cause.Sentence, "the bus gets %q", got)
}

func TestRecall_ByTwoRunsAtOnce_IsToldOnce(t *testing.T) {
	r := newRecalling(t, dynamotest.Embedded(t))
	r.withdraw(method.Stop)
	r.now = r.now.Add(method.ConfirmWithin)
	done := make(chan error)
	for range 2 {
		go func() { _, err := r.methods.TellUnconfirmed(admission.Unlimited(r.Context()), watcher); done <- err }()
	}
	for range 2 {
		err := <-done
		expect.That(t, err == nil, "%v", err)
	}
	events := r.told(0)
	expect.That(t, len(events) == 1, "told %d times", len(events))
}

// TestRecall_OrdersThatMayFinish_AreNotWaitedFor, until somebody stops them.
func TestRecall_OrdersThatMayFinish_AreNotWaitedFor(t *testing.T) {
	r := newRecalling(t, dynamotest.Embedded(t))
	r.withdraw(method.Finish)
	if events := r.told(24 * time.Hour); len(events) != 0 {
		t.Errorf("told %+v", events)
	}
	r.withdraw(method.Stop)
	if events := r.told(method.ConfirmWithin); len(events) != 1 {
		t.Errorf("once they stop: told %d times", len(events))
	}
	r.withdraw(method.Stop)
	events := r.told(method.ConfirmWithin)
	expect.That(t, len(events) == 1, "after a further signature: told %d times", len(events))
}

func TestRecall_NobodyApprovedIt_IsNotTold(t *testing.T) {
	r := newRecalling(t, dynamotest.Embedded(t))
	r.ref.Version = 3
	r.withdraw(method.Stop)
	events := r.told(method.ConfirmWithin)
	expect.That(t, len(events) == 0, "told %+v", events)
}

// TestRecall_ClassLostBefore_IsTold: the machine had the version, whatever it does today.
func TestRecall_ClassLostBefore_IsTold(t *testing.T) {
	r := newRecalling(t, dynamotest.Embedded(t))
	if _, err := machine.NewStore(r.db).Put(admission.Unlimited(t.Context()), engineer, origin, r.ref.FactoryID, "press-1",
		machine.Registration{Name: "Press", Classes: []string{"lathe"}}, input.Preconditions{}); err != nil {
		t.Fatal(err)
	}
	r.withdraw(method.Stop)
	events := r.told(method.ConfirmWithin)
	expect.That(t, len(events) == 1, "told %+v", events)
}

// boxed gives the machine a box, and returns a function that lets it report the version.
func (r *recalling) boxed() (says func(method.Doing)) {
	r.Helper()
	ctx, box := admission.Unlimited(r.Context()), "box-"+r.ref.FactoryID
	assignment := edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", FactoryID: &r.ref.FactoryID}
	expect.Value(edge.NewRegistry(r.db, 1).Within(edge.Quotas{Boxes: 1e6, Daily: 1e6}).For(admin).Put(ctx, origin, box, assignment, input.Preconditions{}))(r)
	expect.Value(machine.NewStore(r.db).Put(ctx, engineer, origin, r.ref.FactoryID, "press-1",
		machine.Registration{Name: "Press", EdgeID: &box}, input.Preconditions{}))(r)
	v := expect.Value(r.methods.Version(ctx, engineer, r.ref))(r)
	return func(d method.Doing) {
		r.Helper()
		_, err := r.methods.ForBoxes(func(_, _ string) bool { return true }).Report(ctx, auth.Principal{UserID: box, Roles: []auth.Role{auth.Edge}},
			origin, r.ref.FactoryID, "press-1", r.ref.MethodID, "", method.Report{Version: r.ref.Version, ContentSHA256: v.ContentSHA256, State: d})
		if err != nil && !problem.Has(err, problem.VersionWithdrawn) {
			r.Fatal(err)
		}
	}
}

// TestRecall_ReportedAfterAllConfirmed_IsToldAgain: a controller was restored from a backup, for example.
func TestRecall_ReportedAfterAllConfirmed_IsToldAgain(t *testing.T) {
	r := newRecalling(t, dynamotest.Embedded(t))
	says := r.boxed()
	r.withdraw(method.Stop)
	for n := range 2 {
		says(method.Finished)
		expect.Equal(t, len(r.told(method.ConfirmWithin)), n, "once it is confirmed, warnings")
		says(method.Running)
		expect.Equal(t, len(r.told(method.ConfirmWithin-time.Minute)), n, "29 minutes later, warnings")
		events := r.told(time.Minute)
		expect.Must(t, len(events) == n+1, "told %d times", len(events))
		cause, _ := events[n].Cause.(map[string]any)
		const sentence = "1 of 1 machines have not said that they no longer have version 2, 30 minutes after a machine reported it again."
		expect.Equal(t, cause["sentence"], any(sentence), "warned with")
		list := expect.Value(r.methods.Unconfirmed(t.Context(), "acme"))(t)
		expect.Equal(t, len(list), 1, "unconfirmed recalls")
	}
}

// beforeDelete does something before each transaction that deletes an item.
type beforeDelete struct {
	dynamo.API
	do func()
}

func (b *beforeDelete) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, with ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if slices.ContainsFunc(in.TransactItems, func(i types.TransactWriteItem) bool { return i.Delete != nil }) {
		b.do()
	}
	return b.API.TransactWriteItems(ctx, in, with...)
}

func TestRecall_ReportedWhileATickEndsIt_IsToldOf(t *testing.T) {
	store := &beforeDelete{API: dynamotest.Embedded(t)}
	r := newRecalling(t, store)
	says := r.boxed()
	r.withdraw(method.Stop)
	says(method.Finished)
	store.do = func() { says(method.Running) }
	expect.Equal(t, len(r.told(method.ConfirmWithin)), 0, "once it is confirmed, warnings")
	expect.Equal(t, len(r.told(method.ConfirmWithin)), 1, "half an hour later, warnings")
}
