package boxes

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/timestamp"
)

func pin(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pin BOX [VERSION]", Short: "Keep a box on a version, or on what it runs, for some time",
		Long: "Keeps a box on a version, or on what it runs if you name none. Its channel and rollouts do not reach it until the pin " +
			"ends: after 30 days, or when you say, a year ahead at most. Then it keeps what it runs while its channel has an older release.",
		Example: "wavegate pin box-0017 --reason 'acceptance test of line 4' --days 5\nwavegate pin box-0017 1.0.0 --reason 'fails with 1.1.0' --allow-downgrade",
	}
	reason := cmd.Flags().String("reason", "", "why; whoever asks why the box is told the version sees it")
	days := cmd.Flags().Int("days", 30, "how many days the pin lasts, 365 at most")
	downgrade := cmd.Flags().Bool("allow-downgrade", false, "the box may go back to an older release than it runs")
	run.Required(cmd, "reason")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		until := time.Now().Add(time.Duration(*days) * 24 * time.Hour)
		wish, to := map[string]any{"reason": *reason, "until": timestamp.Text(until)}, "what it runs"
		if len(args) > 1 {
			wish["version"], to = args[1], args[1]
		} else {
			wish["installed"] = true
		}
		if *downgrade {
			wish["allowDowngrade"] = true
		}
		return run.Change{What: "box " + args[0], Path: api.EdgePath(args[0]), Wish: map[string]any{"pin": wish},
			Done: args[0] + " is pinned to " + to + " until " + terminal.Clock(until)}, nil
	})
}

func unpin(r *run.Run) *cobra.Command {
	return r.Sets(&cobra.Command{
		Use: "unpin BOX", Short: "Let a pinned box follow its channel again", Example: "wavegate unpin box-0017",
		Long: "Ends the pin of a box. It follows its channel again, and keeps what it runs while its channel has an older release.",
	}, func(args []string) (run.Change, error) {
		return run.Change{What: "box " + args[0], Path: api.EdgePath(args[0]), Wish: map[string]any{"pin": nil}, Done: args[0] + " follows its channel again"}, nil
	})
}

func pins(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pins CHANNEL", Short: "List the pinned boxes of a channel, why, and until when", Example: "wavegate pins gateway-x/stable",
	}
	most := run.Limited(cmd, 1000)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		name := c.Args[0]
		return run.List[edge.Edge]{
			Path: "/api/edges", Query: run.OnChannel(name, "pinned", "true"), None: "no box of " + name + " is pinned", Of: api.ChannelPath(name),
			Head: "BOX|VERSION|UNTIL|BY|REASON", Row: func(b edge.Edge) []any {
				return []any{b.EdgeID, b.Pin.Version, timestamp.Text(b.Pin.Until), b.Pin.By.UserID, b.Pin.Reason}
			},
		}.Print(ctx, c, *most)
	})
}
