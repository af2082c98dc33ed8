package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

// reasons are the options of what is kept in the audit trail.
type reasons struct{ reason, override string }

func (r *reasons) flags(cmd *cobra.Command, overrides bool) {
	cmd.Flags().StringVar(&r.reason, "reason", "", "why, for the audit trail")
	if overrides {
		cmd.Flags().StringVar(&r.override, "override", "", "why it must be done although a window is closed or a freeze is on, for the audit trail")
	}
}

// with adds what was given to a body.
func (r reasons) with(body map[string]any) map[string]any {
	if r.reason != "" {
		body["reason"] = r.reason
	}
	if r.override != "" {
		body["overrideReason"] = r.override
	}
	return body
}

// move changes a rollout. With an entity tag it is changed only if it is still the one that was seen. A call
// whose answer was lost is sent again; where the first one was made, the second is refused, so the rollout is
// read back.
func (a *app) move(ctx context.Context, c *api.Client, was api.Rollout, body map[string]any, tag string) error {
	_, err := c.Do(ctx, api.Request{Method: http.MethodPatch, Path: api.RolloutPath(was.ID), Body: body, IfMatch: tag})
	r, refused := errors.AsType[*api.Refusal](err)
	if !refused || r.Status != http.StatusPreconditionFailed {
		return err
	}
	now, _, read := api.Get[api.Rollout](ctx, c, api.RolloutPath(was.ID), nil)
	if read != nil {
		return err
	}
	made := (body["staged_percent"] == nil || now.StagedPercent == body["staged_percent"]) && (body["status"] == nil || now.Status == body["status"])
	if r.Repeated && made && now.Revision == was.Revision+1 {
		return nil
	}
	return fail(Refused, "the rollout has changed since you saw it: it is at %d %% and %s. Look again, and repeat", now.StagedPercent, now.Status)
}

func tagOf(r api.Rollout) string { return strconv.Quote(strconv.FormatInt(r.Revision, 10)) }

func (a *app) promote() *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "promote CHANNEL", Short: "Raise a rollout to its next stage",
		Long: "Raises the rollout that is active on a channel to its next stage, if nobody changed it since it was shown to you.\n" +
			"The last stage, and a raise against the guard, ask for the channel's name.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, v, err := a.onActive(ctx, args)
			if err != nil {
				return err
			}
			next := api.Next(v.rollout.StagedPercent)
			if next == 0 {
				return fail(Refused, "the rollout is at 100 %%; complete it: wavegate complete %s", name)
			}
			question, ask := a.plan(name, v, next), a.ask
			if against := v.against(); next == 100 || against {
				ask = func(q string) error { return a.askName(name, q) }
			}
			if err := ask(question); err != nil {
				return err
			}
			if err := a.move(ctx, c, v.rollout, why.with(map[string]any{"staged_percent": next}), tagOf(v.rollout)); err != nil {
				return err
			}
			a.say("%s is at %d %%", name, next)
			return a.shown(ctx, c, api.RolloutPath(v.rollout.ID))
		}),
	}
	why.flags(cmd, true)
	return cmd
}

// onActive reads the channel that is named and the rollout that is active on it.
func (a *app) onActive(ctx context.Context, args []string) (name string, c *api.Client, v view, err error) {
	if name, err = channelArg(args); err != nil {
		return name, nil, v, err
	}
	if c, err = a.client(); err != nil {
		return name, nil, v, err
	}
	channel, err := a.active(ctx, c, name)
	if err != nil {
		return name, nil, v, err
	}
	v, err = look(ctx, c, channel.ActiveRollout.ID, "")
	if err == nil && v.rollout.Status != "active" {
		err = fail(Refused, "the rollout of %s was %s a moment ago", name, v.rollout.Status)
	}
	return name, c, v, err
}

