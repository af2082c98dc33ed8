package factory_test

import (
	"fmt"
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
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

type thing struct {
	FactoryID string `json:"factoryId"`
	Code      string `json:"code"`
}

// TestListIn_StrangersOffset_ReadsNothing: the items that an offset skips belong to another organization, and reading
// them would use capacity of the factory's partition.
func TestListIn_StrangersOffset_ReadsNothing(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		q := &dynamotest.QueryCounter{Client: client}
		db := dynamo.Open(q, time.Now)
		s, id := factory.NewStore(db), uuid.NewString()
		ctx := admission.Unlimited(t.Context())
		if _, err := s.Put(ctx, origin, id, factory.Registration{OrganizationID: "acme", Name: "One"}, input.Preconditions{}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			expect.OK(t, db.Commit(ctx, dynamo.TransactPut("thing", dynamo.Machines, nil, thing{id, fmt.Sprint(i)}, dynamo.Condition{})))
		}
		list := func(caller auth.Principal, factoryID string, skip int) (dynamo.Page[thing], error) {
			return factory.ListIn[thing](t.Context(), s, caller, factoryID,
				dynamo.Selection{Table: dynamo.Machines, Partition: factoryID}, dynamo.Span{Skip: skip, Limit: 1})
		}
		stranger := auth.Principal{UserID: "rita", OrganizationID: "rival"}
		for _, factoryID := range []string{id, uuid.NewString()} {
			if _, err := list(stranger, factoryID, 2); !problem.Has(err, problem.NotFound) || q.Queries.Load() != 0 {
				t.Errorf("a stranger gets %v after %d queries", err, q.Queries.Load())
			}
			_, err := list(stranger, factoryID, 0)
			expect.That(t, problem.Has(err, problem.NotFound), "a stranger's first page gives %v", err)
			q.Queries.Store(0)
		}
		for skip := range 3 {
			if page, err := list(member, id, skip); err != nil || len(page.Items) != 1 || page.Items[0].Code != fmt.Sprint(skip) || page.More != (skip < 2) {
				t.Errorf("a member after %d: %+v, %v", skip, page, err)
			}
		}
	})
}
