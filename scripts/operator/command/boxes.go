package command

import (
	"context"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) boxes() *cobra.Command {
	var state, prefix string
	var most int
	cmd := &cobra.Command{
		Use: "boxes CHANNEL", Short: "List the boxes of a channel, or those of its rollout by how they got on",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			if state != "" && prefix != "" {
				return fail(Misused, "give --state or --prefix, not both")
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			edgeType, channel, _ := api.ChannelName(name)
			path, query := "/api/edges", url.Values{"edgeType": {edgeType}, "channel": {channel}}
			head, row := cells("BOX", "ORGANIZATION", "FACTORY"), func(b box) string { return cells(b.EdgeID, b.OrganizationID, b.FactoryID) }
			if prefix != "" {
				query.Set("idPrefix", prefix)
			}
			if state != "" {
				r, err := a.latest(ctx, c, name)
				if err != nil {
					return err
				}
				path, query = api.RolloutPath(r.ID)+"/edges", url.Values{"state": {state}}
				head, row = cells("BOX", "STAGE", "RUNS", "CODE", "DETAIL"), func(b box) string { return cells(b.EdgeID, b.Stage, b.Running, b.Code, b.Detail) }
			}
			return list(ctx, a, c, path, query, most, head, row)
		}),
	}
	cmd.Flags().StringVar(&state, "state", "", "only those of the rollout that are offered, working, deferred, installed, failed or reverted")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only those whose ids begin so")
	cmd.Flags().IntVar(&most, "limit", 1000, "how many at most")
	return cmd
}

// A box is one of either list.
type box struct {
	EdgeID         string     `json:"edgeId"`
	OrganizationID string     `json:"organizationId"`
	FactoryID      string     `json:"factoryId"`
	TokenSetAt     *time.Time `json:"tokenSetAt"`
	Stage          int        `json:"stage"`
	Running        string     `json:"running"`
	Code           string     `json:"code"`
	Detail         string     `json:"detail"`
}

// list prints a list as a table, or with --json its pages, a document a line. It says where it was cut.
func list[T any](ctx context.Context, a *app, c *api.Client, path string, query url.Values, most int, head string, row func(T) string) error {
	query.Set("limit", "100")
	rows, cut := []string{head}, false
	err := c.Pages(ctx, path, query, func(page api.Response) (bool, error) {
		var of struct {
			Items []T
			Next  string
		}
		if err := page.Into(&of); err != nil {
			return false, err
		}
		if a.json {
			a.show(page.Body)
		}
		for i, item := range of.Items {
			if len(rows) > most {
				cut = i < len(of.Items)
				break
			}
			rows = append(rows, row(item))
		}
		cut = cut || len(rows) > most && of.Next != ""
		return len(rows) <= most, nil
	})
	if err != nil {
		return err
	}
	if !a.json {
		err = a.table(rows...)
	}
	if cut {
		a.note("wavegate: there are more; see --limit")
	}
	return err
}
