package machine_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var (
	insider  = auth.Principal{UserID: "eric", OrganizationID: "acme", Roles: []auth.Role{auth.ProductionEngineer}}
	outsider = auth.Principal{UserID: "rita", OrganizationID: "rival", Roles: []auth.Role{auth.OrganizationAdmin}}
	owner    = auth.Principal{UserID: "olga", OrganizationID: "wavegate", Roles: []auth.Role{auth.PlatformOwner}}
)

// each runs a test on every store, with its own factory of acme.
func each(t *testing.T, test func(t *testing.T, machines *machine.Store, trail *audit.Log, factoryID string)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		test(t, machine.NewStore(db), audit.NewLog(db), newFactory(t, db))
	})
}

func newFactory(t testing.TB, db *dynamo.DB) string {
	t.Helper()
	id := "f-" + uuid.NewString()
	if _, err := factory.NewStore(db).Put(admission.Unlimited(context.Background()), audit.Origin{}, id, factory.Registration{OrganizationID: "acme", Name: "Munich"}, input.Preconditions{}); err != nil {
		t.Fatal(err)
	}
	return id
}

func put(t *testing.T, machines *machine.Store, factoryID, code, name string) (created bool) {
	t.Helper()
	created, err := machines.Put(admission.Unlimited(t.Context()), insider, audit.Origin{}, factoryID, code, machine.Registration{Name: name}, input.Preconditions{})
	expect.OK(t, err)
	return created
}

// ifMatch is the precondition that the resource has the entity tag.
func ifMatch(etag string) input.Preconditions {
	r := httptest.NewRequest("PUT", "/", nil)
	r.Header.Set("If-Match", etag)
	return input.Of(r, input.Takes{Conditions: true}).Preconditions()
}

func TestPut_NewMachine_IsCreatedAndReadBack(t *testing.T) {
	each(t, func(t *testing.T, machines *machine.Store, trail *audit.Log, factoryID string) {
		expect.That(t, put(t, machines, factoryID, "press-1", "Press"), "the machine is not new")
		m, err := machines.Get(t.Context(), insider, factoryID, "press-1")
		if err != nil || m.Name != "Press" || m.Revision != 1 || m.FactoryID != factoryID || m.Code != "press-1" || !m.CreatedAt.Equal(m.UpdatedAt) {
			t.Errorf("got %+v, %v", m, err)
		}
	})
}

func TestPut_AnotherName_RenamesAndKeepsTheTimeOfCreation(t *testing.T) {
	each(t, func(t *testing.T, machines *machine.Store, trail *audit.Log, factoryID string) {
		put(t, machines, factoryID, "press-1", "Press")
		was, _ := machines.Get(t.Context(), insider, factoryID, "press-1")
		expect.That(t, !put(t, machines, factoryID, "press-1", "Big press"), "the machine is new")
		m, err := machines.Get(t.Context(), owner, factoryID, "press-1")
		if err != nil || m.Name != "Big press" || m.Revision != 2 || !m.CreatedAt.Equal(was.CreatedAt) || !m.UpdatedAt.After(was.UpdatedAt) {
			t.Errorf("got %+v, %v", m, err)
		}
		events, err := trail.List(t.Context(), audit.Factory(factoryID), audit.Filter{}, "", 10)
		if err != nil || len(events.Items) != 2 || events.Items[0].EventName != "MachineRenamed" || events.Items[1].EventName != "MachineRegistered" {
			t.Errorf("the trail is %+v, %v", events, err)
		}
	})
}

func TestPut_SameValues_WritesNothing(t *testing.T) {
	each(t, func(t *testing.T, machines *machine.Store, trail *audit.Log, factoryID string) {
		put(t, machines, factoryID, "press-1", "Press")
		put(t, machines, factoryID, "press-1", "Press")
		events, err := trail.List(t.Context(), audit.Factory(factoryID), audit.Filter{}, "", 10)
		expect.That(t, err == nil && len(events.Items) == 1, "%d events, %v", len(events.Items), err)
	})
}

