package change_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// A counter is the resource of the tests. It is stored in the table of factories.
type counter struct {
	ID        string    `json:"factoryId"`
	Count     int       `json:"count"`
	Revision  int64     `json:"revision"`
	UpdatedAt time.Time `json:"updatedAt"`
}

var counters = change.Kind[counter]{
	Type: "counter", Table: dynamo.Factories, Key: "factoryId",
	State: func(c counter) change.Stamp {
		return change.Stamp{ID: c.ID, Revision: c.Revision, ChangedAt: c.UpdatedAt, Stream: audit.Factory(c.ID), Organization: "acme"}
	},
}

var from = audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "olga"}, SourceIP: "192.0.2.7", RequestID: "r-1"}

// add is a rule that adds n. With 0 nothing changes. It refuses more than 100.
func add(id string, n int) change.Rule[counter] {
	return func(was counter, at time.Time) (counter, string, error) {
		switch {
		case n == 0:
			return was, "", nil
		case was.Count+n > 100:
			return was, "", problem.New(problem.Conflict, "That is too much.")
		}
		return counter{ID: id, Count: was.Count + n, Revision: was.Revision + 1, UpdatedAt: at}, "CounterRaised", nil
	}
}

// A world is one resource in one store, with a clock that the test moves.
type world struct {
	*testing.T
	db  *dynamo.DB
	id  string
	now time.Time
}

func each(t *testing.T, test func(w *world)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		w := &world{T: t, id: uuid.NewString(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		w.db = dynamo.Open(client, func() time.Time { return w.now })
		test(w)
	})
}

func (w *world) key() dynamo.Key { return dynamo.Key{"factoryId": w.id} }

func (w *world) put(n int, when input.Preconditions, beside ...func(context.Context) error) (bool, error) {
	return change.Put(admission.Unlimited(w.Context()), w.db, from, counters, w.key(), when, add(w.id, n), beside...)
}

// add makes a change that must be made, and reports whether it created the counter.
func (w *world) add(n int) bool {
	w.Helper()
	created := expect.Value(w.put(n, input.Preconditions{}))(w)
	return created
}

func (w *world) stored() (c counter) {
	w.Helper()
	expect.Value(w.db.Get(w.Context(), dynamo.Factories, w.key(), &c))(w)
	return c
}

func (w *world) events() []audit.Event {
	w.Helper()
	page := expect.Value(audit.NewLog(w.db).List(w.Context(), audit.Factory(w.id), audit.Filter{}, "", 100))(w)
	return page.Items
}

func match(etag string) input.Preconditions {
	r, _ := http.NewRequest(http.MethodPut, "/", nil)
	r.Header.Set("If-Match", etag)
	return input.Of(r, input.Takes{Conditions: true}).Preconditions()
}

func TestPut_ChangeAndEvent_AreWrittenTogether(t *testing.T) {
	each(t, func(w *world) {
		expect.Equal(w, w.add(3), true, "created:")
		w.now = w.now.Add(time.Minute)
		expect.Equal(w, w.add(4), false, "created again:")
		expect.Equal(w, w.stored(), counter{w.id, 7, 2, w.now}, "the counter")
		events := w.events()
		if len(events) != 2 || events[1].Before != nil {
			w.Fatalf("the events are %+v", events)
		}
		e := events[0]
		before, _ := e.Before.(map[string]any)
		after, _ := e.After.(map[string]any)
		expect.Equal(w, []any{before["count"], after["count"]}, []any{3.0, 7.0}, "what the event shows before and after")
		e.EventID, e.Before, e.After, e.Actor.Roles = "", nil, nil, nil
		expect.Equal(w, e, audit.Event{
			EventName: "CounterRaised", EventTime: w.now, OrganizationID: "acme", Actor: from.Actor, RequestID: "r-1", SourceIP: "192.0.2.7",
			Resource: audit.Resource{Type: "counter", ID: w.id, Revision: 2},
		}, "the event")
	})
}

func TestPut_NothingChanges_NothingIsWritten(t *testing.T) {
	each(t, func(w *world) {
		expect.Equal(w, w.add(0), true, "created:")
		expect.Equal(w, w.stored(), counter{}, "the counter")
		expect.Equal(w, len(w.events()), 0, "the number of events is")
	})
}

func TestPut_Refused_ChangesNothing(t *testing.T) {
	refusal := problem.New(problem.NotFound, "Not yours.")
	each(t, func(w *world) {
		w.add(3)
		for name, refused := range map[string]struct {
			try  func() (bool, error)
			code problem.Code
		}{
			"by the rule":       {func() (bool, error) { return w.put(98, input.Preconditions{}) }, problem.Conflict},
			"by a precondition": {func() (bool, error) { return w.put(1, match(`"2"`)) }, problem.PreconditionFailed},
			"by a read beside it": {func() (bool, error) {
				return w.put(1, input.Preconditions{}, func(context.Context) error { return refusal })
			}, problem.NotFound},
		} {
			if _, err := refused.try(); !problem.Has(err, refused.code) {
				w.Errorf("%s: got %v, want %s", name, err, refused.code)
			}
		}
		expect.Equal(w, w.stored().Count, 3, "the count is")
		expect.Equal(w, len(w.events()), 1, "the number of events is")
	})
}

