package command

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

// versions counts the boxes of a channel by version.
func (a *app) versions() *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use: "versions CHANNEL", Short: "Count which versions the boxes of a channel run", Args: cobra.ExactArgs(1),
		Example: "  wavegate versions gateway-x/stable\n  wavegate versions gateway-x/stable --fresh",
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, err := a.onChannel(args)
			if err != nil {
				return err
			}
			query := url.Values{}
			if fresh {
				query.Set("fresh", "true")
			}
			answer, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: api.ChannelPath(name) + "/progress", Query: query})
			if err != nil {
				return err
			}
			return a.versionsOf(answer)
		}),
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "count the boxes now, unless they were counted in the last 10 seconds")
	return cmd
}

func (a *app) versionsOf(answer api.Response) error {
	if a.json {
		a.show(answer.Body)
		return nil
	}
	var p struct {
		Boxes, Unknown, OtherVersions int
		AsOf                          time.Time
		Versions                      []struct {
			Version string
			Boxes   int
		}
	}
	if err := answer.Into(&p); err != nil {
		return err
	}
	rows := []string{cells("VERSION", "BOXES")}
	for _, v := range p.Versions {
		rows = append(rows, cells(v.Version, v.Boxes))
	}
	if p.OtherVersions > 0 {
		rows = append(rows, cells("others", p.OtherVersions))
	}
	if p.Unknown > 0 {
		rows = append(rows, cells("not known", p.Unknown))
	}
	a.note("%d boxes, counted %s ago", p.Boxes, time.Since(p.AsOf).Round(time.Second))
	return a.table(rows...)
}
