package command

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) retire() *cobra.Command {
	return &cobra.Command{
		Use: "retire BOX", Short: "Retire a box", Args: cobra.ExactArgs(1),
		Example: "  wavegate retire box-0017",
		Long:    "Retires a box: it disappears from all lists and counts, and its polls are refused.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			b, answer, err := api.Get[struct {
				EdgeType       string `json:"edgeType"`
				Channel        string `json:"channel"`
				OrganizationID string `json:"organizationId"`
			}](ctx, c, api.EdgePath(args[0]), nil)
			if err != nil {
				return err
			}
			if err := a.ask("Retire " + args[0] + " of " + b.OrganizationID + ", which follows " + b.EdgeType + "/" + b.Channel + "?"); err != nil {
				return err
			}
			_, err = c.Do(ctx, api.Request{Method: http.MethodDelete, Path: api.EdgePath(args[0]), IfMatch: answer.Header.Get("ETag")})
			if err == nil {
				a.say("%s is retired", args[0])
			}
			return err
		}),
	}
}