func TestPut_ClockIsBehind_TimesStillIncrease(t *testing.T) {
	each(t, func(w *world) {
		w.add(1)
		first := w.now
		w.now = w.now.Add(-time.Hour)
		w.add(1)
		expect.Equal(w, w.stored().UpdatedAt, first.Add(time.Millisecond), "it changed at")
	})
}

func TestPut_ManyAtOnce_EachSuccessCountsOnceAndHasOneEvent(t *testing.T) {
	each(t, func(w *world) {
		var done atomic.Int64
		var group sync.WaitGroup
		for range 30 {
			group.Go(func() {
				if _, err := w.put(1, input.Preconditions{}); err == nil {
					done.Add(1)
				} else if !problem.Has(err, problem.Conflict) {
					w.Errorf("got %v", err)
				}
			})
		}
		group.Wait()
		n := done.Load()
		if n == 0 {
			w.Error("none succeeded")
		}
		got := w.stored()
		expect.Equal(w, []int64{int64(got.Count), got.Revision, int64(len(w.events()))}, []int64{n, n, n}, "of the successes, the count, the revision and the events")
	})
}

func TestMake_SeveralResources_ChangeTogetherOrNotAtAll(t *testing.T) {
	each(t, func(w *world) {
		other := uuid.NewString()
		both := func(revision int64) error {
			return change.Make(admission.Unlimited(w.Context()), w.db, from, func(set *change.Set) error {
				at := set.After(time.Time{})
				change.Record(set, counters, counter{}, counter{w.id, 1, 1, at}, "CounterRaised")
				change.Record(set, counters, counter{Revision: revision}, counter{other, 1, revision + 1, at}, "CounterRaised")
				return nil
			})
		}
		if err := both(7); !problem.Has(err, problem.Conflict) || w.stored() != (counter{}) {
			w.Fatalf("got %v, stored %+v", err, w.stored())
		}
		if err := both(0); err != nil || w.stored().Count != 1 || len(w.events()) != 1 {
			w.Fatalf("got %v, stored %+v, %d events", err, w.stored(), len(w.events()))
		}
	})
}

func TestCreate_ClaimUsedBefore_GivesTheFirstId(t *testing.T) {
	each(t, func(w *world) {
		create := func(input string) (string, error) {
			claim, err := idempotency.Of(auth.Principal{Issuer: "i", UserID: w.id}, "create-counter", "/api/counters", "key", input)
			expect.OK(w, err)
			return change.Create(admission.Unlimited(w.Context()), w.db, from, claim, func(set *change.Set, id string) error {
				change.Record(set, counters, counter{}, counter{id, 1, 1, set.After(time.Time{})}, "CounterMade")
				return nil
			})
		}
		first := expect.Value(create("a"))(w)
		again := expect.Value(create("a"))(w)
		expect.Equal(w, again, first, "the id is")
		if _, err := create("b"); !problem.Has(err, problem.IdempotencyKeyReused) {
			w.Errorf("got %v", err)
		}
	})
}

// TestCreate_RepeatedWhileTheFirstCallIsOnItsWay_GivesItsResult: the second call reads the claim before the first one
// commits, and decides after that. It would be refused because of its own first call.
func TestCreate_RepeatedWhileTheFirstCallIsOnItsWay_GivesItsResult(t *testing.T) {
	each(t, func(w *world) {
		claim, err := idempotency.Of(auth.Principal{UserID: "olga"}, "make", "/", w.id, "a")
		expect.OK(w, err)
		create := func(meanwhile func()) (string, error) {
			return change.Create(admission.Unlimited(w.Context()), w.db, from, claim, func(set *change.Set, _ string) error {
				meanwhile()
				if w.stored().Count > 0 {
					return problem.New(problem.Conflict, "There is one already.")
				}
				change.Record(set, counters, counter{}, counter{w.id, 1, 1, set.After(time.Time{})}, "CounterMade")
				return nil
			})
		}
		var first string
		again := expect.Value(create(func() {
			if first, err = create(func() {}); err != nil {
				w.Fatal(err)
			}
		}))(w)
		expect.Equal(w, again, first, "the id is")
	})
}

func TestCreate_Refused_MakesNothing(t *testing.T) {
	refusal := errors.New("no")
	each(t, func(w *world) {
		_, err := change.Create(admission.Unlimited(w.Context()), w.db, from, idempotency.Claim{}, func(set *change.Set, _ string) error {
			change.Record(set, counters, counter{}, counter{w.id, 1, 1, set.After(time.Time{})}, "CounterMade")
			return refusal
		})
		if !errors.Is(err, refusal) || w.stored() != (counter{}) {
			w.Errorf("got %v, stored %+v", err, w.stored())
		}
	})
}