func TestPut_WithAnOldEntityTag_IsRefused(t *testing.T) {
	each(t, func(t *testing.T, machines *machine.Store, trail *audit.Log, factoryID string) {
		put(t, machines, factoryID, "press-1", "Press")
		put(t, machines, factoryID, "press-1", "Big press")
		_, err := machines.Put(admission.Unlimited(t.Context()), insider, audit.Origin{}, factoryID, "press-1", machine.Registration{Name: "Small press"}, ifMatch(`"1"`))
		expect.That(t, problem.Has(err, problem.PreconditionFailed), "got %v", err)
	})
}

func TestMachines_OfAnotherOrganization_AreNotFound(t *testing.T) {
	each(t, func(t *testing.T, machines *machine.Store, trail *audit.Log, factoryID string) {
		put(t, machines, factoryID, "press-1", "Press")
		for _, id := range []string{factoryID, "f-that-is-not"} {
			_, getErr := machines.Get(t.Context(), outsider, id, "press-1")
			_, listErr := machines.List(t.Context(), outsider, id, dynamo.Span{Limit: 10})
			_, putErr := machines.Put(admission.Unlimited(t.Context()), outsider, audit.Origin{}, id, "press-1", machine.Registration{Name: "Mine"}, input.Preconditions{})
			for _, err := range []error{getErr, listErr, putErr} {
				expect.That(t, err != nil && err.Error() == problem.Missing().Error(), "%s: got %v", id, err)
			}
		}
		// The platform owner can read everything, but cannot register a machine.
		if _, err := machines.Put(admission.Unlimited(t.Context()), owner, audit.Origin{}, factoryID, "press-1", machine.Registration{Name: "Mine"}, input.Preconditions{}); !problem.Has(err, problem.NotFound) {
			t.Errorf("the platform owner's put: %v", err)
		}
	})
}

func TestList_PagedWithAnyLimit_GivesEveryMachineOnceInOrderOfCodes(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		machines := machine.NewStore(db)
		dynamotest.Check(t, func(rt *rapid.T) {
			factoryID := newFactory(t, db)
			codes := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,5}`), 0, 9, rapid.ID[string]).Draw(rt, "codes")
			for _, code := range codes {
				put(t, machines, factoryID, code, "M "+code)
			}
			w := dynamo.Span{Limit: rapid.IntRange(1, 12).Draw(rt, "limit")}
			var seen []string
			for more := true; more; w.Skip += w.Limit {
				page := expect.Value(machines.List(t.Context(), insider, factoryID, w))(rt)
				for _, m := range page.Items {
					seen = append(seen, m.Code)
				}
				more = page.More
			}
			want := slices.Sorted(slices.Values(codes))
			expect.Must(rt, slices.Equal(seen, want), "the walk gives %q, want %q", seen, want)
		})
	})
}

// Machines are never removed, so machines can only move towards later pages. A machine that existed from the start is
// always listed, and each added machine causes at most one repeat.
func TestList_PagedWhileMachinesAreAdded_SkipsNone(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		machines := machine.NewStore(db)
		dynamotest.Check(t, func(rt *rapid.T) {
			factoryID := newFactory(t, db)
			codes := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-d]{1,3}`), 1, 9, rapid.ID[string]).Draw(rt, "codes")
			there := rapid.IntRange(1, len(codes)).Draw(rt, "there")
			for _, code := range codes[:there] {
				put(t, machines, factoryID, code, "Press")
			}
			added, repeats := codes[there:], 0
			w := dynamo.Span{Limit: rapid.IntRange(1, 5).Draw(rt, "limit")}
			var seen []string
			for more := true; more; w.Skip += w.Limit {
				page := expect.Value(machines.List(t.Context(), insider, factoryID, w))(rt)
				for _, m := range page.Items {
					if slices.Contains(seen, m.Code) {
						repeats++
					}
					seen = append(seen, m.Code)
				}
				more = page.More
				for range rapid.IntRange(0, len(added)).Draw(rt, "added") {
					put(t, machines, factoryID, added[0], "Press")
					added = added[1:]
				}
			}
			for _, code := range codes[:there] {
				expect.Must(rt, slices.Contains(seen, code),
					"%s was there from the start; the pages give %q", code, seen)
			}
			expect.Must(rt, repeats <= len(codes)-there,
				"%d added machines made %d repeats: %q", len(codes)-there, repeats, seen)
		})
	})
}
