package boxes

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
)

func labels(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "labels TYPE [FORM]", Short: "Show or set in which words boxes of an edge type may say their version",
		Long: "Boxes may say the version that they run in other words than the release's name. Such boxes are mislabelled, and a rollout " +
			"waits for a person, until their edge type has a form. alike: in quotes, in other letters, with a leading v, or with _ or - " +
			"for a dot. ignoreBuild: also with other build metadata or another epoch, as 1.4.0+7. none: the name.",
		Example: "wavegate boxes --state mislabelled\nwavegate labels gateway-x\nwavegate labels gateway-x alike",
	}
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		path, wish := api.Path("/api/ota/edge-types/%s", c.Args[0]), map[string]any{}
		if len(c.Args) == 1 {
			err := c.Read(ctx, path, nil)
			if run.Missing(err) && !c.JSON {
				c.Say("boxes of %s must say the names of releases", c.Args[0])
				return nil
			}
			return err
		}
		if c.Args[1] != "none" {
			wish["versionForm"] = c.Args[1]
		}
		return c.Take(ctx, run.Step{
			Question: "Let all boxes of " + c.Args[0] + " say their version in this form: " + c.Args[1] + "?", Done: c.Args[0] + " has the form " + c.Args[1],
			Request: api.Request{Method: http.MethodPut, Path: path, Body: wish}, Shown: path,
		})
	})
}
