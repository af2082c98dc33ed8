// Command export-organization answers with everything that the service stores about an organization, page by page, as
// JSON Lines.
package main

import (
	"encoding/json"
	"net/http"

	"wavegate/shared/export"
	"wavegate/shared/function"
	"wavegate/shared/operations/trails"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
	"wavegate/shared/platform/problem"
)

func main() { function.Run(trails.ExportOrganization(), wire) }

func wire(env lambdahttp.Env) function.Handler[paging.Asked[string, paging.Cursor]] {
	exporter := export.New(env.DB)
	return func(c *function.Call, in paging.Asked[string, paging.Cursor]) (lambdahttp.Answer, error) {
		id, cursor := in.List, in.Page
		if !c.Caller.MayRead(id) {
			return lambdahttp.Answer{}, problem.Missing()
		}
		query := paging.Query{Path: c.Route()}
		position, err := cursor.Position(query, export.IsPosition)
		if err != nil {
			return lambdahttp.Answer{}, err
		}
		page, err := exporter.Read(c.Context(), id, position, cursor.Limit)
		header := http.Header{"Content-Type": {"application/jsonl"}, "Cache-Control": {"no-store"}}
		if page.Position != "" {
			header.Set("Link", "<"+query.After(c, cursor.Limit, page.Position)+`>; rel="next"`)
		}
		return lambdahttp.Answer{Status: http.StatusOK, Header: header, Body: json.RawMessage(page.Lines)}, err
	}
}
