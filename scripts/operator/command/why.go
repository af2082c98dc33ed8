package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/cohort"
)

// A reasoned explains why a box is told its version.
type reasoned struct {
	EdgeID   string `json:"edgeId"`
	EdgeType string `json:"edgeType"`
	Sentence string `json:"sentence"`
	Running  string `json:"running"`
	Rollout  *struct {
		TargetVersion string `json:"targetVersion"`
		Percentile    int    `json:"percentile"`
		ReachedAt     int    `json:"reachedAt"`
	} `json:"rollout"`
	Report *struct {
		Version  string    `json:"version"`
		State    string    `json:"state"`
		Since    time.Time `json:"since"`
		Attempts int       `json:"attempts"`
		Code     string    `json:"code"`
		Detail   string    `json:"detail"`
	} `json:"report"`
	LastSeenAt *time.Time `json:"lastSeenAt"`
	Warnings   []string   `json:"warnings"`
}

func (a *app) why() *cobra.Command {
	var verify bool
	cmd := &cobra.Command{
		Use: "why BOX", Short: "Explain why a box is told its version", Args: cobra.ExactArgs(1),
		Example: "  wavegate why box-0017\n  wavegate why box-0017 --verify",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			w, answer, err := api.Get[reasoned](ctx, c, api.EdgePath(args[0])+"/update/why", nil)
			if err != nil {
				return err
			}
			if a.json {
				a.show(answer.Body)
			} else {
				a.tell(w)
			}
			if verify {
				return a.verify(w)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "also compute here at which stage the rollout reaches the box")
	return cmd
}

func (a *app) tell(w reasoned) {
	a.say("%s: %s", w.EdgeID, w.Sentence)
	if r := w.Report; r != nil {
		text := fmt.Sprintf("It %s %s since %s", states[r.State], r.Version, clock(r.Since))
		if r.Attempts > 1 {
			text += fmt.Sprintf(", after %d attempts", r.Attempts)
		}
		if r.Code != "" {
			text += ": " + r.Code
		}
		if r.Detail != "" {
			text += ", " + r.Detail
		}
		a.say("%s", printable(text))
	}
	if w.Running != "" {
		a.say("It runs %s, as it last said.", printable(w.Running))
	}
	if w.LastSeenAt != nil {
		a.say("It was last seen %s ago.", length(time.Since(*w.LastSeenAt)))
	}
	for _, warning := range w.Warnings {
		a.say("%s", printable(warning))
	}
}

// states say what a box did with an offer.
var states = map[string]string{
	"offered": "was offered", "working": "works on", "deferred": "put off", "installed": "runs", "failed": "failed at", "reverted": "went back from",
}

// verify computes the box's place in the rollout's order and compares it with the service's.
func (a *app) verify(w reasoned) error {
	if w.Rollout == nil {
		a.say("There is no rollout to compute a place in.")
		return nil
	}
	bucket := cohort.Of(w.EdgeType, w.Rollout.TargetVersion, w.EdgeID)
	reached := cohort.FirstStage(w.EdgeType, w.Rollout.TargetVersion, w.EdgeID)
	if bucket.Percentile() != w.Rollout.Percentile || reached != w.Rollout.ReachedAt {
		return fail(Refused, "the service says percentile %d and stage %d; computed here they are %d and %d",
			w.Rollout.Percentile, w.Rollout.ReachedAt, bucket.Percentile(), reached)
	}
	a.say("Computed here, too: percentile %d, reached at %d %%.", bucket.Percentile(), reached)
	return nil
}
