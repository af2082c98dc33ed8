package method_test

import (
	"context"
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
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

func TestList_ByAnyProductAndLimit_GivesEveryMethodOnceInOrderOfCreation_WhileOthersAreMade(t *testing.T) {
	engineer := auth.Principal{UserID: "eric", OrganizationID: "acme", Roles: []auth.Role{auth.ProductionEngineer}}
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		methods := method.NewStore(db)
		products := []string{uuid.NewString(), uuid.NewString()}
		dynamotest.Check(t, func(t *rapid.T) {
			factoryID := "f-" + uuid.NewString()
			if _, err := factory.NewStore(db).Put(admission.Unlimited(context.Background()), audit.Origin{}, factoryID, factory.Registration{OrganizationID: "acme", Name: "Munich"}, input.Preconditions{}); err != nil {
				t.Fatal(err)
			}
			wanted := rapid.SampledFrom(append([]string{""}, products...)).Draw(t, "by product")
			var want []string
			create := func(productID string) {
				d := method.Creation{ProductID: productID, Name: "Milling"}
				id, err := methods.Create(admission.Unlimited(context.Background()), engineer, audit.Origin{}, factoryID, d, idempotency.Claim{})
				expect.OK(t, err)
				if wanted == "" || wanted == d.ProductID {
					want = append(want, id)
				}
			}
			for range rapid.IntRange(0, 7).Draw(t, "methods") {
				create(rapid.SampledFrom(products).Draw(t, "product"))
			}
			var got []string
			there := len(want)
			w := dynamo.Span{Limit: rapid.IntRange(1, 9).Draw(t, "limit")}
			for more := true; more; w.Skip += w.Limit {
				page := expect.Value(methods.List(context.Background(), engineer, factoryID, wanted, "", w))(t)
				for _, m := range page.Items {
					got = append(got, m.MethodID)
				}
				if more = page.More; more && rapid.Bool().Draw(t, "another meanwhile") {
					create(rapid.SampledFrom(products).Draw(t, "product"))
				}
			}
			// New methods come last. They do not shift others, and the pages also reach them.
			expect.Must(t, len(got) >= there && slices.Equal(got, want[:len(got)]),
				"the walk gives %q, want %q", got, want)
			rival := auth.Principal{UserID: "rita", OrganizationID: "rival", Roles: engineer.Roles}
			_, err := methods.List(context.Background(), rival, factoryID, wanted, "", w)
			expect.Must(t, problem.Has(err, problem.NotFound), "another organization gets %v", err)
		})
	})
}
