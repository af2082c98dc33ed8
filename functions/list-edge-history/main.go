// Command list-edge-history answers with what a box ran and was told, the newest first.
package main

import (
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
)

func main() { function.Run(boxes.ListEdgeHistory(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Cursor]] {
	reports := report.NewStore(env.DB, 0)
	return func(c *function.Call, in paging.Asked[string, paging.Cursor]) (lambdahttp.Answer, error) {
		only := c.Caller.Only()
		query := paging.Query{Path: c.Route(), Of: only}
		before, err := in.Page.Position(query, report.IsBegan)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		row, err := reports.Get(c.Context(), in.List)
		if err == nil && only == "" && !c.Caller.SeesAll() {
			err = problem.Missing()
		}
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		page, err := reports.History(c.Context(), in.List, row, only, before, in.Page.Limit)
		if err == nil && len(page.Items) == 0 && (row.Revision == 0 || row.Retired || !c.Caller.MaySee(row.OrganizationID)) {
			err = problem.Missing()
		}
		return paging.Series(c, query, in.Page.Limit, page, report.Spell.Began), err
	}
}
