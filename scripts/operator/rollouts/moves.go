// Package rollouts has the commands that bring versions to boxes, stop that, and show how it goes.
package rollouts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
)

// See are the commands that show what is going on.
func See(r *run.Run) []*cobra.Command {
	return []*cobra.Command{status(r), watch(r), wait(r), lists(r), versions(r), events(r)}
}

// Bring are the commands that bring versions to boxes.
func Bring(r *run.Run) []*cobra.Command {
	return []*cobra.Command{publish(r), start(r), promote(r), approve(r), complete(r), policies(r)}
}

// Stop are the commands that stop that.
func Stop(r *run.Run) []*cobra.Command {
	return []*cobra.Command{halt(r), giveBack(r), hasten(r), resume(r), seen(r), freezes(r), unfreeze(r)}
}

// reasons are the options with texts for the audit trail.
type reasons struct {
	reason, override string
	urgent           bool
}

func (w *reasons) flags(cmd *cobra.Command, overrides bool) {
	cmd.Flags().StringVar(&w.reason, "reason", "", "why, for the audit trail")
	if overrides {
		cmd.Flags().StringVar(&w.override, "override", "", "why to act despite a freeze or outside the windows, for the audit trail")
	}
}

// hurries adds the option for what need not wait for plants.
func (w *reasons) hurries(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.urgent, "urgent", false, "do not wait for windows, pauses and groups of plants; needs --reason")
}

// with adds the reasons to a body.
func (w reasons) with(body map[string]any) map[string]any {
	if w.reason != "" {
		body["reason"] = w.reason
	}
	if w.override != "" {
		body["overrideReason"] = w.override
	}
	if w.urgent {
		body["urgent"] = true
	}
	return body
}

// A reader reads the rollout of a channel that a move is about.
type reader func(ctx context.Context, c *run.Call, name string) (view, error)

// A planner plans the step of a move. It gives the body of a change to the rollout, or a whole request; without either,
// there is nothing to do.
type planner func(ctx context.Context, c *run.Call, name string, v view) (run.Step, error)

// moves makes the command of a move: it reads a rollout of the channel, plans a step, and takes it unless somebody has
// changed the rollout since. A move that overrides a freeze has the option for it.
func moves(r *run.Run, cmd *cobra.Command, overrides bool, read reader, plan planner) *cobra.Command {
	var why reasons
	why.flags(cmd, overrides)
	if cmd.Name() == "return" {
		why.hurries(cmd)
	}
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		v, err := read(ctx, c, c.Args[0])
		if err != nil {
			return err
		}
		s, err := plan(ctx, c, c.Args[0], v)
		if err != nil {
			return err
		}
		path := api.RolloutPath(v.rollout.ID)
		body, _ := s.Body.(map[string]any)
		switch {
		case body == nil:
			return c.Done(ctx, path, "%s", s.Done)
		case s.Path == "":
			s.Method, s.Path = http.MethodPatch, path
			s.Settle = func(err error) error { return settled(ctx, c, v.rollout, body, err) }
		}
		s.Body, s.IfMatch, s.Shown = why.with(body), tagOf(v.rollout.Revision), path
		return c.Take(ctx, s)
	})
}

// steer changes a rollout, whatever has changed since it was read.
func steer(ctx context.Context, c *run.Call, was rollout.Rollout, body map[string]any) error {
	_, err := c.Do(ctx, api.Request{Method: http.MethodPatch, Path: api.RolloutPath(was.ID), Body: body})
	return settled(ctx, c, was, body, err)
}

// settled says what the answer to a change of a rollout means. If an answer was lost, the call was sent again. If the
// first call succeeded, the second is refused, so the rollout is read back.
func settled(ctx context.Context, c *run.Call, was rollout.Rollout, body map[string]any, err error) error {
	if !run.Changed(err) {
		return err
	}
	now, _, read := api.Get[rollout.Rollout](ctx, c, api.RolloutPath(was.ID), nil)
	if read != nil {
		return err
	}
	r, _ := errors.AsType[*api.RefusedError](err)
	made := (body["staged_percent"] == nil || now.StagedPercent == body["staged_percent"]) && (body["status"] == nil || now.Status == body["status"])
	if r.Repeated && made && now.Revision == was.Revision+1 {
		return nil
	}
	return run.Fail(run.Refused, "the rollout has changed since you saw it: it is at %d %% and %s. Look again, and repeat", now.StagedPercent, now.Status)
}

