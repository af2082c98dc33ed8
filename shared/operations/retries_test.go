package operations_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

var (
	emma  = auth.Principal{Issuer: "https://people.example", OrganizationID: "acme", UserID: "emma", Roles: []auth.Role{auth.ProductionEngineer}}
	trail = audit.Origin{Actor: audit.Actor{Issuer: emma.Issuer, UserID: emma.UserID}, SourceIP: "192.0.2.7", RequestID: "r"}
)

// A keyed operation prepares one round: what the call needs. It returns the call, which gives its result.
type keyed func(context.Context, *dynamo.DB) (call func(idempotency.Claim) (string, error), err error)

// allKeyed are the operations that take an Idempotency-Key.
var allKeyed = map[string]keyed{
	"start-rollout": func(ctx context.Context, db *dynamo.DB) (func(idempotency.Claim) (string, error), error) {
		edgeType := "t-" + uuid.NewString()
		for channel, version := range map[string]string{"stable": "1.0.0", "canary": "1.1.0"} {
			_, err := publication.NewStore(db).Publish(ctx, trail, release.Publication{EdgeType: edgeType, Channel: channel, CurrentVersion: version,
				ArtifactURL: "https://a.example/" + version, SHA256: strings.Repeat("a", 64)}, input.Preconditions{})
			if err != nil {
				return nil, err
			}
		}
		return func(claim idempotency.Claim) (string, error) {
			return rollout.NewStore(db).Start(ctx, trail, rollout.Plan{EdgeType: edgeType, Channel: "stable", TargetVersion: "1.1.0"}, claim)
		}, nil
	},
	"register-edges": func(ctx context.Context, db *dynamo.DB) (func(idempotency.Claim) (string, error), error) {
		var batch []edge.BatchItem
		for range 3 {
			batch = append(batch, edge.BatchItem{EdgeID: uuid.NewString(), Assignment: edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme"}})
		}
		return func(claim idempotency.Claim) (string, error) {
			tally, err := edge.NewRegistry(db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}).PutAll(ctx, trail, batch, claim, func(context.Context) (refusal, err error) { return nil, nil })
			return fmt.Sprintf("%+v", tally), err
		}, nil
	},
	"create-edge-enrolment": func(ctx context.Context, db *dynamo.DB) (func(idempotency.Claim) (string, error), error) {
		plan := enrolment.Plan{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", EdgeIDs: []string{uuid.NewString()}, ExpiresAt: db.Now().Add(time.Hour)}
		return func(claim idempotency.Claim) (string, error) {
			id, _, err := enrolment.NewStore(db).Create(ctx, trail, plan, claim)
			return id, err
		}, nil
	},
	"create-production-method": func(ctx context.Context, db *dynamo.DB) (func(idempotency.Claim) (string, error), error) {
		plant := uuid.NewString()
		_, err := factory.NewStore(db).Put(ctx, trail, plant, factory.Registration{OrganizationID: emma.OrganizationID, Name: "A factory"}, input.Preconditions{})
		return func(claim idempotency.Claim) (string, error) {
			return method.NewStore(db).Create(ctx, emma, trail, plant, method.Creation{Name: "Milling", ProductID: uuid.NewString()}, claim)
		}, err
	},
}

// TestIdempotencyKey_EightRetriesAtOnce_AllGetTheResultOfOne: no retry is refused because of what the call itself has
// made.
func TestIdempotencyKey_EightRetriesAtOnce_AllGetTheResultOfOne(t *testing.T) {
	rounds := expect.Long(20, 500)
	for _, op := range table.All {
		if !op.Takes.IdempotencyKey {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			prepare := allKeyed[op.ID]
			expect.Must(t, prepare != nil, "there is no call for this operation")
			refused, ctx := 0, admission.Unlimited(t.Context())
			var db *dynamo.DB
			for round := range rounds {
				if round%50 == 0 { // the embedded store becomes slow as it grows
					db = dynamo.Open(dynamotest.Uneven{API: dynamotest.Embedded(t)}, time.Now)
				}
				call := expect.Value(prepare(ctx, db))(t)
				refused += retry(t, call)
			}
			t.Logf("%d rounds of eight, %d refusals", rounds, refused)
		})
	}
}

// retry makes a call eight times in parallel with one key, and returns how many were refused. All others must return
// the same result.
func retry(t *testing.T, call func(idempotency.Claim) (string, error)) (refused int) {
	t.Helper()
	claim := expect.Value(idempotency.Of(emma, "any", "/", uuid.NewString(), "the same input"))(t)
	var results [8]string
	var errs [8]error
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i], errs[i] = call(claim) })
	}
	group.Wait()
	first := ""
	for i, result := range results {
		switch {
		case errs[i] != nil:
			refused++
			t.Errorf("a retry was refused: %v", errs[i])
		case first == "":
			first = result
		case result != first:
			t.Errorf("the results are %s and %s", first, result)
		}
	}
	return refused
}
