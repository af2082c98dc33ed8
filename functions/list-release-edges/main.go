// Command list-release-edges answers with the boxes that ran a version, or were told it, before.
package main

import (
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/function"
	"wavegate/shared/operations/releases"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

func main() { function.Run(releases.ListReleaseEdges(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[release.Named, paging.Cursor]] {
	reports := report.NewStore(env.DB, 0)
	return func(c *function.Call, in paging.Asked[release.Named, paging.Cursor]) (lambdahttp.Answer, error) {
		only := c.Caller.Only()
		query := paging.Query{Path: c.Route(), Of: only}
		position, err := in.Page.Position(query, report.IsPositionOf)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		page := dynamo.Page[report.Spell]{}
		if only == "" && !c.Caller.SeesAll() { // of no organization
			return paging.Series(c, query, in.Page.Limit, page, report.Spell.Began), nil
		}
		found, err := reports.EverRan(c.Context(), in.List.EdgeType, in.List.Version, only, position, in.Page.Limit)
		page.More = found.More
		for _, p := range found.Items {
			page.Items, page.Last = append(page.Items, p.Spell), report.PositionOf(p)
		}
		return paging.Series(c, query, in.Page.Limit, page, report.Spell.Began), err
	}
}