func tagOf(revision int64) string { return strconv.Quote(strconv.FormatInt(revision, 10)) }

func idOf(r rollout.Rollout) string { return release.Pair(r.EdgeType, r.Channel) }

// active reads the active rollout of a channel.
func active(ctx context.Context, c *run.Call, name string) (v view, err error) {
	channel, _, err := channelOf(ctx, c, name)
	switch {
	case err != nil:
		return v, err
	case channel.ActiveRollout == nil:
		return v, run.Fail(run.Refused, "no rollout is active on %s", name)
	}
	v, err = look(ctx, c, channel.ActiveRollout.ID, "")
	if err == nil && v.rollout.Status != rollout.Active {
		err = run.Fail(run.Refused, "the rollout of %s was %s a moment ago", name, v.rollout.Status)
	}
	return v, err
}

// latest reads the rollout of a channel that is active or was started last.
func latest(ctx context.Context, c *run.Call, name string) (v view, err error) {
	v.channel, _, err = channelOf(ctx, c, name)
	if err != nil {
		return v, err
	}
	id, err := last(ctx, c, v.channel)
	if err == nil && id == "" {
		err = run.Fail(run.Refused, "there has never been a rollout on %s", name)
	}
	if err == nil {
		v.rollout, _, err = api.Get[rollout.Rollout](ctx, c, api.RolloutPath(id), nil)
	}
	return v, err
}

// channelOf reads a channel, and remembers its rollout.
func channelOf(ctx context.Context, c *run.Call, name string) (release.View, api.Response, error) {
	channel, answer, err := api.Get[release.View](ctx, c, api.ChannelPath(name), nil)
	if err == nil {
		c.Saw(channel)
	}
	return channel, answer, err
}

// last returns the id of the rollout of a channel that is active or was started last; empty if there has never been
// one. The list lags; the rollout itself does not.
func last(ctx context.Context, c *run.Call, channel release.View) (id string, err error) {
	if channel.ActiveRollout != nil {
		return channel.ActiveRollout.ID, nil
	}
	rollouts, err := api.All[rollout.Rollout](ctx, c.Client, "/api/ota/rollouts", run.OnChannel(channel.ID()), 1)
	if err != nil || len(rollouts) == 0 {
		return "", err
	}
	return rollouts[0].ID, nil
}

func promote(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "promote CHANNEL", Short: "Raise a rollout to its next stage",
		Example: "wavegate promote gateway-x/stable --reason 'canary is fine'",
		Long: "Raises the rollout that is active on a channel to its next stage, if nobody has changed it since it was shown to you. " +
			"For the last stage, and against the guard's verdict, you have to type the channel's name.",
	}
	return moves(r, cmd, true, active, func(ctx context.Context, c *run.Call, name string, v view) (run.Step, error) {
		next := cohort.After(v.rollout.StagedPercent)
		if next == 0 {
			return run.Step{}, run.Fail(run.Refused, "the rollout is at 100 %%; complete it: wavegate complete %s", name)
		}
		s := run.Step{
			Question: promotion(name, v, next, places(ctx, c, v.rollout.ID)),
			Request:  api.Request{Body: map[string]any{"staged_percent": next}}, Done: fmt.Sprintf("%s is at %d %%", name, next),
		}
		if next == 100 || v.against() {
			s.Name = name
		}
		return s, nil
	})
}

// places counts the factories that have boxes of a rollout; 0 if the number cannot be read, which does not stop a
// promotion.
func places(ctx context.Context, c *run.Call, id string) int {
	p, _, err := api.Get[census.Progress](ctx, c, api.RolloutPath(id)+"/progress", run.Query("by", "factory"))
	if err != nil {
		return 0
	}
	return len(p.Factories) + p.MoreFactories
}

func approve(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve CHANNEL", Short: "Approve the next stage of a rollout that somebody else promotes",
		Example: "wavegate approve gateway-x/stable",
	}
	return moves(r, cmd, false, active, func(_ context.Context, _ *run.Call, name string, v view) (run.Step, error) {
		next := cohort.After(v.rollout.StagedPercent)
		if next == 0 {
			return run.Step{}, run.Fail(run.Refused, "the rollout is at 100 %%; there is no stage to approve")
		}
		return run.Step{
			Question: fmt.Sprintf("%s: approve %d %% of %s%s?", name, next, v.rollout.TargetVersion, v.moreBoxes(next)),
			Request:  api.Request{Method: http.MethodPost, Path: api.RolloutPath(v.rollout.ID) + "/approvals", Body: map[string]any{"stage": next}},
			Done:     fmt.Sprintf("%d %% is approved", next),
		}, nil
	})
}

