package idempotency_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/trail/idempotency"
)

type input struct {
	Name string `json:"name"`
}

func claim(t *testing.T, caller auth.Principal, key string, in input) idempotency.Claim {
	t.Helper()
	c, err := idempotency.Of(caller, "create", "/api/things", key, in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClaim_ExpiresAfterADay: a result is kept for a day by the stored time. A record that DynamoDB has
// not yet removed is then ignored, and its key can be used again.
func TestClaim_ExpiresAfterADay(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		db := dynamo.Open(client, func() time.Time { return now })
		caller := auth.Principal{Issuer: "https://people.example", UserID: uuid.NewString(), OrganizationID: "acme"}
		c := claim(t, caller, "k", input{"a"})
		expect := func(wantResult string, wantFound bool) {
			t.Helper()
			result, found, err := c.First(t.Context(), db)
			if err != nil || result != wantResult || found != wantFound {
				t.Fatalf("got %q, %v, %v; want %q, %v", result, found, err, wantResult, wantFound)
			}
		}
		expect("", false)
		if err := db.Commit(admission.Unlimited(t.Context()), c.Parts("first", now)...); err != nil {
			t.Fatal(err)
		}
		expect("first", true)
		if err := db.Commit(admission.Unlimited(t.Context()), c.Parts("second", now)...); !dynamo.Refused(err, idempotency.PartName) {
			t.Fatalf("a second call with the key: %v", err)
		}
		if _, _, err := claim(t, caller, "k", input{"b"}).First(t.Context(), db); !problem.Has(err, problem.IdempotencyKeyReused) {
			t.Fatalf("the key with another input: %v", err)
		}
		now = now.Add(idempotency.Lifetime)
		expect("first", true)
		now = now.Add(time.Millisecond)
		expect("", false)
		if err := db.Commit(admission.Unlimited(t.Context()), c.Parts("third", now)...); err != nil {
			t.Fatalf("the key after a day: %v", err)
		}
		expect("third", true)
	})
}

func TestClaim_DifferentCallersOperationsOrPaths_ShareNoRecord(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		base := auth.Principal{Issuer: "https://people.example", UserID: uuid.NewString(), OrganizationID: "acme"}
		if err := db.Commit(admission.Unlimited(t.Context()), claim(t, base, "k", input{"a"}).Parts("mine", db.Now())...); err != nil {
			t.Fatal(err)
		}
		others := []auth.Principal{base, base, base}
		others[0].Issuer += "/"
		others[1].UserID += "x"
		others[2].OrganizationID = ""
		for _, other := range others {
			if _, found, err := claim(t, other, "k", input{"a"}).First(t.Context(), db); found || err != nil {
				t.Errorf("%+v found it: %v", other, err)
			}
		}
		// The same text split in another way is another key.
		a, b := base, base
		a.UserID, a.OrganizationID = "x", "y\",\"z"
		b.UserID, b.OrganizationID = "z\",\"x", "y"
		if claim(t, a, "k", input{}) == claim(t, b, "k", input{}) {
			t.Error("two callers share a record")
		}
	})
}

func TestClaim_WithoutAKey_WritesNothing(t *testing.T) {
	c := claim(t, auth.Principal{}, "", input{"a"})
	if parts := c.Parts("x", time.Now()); len(parts) != 0 {
		t.Errorf("it writes %d parts", len(parts))
	}
	if _, found, err := c.First(t.Context(), nil); found || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
}
