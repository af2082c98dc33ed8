// Command put-edge registers a box on a release channel and in an organization, or moves it: 201 if it is new, 204
// otherwise. The box follows the channel from its next manifest poll on.
package main

import (
	"context"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
)

func main() { function.Run(boxes.PutEdge(), wire) }

func wire(env lambdahttp.Env) function.Handler[input.Sent[string, edge.Assignment]] {
	edges := edge.NewRegistry(env.DB, report.ReadShards(env.Settings)).Ringing(bell.Open(env.DB, env.Settings, env.Log)).
		Within(edge.ReadQuotas(env.Settings)).Leaving(method.NewStore(env.DB).Leaves)
	factories := factory.NewStore(env.DB)
	return func(c *function.Call, in input.Sent[string, edge.Assignment]) (lambdahttp.Answer, error) {
		id, assignment := in.Path, in.Body
		var beside []func(context.Context) error
		if named := assignment.FactoryID; named != nil && *named != "" {
			beside = append(beside, func(ctx context.Context) error { return factories.Of(ctx, assignment.OrganizationID, *named) })
		}
		created, err := edges.For(c.Caller).Put(c.Context(), c.Origin(), id, assignment, c.When, beside...)
		return lambdahttp.Stored(created), err
	}
}