func complete(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "complete CHANNEL", Short: "End a rollout that went well",
		Example: "wavegate complete gateway-x/stable",
		Long: "Ends the rollout that is active on a channel. At 100 %, its version becomes the channel's; if the guard advises " +
			"against it, you have to type the channel's name. Before 100 %, the rollout ends at its stage.",
	}
	return moves(r, cmd, false, active, func(_ context.Context, _ *run.Call, name string, v view) (run.Step, error) {
		s := run.Step{
			Question: fmt.Sprintf("%s: make %s the version of the channel?%s", name, v.rollout.TargetVersion, v.guardSays()),
			Request:  api.Request{Body: map[string]any{"status": rollout.Completed}},
			Done:     fmt.Sprintf("the rollout of %s on %s is completed", v.rollout.TargetVersion, name),
		}
		switch {
		case v.rollout.StagedPercent < 100:
			s.Question = fmt.Sprintf("%s: end the rollout of %s at %d %%? No more boxes get it then.", name, v.rollout.TargetVersion, v.rollout.StagedPercent)
		case v.against():
			s.Name = name
		}
		return s, nil
	})
}

func resume(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume CHANNEL", Short: "Resume a halted rollout at its stage",
		Example: "wavegate resume gateway-x/stable --reason 'it was the factory network'",
		Long: "Resumes a halted rollout at its stage, or one that tells no more boxes. From then on, the guard acts on what is new. If " +
			"the guard halted or stopped it, you have to type the channel's name.",
	}
	without := cmd.Flags().StringSlice("without", nil, "organizations whose boxes are left out from now on")
	return moves(r, cmd, true, latest, func(_ context.Context, _ *run.Call, name string, v view) (run.Step, error) {
		r := v.rollout
		if r.Status == rollout.Active && !r.Stopped() && len(r.YoungStopped) == 0 && *without == nil {
			return run.Step{Done: fmt.Sprintf("the rollout of %s on %s is active", r.TargetVersion, name)}, nil
		}
		s := run.Step{
			Question: fmt.Sprintf("%s: resume the rollout of %s at %d %%?", name, r.TargetVersion, r.StagedPercent),
			Request:  api.Request{Body: map[string]any{"status": rollout.Active}},
			Done:     fmt.Sprintf("the rollout of %s on %s is active at %d %%", r.TargetVersion, name, r.StagedPercent),
		}
		if r.EndedBy == rollout.ByGuard {
			s.Question += " The guard halted it. It judges only what is new from then on."
			s.Name = name
		}
		if r.Stopped() {
			s.Question += fmt.Sprintf(" It tells no more boxes because of %s. The guard judges only what is new from then on.", r.StoppedFor)
			s.Name = name
		}
		if *without != nil {
			s.Request.Body = map[string]any{"status": rollout.Active, "without": *without}
			s.Question += fmt.Sprintf(" Boxes of %s are left out.", strings.Join(*without, ", "))
		}
		return s, nil
	})
}

// promotion says what a promotion does, for the question that confirms it.
func promotion(name string, v view, next, places int) string {
	text := fmt.Sprintf("%s: promote %s from %d to %d %%", name, v.rollout.TargetVersion, v.rollout.StagedPercent, next)
	if v.progress == nil {
		return text + "? Its boxes have not been counted yet."
	}
	s := v.total()
	text += fmt.Sprintf("%s? Now: %s of %s installed, %s failed, %s reverted, %s silent", v.moreBoxes(next),
		count(s.Installed), count(s.Expected), count(s.Failed), count(s.Reverted), count(v.progress.Silent.Boxes))
	if places > 1 {
		text += fmt.Sprintf(", in %d factories", places)
	}
	return text + "." + v.guardSays()
}

// against reports whether the guard advises against promoting the rollout now, or has not judged its stage yet. If it
// leaves the decision to people, it is not against it.
func (v view) against() bool {
	g := v.judgement()
	return g != nil && (g.Stage != v.rollout.StagedPercent || g.Action == guard.Halt || g.Action == guard.Hold && g.Reason != guard.PeoplePromote)
}
