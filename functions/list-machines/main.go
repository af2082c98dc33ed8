// Command list-machines lists the machines of a factory that the caller may read.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/operations/machines"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/production/machine"
)

func main() { function.Run(machines.ListMachines(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Place]] {
	machines := machine.NewStore(env.DB)
	return func(c *function.Call, in paging.Asked[string, paging.Place]) (lambdahttp.Answer, error) {
		query := paging.Query{Path: c.Route()}
		return paging.List(c, query, in.Page, func(w dynamo.Span) (dynamo.Page[machine.Machine], error) {
			return machines.List(c.Context(), c.Caller, in.List, w)
		})
	}
}
