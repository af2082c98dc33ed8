package boxes

import (
	"context"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
)

func labels(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "labels TYPE [FORM]", Short: "Show or set in which words boxes of an edge type may say their version, and what factories may opt out of",
		Long: "Boxes may say the version that they run in other words than the release's name. Such boxes are mislabelled, and a rollout " +
			"waits for a person, until their edge type has a form. alike: in quotes, in other letters, with a leading v, or with _ or - " +
			"for a dot. ignoreBuild: also with other build metadata or another epoch, as 1.4.0+7. exact: only the name. --opt-out says of which releases factories may opt out (wavegate factories opt-out).",
		Example: "wavegate boxes --state mislabelled\nwavegate labels gateway-x\nwavegate labels gateway-x alike\nwavegate labels gateway-x --attribute sw_version\n" +
			"wavegate labels gateway-x --opt-out ordinary",
	}
	attribute := cmd.Flags().String("attribute", "", "the `attribute` by which DDI clients say their version instead of installed; '' for none")
	optOut := cmd.Flags().String("opt-out", "", "of which releases factories may opt out: none, ordinary or all")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		path, wish := api.Path("/api/ota/edge-types/%s", c.Args[0]), map[string]any{}
		if len(c.Args) > 1 {
			wish["versionForm"] = c.Args[1]
		}
		if cmd.Flags().Changed("attribute") {
			if wish["versionAttribute"] = any(*attribute); *attribute == "" {
				wish["versionAttribute"] = nil
			}
		}
		if *optOut != "" {
			wish["optOut"] = *optOut
		}
		if len(wish) > 0 {
			return c.Put(ctx, run.Change{What: "edge type " + c.Args[0], Path: path, Wish: wish})
		}
		err := c.Read(ctx, path, nil)
		if run.Missing(err) && !c.JSON {
			c.Say("boxes of %s must say the names of releases", c.Args[0])
			return nil
		}
		return err
	})
}
