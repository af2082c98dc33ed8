package command

import (
	"context"
	"errors"
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
		Use: "freeze --for TIME --reason REASON", Short: "Let nobody start, promote or publish for a time",
		Long: "Lets nobody start, promote, resume or publish for a time, unless they say why it must be. Halts always pass.",
		Args: cobra.NoArgs,
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
	return cmd
}

func (a *app) unfreeze() *cobra.Command {
	return &cobra.Command{
		Use: "unfreeze", Short: "End a freeze", Args: cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.askName("unfreeze", "End the freeze of all channels."); err != nil {
				return err
			}
			_, err = c.Do(ctx, api.Request{Method: http.MethodDelete, Path: freezePath})
			if r, refused := errors.AsType[*api.RefusedError](err); refused && r.Status == http.StatusNotFound {
				a.say("no freeze is on")
				return nil
			}
			if err == nil {
				a.say("the freeze has ended")
			}
			return err
		}),
	}
}
