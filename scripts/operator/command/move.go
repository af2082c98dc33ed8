package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/cohort"
)

// reasons are the options with texts for the audit trail.
type reasons struct{ reason, override string }

func (r *reasons) flags(cmd *cobra.Command, overrides bool) {
	cmd.Flags().StringVar(&r.reason, "reason", "", "why, for the audit trail")
	if overrides {
		cmd.Flags().StringVar(&r.override, "override", "", "why to act despite a freeze or outside the windows, for the audit trail")
	}
}

// with adds the reasons to a body.
func (r reasons) with(body map[string]any) map[string]any {
	if r.reason != "" {
		body["reason"] = r.reason
	}
	if r.override != "" {
		body["overrideReason"] = r.override
	}
	return body
}

// move changes a rollout. With an entity tag, it does so only if the rollout has not changed since it was read. If an
// answer is lost, the call is sent again. If the first call succeeded, the second is refused, so the rollout is read
// back.
func (a *app) move(ctx context.Context, c *api.Client, was api.Rollout, body map[string]any, tag string) error {
	_, err := c.Do(ctx, api.Request{Method: http.MethodPatch, Path: api.RolloutPath(was.ID), Body: body, IfMatch: tag})
	r, refused := errors.AsType[*api.RefusedError](err)
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
		Example: "  wavegate promote gateway-x/stable --reason 'canary is fine'",
		Long: "Raises the rollout that is active on a channel to its next stage, if nobody has changed it since it was shown to you.\n" +
			"For the last stage, and against the guard's verdict, you have to type the channel's name.",
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, v, err := a.onActive(ctx, args)
			if err != nil {
				return err
			}
			next := cohort.After(v.rollout.StagedPercent)
			if next == 0 {
				return fail(Refused, "the rollout is at 100 %%; complete it: wavegate complete %s", name)
			}
			question, ask := plan(name, v, next, places(ctx, c, v.rollout.ID)), a.ask
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

// onChannel returns the channel that the first argument names, and a client for the person who is signed in.
func (a *app) onChannel(args []string) (name string, c *api.Client, err error) {
	if name, err = channelArg(args); err != nil {
		return "", nil, err
	}
	c, err = a.client()
	return name, c, err
}

// onActive reads the named channel and its active rollout.
func (a *app) onActive(ctx context.Context, args []string) (name string, c *api.Client, v view, err error) {
	if name, c, err = a.onChannel(args); err != nil {
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

// places counts the factories that have boxes of a rollout; 0 if the number cannot be read, which does not stop a
// promotion.
func places(ctx context.Context, c *api.Client, id string) int {
	p, _, err := api.Get[struct {
		Factories     []json.RawMessage `json:"factories"`
		MoreFactories int               `json:"moreFactories"`
	}](ctx, c, api.RolloutPath(id)+"/progress", url.Values{"by": {"factory"}})
	if err != nil {
		return 0
	}
	return len(p.Factories) + p.MoreFactories
}

// plan says what a promotion does, for the question that confirms it.
func plan(name string, v view, next, places int) string {
	text := fmt.Sprintf("%s: promote %s from %d to %d %%", name, v.rollout.TargetVersion, v.rollout.StagedPercent, next)
	if v.progress == nil {
		return text + "? Its boxes have not been counted yet."
	}
	s := v.progress.Total()
	text += fmt.Sprintf("%s? Now: %s of %s installed, %s failed, %s reverted, %s silent", v.moreBoxes(next),
		count(s.Installed), count(s.Expected), count(s.Failed), count(s.Reverted), count(v.progress.Silent.Boxes))
	if places > 1 {
		text += fmt.Sprintf(", in %d factories", places)
	}
	return text + "." + v.guardSays()
}

// steeredByPeople reports whether an active rollout has no guard.
func (v view) steeredByPeople() bool {
	return v.rollout.Guard == "none" && v.rollout.Status == "active"
}

// guardSays returns a sentence with the guard's verdict, or that there is no guard; empty if it has not judged yet.
func (v view) guardSays() string {
	if v.steeredByPeople() {
		return " No guard."
	}
	if g := v.judgement(); g != nil {
		return " Guard: " + printable(g.Sentence)
	}
	return ""
}

// against reports whether the guard advises against promoting the rollout now, or has not judged its stage yet. If it
// leaves the decision to people, it is not against it.
func (v view) against() bool {
	g := v.judgement()
	return g != nil && (g.Stage != v.rollout.StagedPercent || g.Verdict == "halt" || g.Verdict == "hold" && g.Reason != "PEOPLE_PROMOTE")
}

func (a *app) approve() *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "approve CHANNEL", Short: "Approve the next stage of a rollout that somebody else promotes",
		Example: "  wavegate approve gateway-x/stable",
		Args:    cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, v, err := a.onActive(ctx, args)
			if err != nil {
				return err
			}
			next := cohort.After(v.rollout.StagedPercent)
			if next == 0 {
				return fail(Refused, "the rollout is at 100 %%; there is no stage to approve")
			}
			if err := a.ask(fmt.Sprintf("%s: approve %d %% of %s%s?", name, next, v.rollout.TargetVersion, v.moreBoxes(next))); err != nil {
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
		Example: "  wavegate complete gateway-x/stable",
		Long: "Ends the rollout that is active on a channel. At 100 %, its version becomes the channel's; if the guard advises\n" +
			"against it, you have to type the channel's name. Before 100 %, the rollout ends at its stage.",
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, v, err := a.onActive(ctx, args)
			if err != nil {
				return err
			}
			question, ask := fmt.Sprintf("%s: make %s the version of the channel?%s", name, v.rollout.TargetVersion, v.guardSays()), a.ask
			switch {
			case v.rollout.StagedPercent < 100:
				question = fmt.Sprintf("%s: end the rollout of %s at %d %%? No more boxes get it then.", name, v.rollout.TargetVersion, v.rollout.StagedPercent)
			case v.against():
				ask = func(q string) error { return a.askName(name, q) }
			}
			if err := ask(question); err != nil {
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
		Use: "resume CHANNEL", Short: "Resume a halted rollout at its stage",
		Example: "  wavegate resume gateway-x/stable --reason 'it was the factory network'",
		Long: "Resumes a halted rollout at its stage. From then on, the guard only advises. If the guard halted it, you have to type\n" +
			"the channel's name.",
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, err := a.onChannel(args)
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
			question, ask := fmt.Sprintf("%s: resume the rollout of %s at %d %%?", name, r.TargetVersion, r.StagedPercent), a.ask
			if r.EndedBy == byGuard {
				question += " The guard halted it, and will only advise from then on."
				ask = func(q string) error { return a.askName(name, q) }
			}
			if err := ask(question); err != nil {
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
