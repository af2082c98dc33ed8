// Command register-edges registers up to 30 boxes, or moves them, in one transaction: 200 with the numbers of new,
// moved and unchanged boxes. See put-edge for the fields of each box.
package main

import (
	"context"
	"net/http"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
)

func main() { function.Run(boxes.RegisterEdges(), wire) }

func wire(env lambdahttp.Env) function.Handler[[]edge.BatchItem] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log)).
		Within(edge.ReadQuotas(env.Settings)).Leaving(method.NewStore(env.DB).Leaves)
	factories := factory.NewStore(env.DB)
	return func(c *function.Call, batch []edge.BatchItem) (lambdahttp.Answer, error) {
		named := make([]factory.Named, len(batch))
		for i, m := range batch {
			if m.FactoryID != nil {
				named[i] = factory.Named{OrganizationID: m.OrganizationID, FactoryID: *m.FactoryID}
			}
		}
		tally, err := edges.For(c.Caller).PutAll(c.Context(), c.Origin(), batch, c.Claim, func(ctx context.Context) (refusal, err error) {
			return factories.OfAll(ctx, "/edges", named)
		})
		return lambdahttp.Answer{Status: http.StatusOK, Body: tally}, err
	}
}
