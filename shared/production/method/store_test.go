package method_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

var (
	origin   = audit.Origin{Actor: audit.Actor{Issuer: "https://people.example", UserID: "eric"}, SourceIP: "192.0.2.7", RequestID: "r"}
	engineer = auth.Principal{Issuer: "https://people.example", UserID: "eric", OrganizationID: "acme", Roles: []auth.Role{auth.ProductionEngineer}}
	rival    = auth.Principal{Issuer: "https://people.example", UserID: "rita", OrganizationID: "rival", Roles: []auth.Role{auth.OrganizationAdmin}}
	owner    = auth.Principal{Issuer: "https://people.example", UserID: "olga", OrganizationID: "wavegate", Roles: []auth.Role{auth.PlatformOwner, auth.ProductionEngineer}}
	draft    = method.Creation{ProductID: "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11", Name: "Milling"}
)

// eachFactory runs a test on every store, with a factory of acme.
func eachFactory(t *testing.T, test func(t *testing.T, methods *method.Store, slug string)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		slug := uuid.NewString()
		created, err := factory.NewStore(db).Put(admission.Unlimited(t.Context()), origin, slug, factory.Registration{OrganizationID: "acme", Name: "A factory"}, input.Preconditions{})
		expect.Must(t, err == nil && created, "got %v, %v", created, err)
		test(t, method.NewStore(db), slug)
	})
}

func TestCreate_ThenGet(t *testing.T) {
	eachFactory(t, func(t *testing.T, methods *method.Store, slug string) {
		id, err := methods.Create(admission.Unlimited(t.Context()), engineer, origin, slug, draft, idempotency.Claim{})
		expect.OK(t, err)
		for _, reader := range []auth.Principal{engineer, owner} {
			m, err := methods.Get(t.Context(), reader, slug, id)
			if err != nil || m.MethodID != id || m.FactoryID != slug || m.ProductID != draft.ProductID || m.Name != "Milling" || m.Revision != 1 || m.CreatedAt.IsZero() {
				t.Errorf("%s reads %+v, %v", reader.UserID, m, err)
			}
		}
		if m, err := methods.Get(t.Context(), rival, slug, id); !problem.Has(err, problem.NotFound) || m.Revision != 0 {
			t.Errorf("another organization reads %+v, %v", m, err)
		}
		if _, err := methods.Get(t.Context(), engineer, slug, uuid.NewString()); !problem.Has(err, problem.NotFound) {
			t.Errorf("no such method: %v", err)
		}
	})
}

func TestCreate_FactoryOfAnotherOrganization_IsNotFound(t *testing.T) {
	eachFactory(t, func(t *testing.T, methods *method.Store, slug string) {
		for _, caller := range []auth.Principal{rival, owner, {Issuer: "i", UserID: "u"}} {
			_, err := methods.Create(admission.Unlimited(t.Context()), caller, origin, slug, draft, idempotency.Claim{})
			expect.That(t, problem.Has(err, problem.NotFound), "%s: got %v", caller.UserID, err)
		}
		_, err := methods.Create(admission.Unlimited(t.Context()), engineer, origin, uuid.NewString(), draft, idempotency.Claim{})
		expect.That(t, problem.Has(err, problem.NotFound), "no factory: got %v", err)
	})
}

func TestCreate_WithAKey_MakesOneMethod(t *testing.T) {
	eachFactory(t, func(t *testing.T, methods *method.Store, slug string) {
		claim := expect.Value(idempotency.Of(engineer, "create-production-method", slug, "k", draft))(t)
		first := expect.Value(methods.Create(admission.Unlimited(t.Context()), engineer, origin, slug, draft, claim))(t)
		again, err := methods.Create(admission.Unlimited(t.Context()), engineer, origin, slug, draft, claim)
		expect.Must(t, err == nil && again == first, "got %s, %v; want %s", again, err, first)
	})
}

// TestVersions_StrangersOffset_ReadsNothing: reading the items that an offset skips would use capacity of the method's
// partition.
func TestVersions_StrangersOffset_ReadsNothing(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		q := &dynamotest.QueryCounter{Client: client}
		db := dynamo.Open(q, time.Now)
		methods, ctx := method.NewStore(db), admission.Unlimited(t.Context())
		mine, other := uuid.NewString(), uuid.NewString()
		for slug, organization := range map[string]string{mine: "acme", other: "rival"} {
			if _, err := factory.NewStore(db).Put(ctx, origin, slug, factory.Registration{OrganizationID: organization, Name: "A factory"}, input.Preconditions{}); err != nil {
				t.Fatal(err)
			}
		}
		id := expect.Value(methods.Create(ctx, engineer, origin, mine, draft, idempotency.Claim{}))(t)
		for _, slug := range []string{mine, other, uuid.NewString()} {
			q.Queries.Store(0)
			if _, err := methods.Versions(t.Context(), rival, slug, id, dynamo.Span{Skip: 5, Limit: 1}); !problem.Has(err, problem.NotFound) || q.Queries.Load() != 0 {
				t.Errorf("a stranger gets %v after %d queries", err, q.Queries.Load())
			}
		}
		q.Queries.Store(0)
		if page, err := methods.Versions(t.Context(), engineer, mine, id, dynamo.Span{Skip: 5, Limit: 1}); err != nil || len(page.Items) != 0 || q.Queries.Load() == 0 {
			t.Errorf("an engineer gets %v, %v after %d queries", page, err, q.Queries.Load())
		}
	})
}
