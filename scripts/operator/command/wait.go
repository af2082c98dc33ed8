package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/cohort"
)

// stages lists the stages for people.
var stages = strings.Trim(strings.ReplaceAll(fmt.Sprint(cohort.Stages), " ", ", "), "[]")

func (a *app) wait() *cobra.Command {
	var until string
	var every, timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait CHANNEL --until STAGE|ended", Short: "Wait until a rollout is at a stage, or has ended",
		Example: "  wavegate wait gateway-x/stable --until ended\n  wavegate wait gateway-x/stable --until 10 --timeout 2h",
		Long: "Waits until the rollout of a channel has reached a stage (" + stages + "), or has ended. It exits with 3 if the\n" +
			"rollout ended before the stage or was not completed, and with 5 after the timeout.",
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			stage, err := strconv.Atoi(until)
			if until != "ended" && (err != nil || !slices.Contains(cohort.Stages, stage)) {
				return fail(Misused, "--until %q is unknown; it is %s or ended", until, stages)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			c.Reach = c.Patience // it may wait for hours, and the network fails for moments
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			r, err := a.latest(ctx, c, name)
			for err == nil {
				switch {
				case until != "ended" && r.StagedPercent >= stage && (r.Status == "active" || r.Adopted):
					a.say("%s is at %d %%", name, r.StagedPercent)
					return a.shown(ctx, c, api.RolloutPath(r.ID))
				case r.Status != "active":
					if err := a.shown(ctx, c, api.RolloutPath(r.ID)); err != nil {
						return err
					}
					return ended(r)
				}
				select {
				case <-ctx.Done():
				case <-time.After(every):
				}
				var now api.Rollout
				if now, _, err = api.Get[api.Rollout](ctx, c, api.RolloutPath(r.ID), nil); err == nil {
					r = now
				}
			}
			switch {
			case ctx.Err() == context.DeadlineExceeded && r.ID == "":
				return fail(Unknown, "the timeout is over, and the rollout could not be read")
			case ctx.Err() == context.DeadlineExceeded:
				return fail(Unknown, "the timeout is over; the rollout is at %d %% and %s", r.StagedPercent, r.Status)
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&until, "until", "ended", stages+" or ended")
	cmd.Flags().DurationVar(&every, "every", 5*time.Second, "how often to look")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait; by default, forever")
	return cmd
}
