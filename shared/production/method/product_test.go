package method_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
	"wavegate/shared/production/product"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/idempotency"
)

// TestShow_AProductThatIsNamedLater_ShowsItsNameEverywhere: a product of the same id in another factory does not, and an id
// that nobody has named stays accepted.
func TestShow_AProductThatIsNamedLater_ShowsItsNameEverywhere(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		methods, products := method.NewStore(db), product.NewStore(db)
		ctx := admission.Unlimited(t.Context())
		var slugs, ids [2]string
		for i := range slugs {
			slugs[i] = uuid.NewString()
			expect.Value(factory.NewStore(db).Put(ctx, origin, slugs[i], factory.Registration{OrganizationID: "acme", Name: "A factory"}, input.Preconditions{}))(t)
			ids[i] = expect.Value(methods.Create(ctx, engineer, origin, slugs[i], draft, idempotency.Claim{}))(t)
			expect.Value(methods.Create(ctx, engineer, origin, slugs[i], method.Creation{ProductID: uuid.NewString(), Name: "Other"}, idempotency.Claim{}))(t)
		}
		at := product.Place{FactoryID: slugs[0], ProductID: draft.ProductID}
		unnamed := expect.Value(methods.Show(ctx, engineer, slugs[0], ids[0]))(t)
		expect.That(t, unnamed.Product == nil, "got %+v", unnamed.Product)
		tags := map[string]bool{unnamed.ETag(): true}
		for _, name := range []string{"Housing", "Lid"} {
			expect.Value(products.Put(ctx, engineer, origin, at, product.Naming{Name: name}, input.Preconditions{}))(t)
			shown := expect.Value(methods.Show(ctx, owner, slugs[0], ids[0]))(t)
			expect.Must(t, shown.Product != nil, "the product has no name")
			expect.Equal(t, *shown.Product, product.Details{Name: name, Status: product.Active}, "the method shows")
			expect.That(t, !tags[shown.ETag()], "the entity tag stays %s", shown.ETag())
			tags[shown.ETag()] = true
		}
		for i, slug := range slugs {
			page := expect.Value(methods.ShowList(ctx, engineer, method.Filter{FactoryID: slug}, dynamo.Span{Limit: 10}))(t)
			expect.Must(t, len(page.Items) == 2, "%d methods", len(page.Items))
			for _, m := range page.Items {
				expect.Equal(t, m.Product != nil, i == 0 && m.MethodID == ids[0], "%s of factory %d has a name:", m.Name, i)
			}
		}
		_, err := products.Put(ctx, rival, origin, at, product.Naming{Name: "Mine"}, input.Preconditions{})
		_, read := products.Get(ctx, rival, at)
		_, listed := products.List(ctx, rival, slugs[0], dynamo.Span{Limit: 10})
		_, missing := products.Get(ctx, engineer, product.Place{FactoryID: slugs[1], ProductID: draft.ProductID})
		for _, err := range []error{err, read, listed, missing} {
			expect.That(t, problem.Has(err, problem.NotFound), "got %v", err)
		}
	})
}