// plan says what a raise does, for who is asked to confirm it.
func (a *app) plan(name string, v view, next int) string {
	text := fmt.Sprintf("%s: raise %s from %d to %d %%", name, v.rollout.TargetVersion, v.rollout.StagedPercent, next)
	if v.document == nil {
		return text + "? Its boxes were not counted yet."
	}
	s := v.total()
	text += fmt.Sprintf(", %d more boxes? Now: %d of %d installed, %d failed, %d reverted, %d silent", v.more(next),
		s.Installed, s.Expected, s.Failed, s.Reverted, v.progress.Silent.Boxes)
	if n := len(v.progress.Factories); n > 1 {
		text += fmt.Sprintf(", in %d places", n)
	}
	if g := v.progress.Guard; g != nil && g.Sentence != "" {
		text += ". Guard: " + printable(g.Sentence)
	}
	return text + "."
}

// against tells whether the guard finds that the rollout should not be raised now. That it leaves the raise to
// people is nothing against it.
func (v view) against() bool {
	g := v.progress.Guard
	return g != nil && (g.Verdict == "halt" || g.Verdict == "hold" && g.Reason != "PEOPLE_PROMOTE")
}

func (a *app) approve() *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "approve CHANNEL", Short: "Approve the next stage of a rollout that somebody else steers",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, v, err := a.onActive(ctx, args)
			if err != nil {
				return err
			}
			next := api.Next(v.rollout.StagedPercent)
			if next == 0 {
				return fail(Refused, "the rollout is at 100 %%; there is no stage to approve")
			}
			if err := a.ask(fmt.Sprintf("%s: approve %d %% of %s, %d more boxes?", name, next, v.rollout.TargetVersion, v.more(next))); err != nil {
				return err
			}
			_, err = c.Do(ctx, api.Request{Method: http.MethodPost, Path: api.RolloutPath(v.rollout.ID) + "/approvals",
				Body: why.with(map[string]any{"stage": next}), IfMatch: tagOf(v.rollout)})
			if err == nil {
				a.say("%d %% is approved", next)
				err = a.shown(ctx, c, api.RolloutPath(v.rollout.ID))
			}
			return err
		}),
	}
	why.flags(cmd, false)
	return cmd
}

func (a *app) complete() *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "complete CHANNEL", Short: "End a rollout that went well",
		Long: "Ends the rollout that is active on a channel. At 100 % its version becomes the channel's. Before, it ends where it is.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, v, err := a.onActive(ctx, args)
			if err != nil {
				return err
			}
			question := fmt.Sprintf("%s: make %s the version of the channel?", name, v.rollout.TargetVersion)
			if v.rollout.StagedPercent < 100 {
				question = fmt.Sprintf("%s: end the rollout of %s at %d %%? Nobody else gets it then.", name, v.rollout.TargetVersion, v.rollout.StagedPercent)
			}
			if err := a.ask(question); err != nil {
				return err
			}
			if err := a.move(ctx, c, v.rollout, why.with(map[string]any{"status": "completed"}), tagOf(v.rollout)); err != nil {
				return err
			}
			a.say("the rollout of %s on %s is completed", v.rollout.TargetVersion, name)
			return a.shown(ctx, c, api.RolloutPath(v.rollout.ID))
		}),
	}
	why.flags(cmd, false)
	return cmd
}

func (a *app) resume() *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "resume CHANNEL", Short: "Let a halted rollout go on at the stage where it was",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			r, err := a.latest(ctx, c, name)
			switch {
			case err != nil:
				return err
			case r.Status == "active":
				a.say("the rollout of %s on %s is active", r.TargetVersion, name)
				return a.shown(ctx, c, api.RolloutPath(r.ID))
			}
			if err := a.ask(fmt.Sprintf("%s: let the rollout of %s go on at %d %%?", name, r.TargetVersion, r.StagedPercent)); err != nil {
				return err
			}
			if err := a.move(ctx, c, r, why.with(map[string]any{"status": "active"}), tagOf(r)); err != nil {
				return err
			}
			a.say("the rollout of %s on %s is active at %d %%", r.TargetVersion, name, r.StagedPercent)
			return a.shown(ctx, c, api.RolloutPath(r.ID))
		}),
	}
	why.flags(cmd, true)
	return cmd
}
