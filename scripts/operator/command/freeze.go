package command

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

const freezePath = "/api/ota/freeze"

func (a *app) freeze() *cobra.Command {
	var reason string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use: "freeze --for TIME --reason REASON", Short: "Block starts, promotions and publications for a time",
		Long:    "Blocks starts, promotions, resumptions and publications for a time, except with --override REASON. Halts are always possible.",
		Example: "  wavegate freeze --for 48h --reason 'stocktaking in all factories'\n  wavegate freeze show",
		Args:    known,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			until := time.Now().Add(lasts).UTC().Truncate(time.Second)
			if err := a.ask("Freeze all channels until " + clock(until) + "?"); err != nil {
				return err
			}
			body := map[string]any{"reason": reason, "until": until.Format(time.RFC3339)}
			if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: freezePath, Body: body}); err != nil {
				return err
			}
			a.say("frozen until %s", clock(until))
			return a.shown(ctx, c, freezePath)
		}),
	}
	cmd.Flags().DurationVar(&lasts, "for", 0, "how long, such as 48h; 720h at most")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit trail")
	_ = cmd.MarkFlagRequired("for")    // it was declared
	_ = cmd.MarkFlagRequired("reason") // two lines above
	cmd.AddCommand(a.freezeShow())
	return cmd
}

func (a *app) freezeShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the active freeze", Args: cobra.NoArgs, Example: "  wavegate freeze show",
		RunE: a.run(func(ctx context.Context, _ []string) error {
			err := a.read(ctx, freezePath, nil)
			if isMissing(err) && !a.json {
				a.say("no freeze is active")
				return nil
			}
			return err
		}),
	}
}

// thawed fails during a freeze.
func thawed(ctx context.Context, c *api.Client) error {
	f, _, err := freezeNow(ctx, c)
	if isForbidden(err) || err == nil && f == nil { // if the person is not allowed to read it, the service still enforces it
		return nil
	}
	if err != nil {
		return err
	}
	return fail(Refused, "all channels are frozen until %s: %s. Use --override REASON to do it anyway", clock(f.Until), f.Reason)
}

func (a *app) unfreeze() *cobra.Command {
	return &cobra.Command{
		Use: "unfreeze", Short: "End a freeze", Args: cobra.NoArgs, Example: "  wavegate unfreeze",
		RunE: a.run(func(ctx context.Context, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.askName("unfreeze", "End the freeze of all channels."); err != nil {
				return err
			}
			_, err = c.Do(ctx, api.Request{Method: http.MethodDelete, Path: freezePath})
			if isMissing(err) {
				a.say("no freeze is active")
				return nil
			}
			if err == nil {
				a.say("the freeze has ended")
			}
			return err
		}),
	}
}
