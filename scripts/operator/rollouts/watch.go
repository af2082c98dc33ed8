package rollouts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
)

// stages lists the stages for people.
var stages = strings.Trim(strings.ReplaceAll(fmt.Sprint(cohort.Stages), " ", ", "), "[]")

func wait(r *run.Run) *cobra.Command {
	var until string
	var every, timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait CHANNEL --until STAGE|ended", Short: "Wait until a rollout is at a stage, or has ended",
		Example: "wavegate wait gateway-x/stable --until ended\nwavegate wait gateway-x/stable --until 10 --timeout 2h",
		Long: "Waits until the rollout of a channel has reached a stage (" + stages + "), or has ended. It exits with 3 if the " +
			"rollout ended before the stage or was not completed, and with 6 after the timeout.",
	}
	cmd.Flags().StringVar(&until, "until", "ended", stages+" or ended")
	cmd.Flags().DurationVar(&every, "every", 5*time.Second, "how often to look")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait; by default, forever")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		stage, err := strconv.Atoi(until)
		if until != "ended" && (err != nil || !slices.Contains(cohort.Stages, stage)) {
			return run.Fail(run.Misused, "--until %q is unknown; it is %s or ended", until, stages)
		}
		c.Client.Reach = c.Client.Patience // it may wait for hours, and the network fails for moments
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		asked := time.Now()
		v, err := latest(ctx, c, c.Args[0])
		for last := v.rollout; ; last = v.rollout {
			switch {
			case ctx.Err() == context.DeadlineExceeded && (last.ID == "" || err != nil && time.Since(asked) > run.Patient):
				return run.Fail(run.Unknown, "the timeout is over, and the rollout could not be read")
			case ctx.Err() == context.DeadlineExceeded:
				return run.Fail(run.Late, "the timeout is over; the rollout is at %d %% and %s", last.StagedPercent, last.Status)
			case err != nil:
				return err
			case until != "ended" && last.StagedPercent >= stage && (last.Status == rollout.Active || last.Adopted):
				return c.Done(ctx, api.RolloutPath(last.ID), "%s is at %d %%", c.Args[0], last.StagedPercent)
			case last.Status != rollout.Active:
				if err := c.Shown(ctx, api.RolloutPath(last.ID)); err != nil {
					return err
				}
				return ended(last)
			}
			select {
			case <-ctx.Done():
			case <-time.After(every):
			}
			asked = time.Now()
			var now rollout.Rollout
			if now, _, err = api.Get[rollout.Rollout](ctx, c, api.RolloutPath(last.ID), nil); err == nil {
				v.rollout = now
			}
		}
	})
}

func watch(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch CHANNEL", Short: "Follow a rollout until it ends",
		Long: "Prints a line for each change of a channel's rollout until it ends, and then how it went. With --json, each line is " +
			"a document. It exits with 0 if the rollout was completed, and with 3 if it ended in another way.",
		Example: "wavegate watch gateway-x/stable\nwavegate watch gateway-x/stable --json | jq -r .progress.guard.sentence",
	}
	every := cmd.Flags().Duration("every", 10*time.Second, "how often to look")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		v, err := latest(ctx, c, c.Args[0])
		if err != nil {
			return err
		}
		if v, err = look(ctx, c, v.rollout.ID, ""); err != nil {
			return err
		}
		v, err = follow(ctx, c, v, *every, lines(c))
		if !c.JSON && ctx.Err() == nil {
			sums(ctx, c, v)
		}
		return err
	})
}

// sums shows at the end how the rollout went, and what can be done next.
func sums(ctx context.Context, c *run.Call, v view) {
	if v.rollout.Status != rollout.Active {
		if channel, _, err := api.Get[release.View](ctx, c, api.ChannelPath(idOf(v.rollout)), nil); err == nil {
			v.channel = channel
		}
		if err := v.ends(ctx, c); err != nil {
			c.Note("wavegate: why it ended could not be read: %s", err)
		}
	}
	c.ShowLines(v.lines(c.Columns(), time.Now()))
	offer(c, v)
}

// both returns the rollout and its progress as one document.
func (v view) both() string {
	text, _ := run.Written(struct { // documents that were parsed can be encoded
		Rollout  json.RawMessage `json:"rollout"`
		Progress json.RawMessage `json:"progress,omitempty"`
	}{v.document, v.counts})
	return string(text)
}

// ended returns the error for a rollout that is no longer active, which sets the exit code.
func ended(r rollout.Rollout) error {
	if r.Status == rollout.Completed && r.Adopted {
		return nil
	}
	return run.Fail(run.Otherwise, "the rollout was %s%s, at %d %%", r.Status, byWhat(r), r.StagedPercent)
}

// lines prints a line for each change; with --json, the line is a document.
func lines(c *run.Call) func(view, string) {
	last, lastNote := "", ""
	return func(v view, note string) {
		text := v.brief()
		if c.JSON {
			text = v.both()
		}
		if text != last {
			if last = text; !c.JSON {
				text = time.Now().Format("15:04:05") + " " + terminal.Printable(text)
			}
			fmt.Fprintln(c.Out, text)
		}
		if note != lastNote {
			if lastNote = note; note != "" {
				fmt.Fprintln(c.Err, "wavegate: "+terminal.Printable(note))
			}
		}
	}
}

// follow looks until the rollout ends. If a look fails, it says so, and the last view stays.
func follow(ctx context.Context, c *run.Call, v view, every time.Duration, print func(v view, note string)) (view, error) {
	current, note := time.Now(), ""
	for {
		print(v, note)
		if v.rollout.Status != rollout.Active {
			return v, ended(v.rollout)
		}
		select {
		case <-ctx.Done():
			return v, ctx.Err()
		case <-time.After(every):
		}
		next, err := v.again(ctx, c)
		switch code := run.CodeOf(err); {
		case err == nil:
			v, current, note = next, time.Now(), ""
		case code == run.SignIn || code == run.Refused: // further looks would be refused, too
			return v, err
		default:
			note = fmt.Sprintf("not up to date since %s: %s", clock(current), err)
		}
	}
}
