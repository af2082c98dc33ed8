package boxes

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
)

func why(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "why BOX", Short: "Explain why a box is told its version",
		Example: "wavegate why box-0017\nwavegate why box-0017 --verify",
	}
	verify := cmd.Flags().Bool("verify", false, "also compute here at which stage the rollout reaches the box")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		w, answer, err := api.Get[census.Why](ctx, c, c.Path("/api/edges/%s/update/why"), nil)
		if err != nil {
			return err
		}
		if err := c.Either(answer, func() error { tell(c, w); return nil }); err != nil || !*verify {
			return err
		}
		return verified(c, w)
	})
}

func tell(c *run.Call, w census.Why) {
	c.Say("%s: %s", w.EdgeID, w.Sentence)
	if r := w.Report; r != nil {
		text := fmt.Sprintf("It %s %s since %s", states[r.State], r.Version, clock(r.Since))
		if r.Attempts > 1 {
			text += fmt.Sprintf(", after %d attempts", r.Attempts)
		}
		if r.Code != "" {
			text += ": " + string(r.Code)
		}
		if r.Detail != "" {
			text += ", " + r.Detail
		}
		c.Say("%s", text)
	}
	if w.Running != "" && !w.Assumed { // the sentence says that
		c.Say("It runs %s, as it last said.", w.Running)
	}
	if w.LastSeenAt != nil {
		c.Say("It was last seen %s ago.", terminal.Length(time.Since(*w.LastSeenAt)))
	}
	for _, warning := range w.Warnings {
		c.Say("%s", warning)
	}
}

// states say what a box did with an offer.
var states = map[report.State]string{
	"offered": "was offered", "working": "works on", "deferred": "put off", "installed": "runs", "failed": "failed at", "reverted": "went back from",
}

// verified computes the box's place in the rollout's order and compares it with the service's.
func verified(c *run.Call, w census.Why) error {
	if w.Rollout == nil {
		c.Say("There is no rollout to compute a place in.")
		return nil
	}
	bucket := cohort.Of(w.EdgeType, w.Rollout.TargetVersion, w.EdgeID)
	reached := cohort.FirstStage(w.EdgeType, w.Rollout.TargetVersion, w.EdgeID)
	if bucket.Percentile() != w.Rollout.Percentile || reached != w.Rollout.ReachedAt {
		return run.Fail(run.Refused, "the service says percentile %d and stage %d; computed here they are %d and %d",
			w.Rollout.Percentile, w.Rollout.ReachedAt, bucket.Percentile(), reached)
	}
	c.Say("Computed here, too: percentile %d, reached at %d %%.", bucket.Percentile(), reached)
	return nil
}
