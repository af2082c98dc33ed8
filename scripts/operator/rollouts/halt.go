package rollouts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
)

func halt(r *run.Run) *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "halt CHANNEL | --all", Short: "Halt a rollout immediately", Args: cobra.MaximumNArgs(1),
		Example: "wavegate halt gateway-x/stable --reason 'two boxes did not come back'\nwavegate halt --all",
		Long: "Halts the rollout that is active on a channel, or with --all every active rollout. It asks for no confirmation, halts " +
			"the rollout in any state, and works even if your limit is used up. If no rollout is active, it does nothing and " +
			"succeeds.",
	}
	why.flags(cmd, false)
	all := cmd.Flags().Bool("all", false, "halt every active rollout")
	everywhere := cmd.Flags().Bool("everywhere", false, "halt the version on all channels of the edge type")
	cmd.MarkFlagsMutuallyExclusive("all", "everywhere")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if *all == (len(c.Args) == 1) {
			return run.Fail(run.Misused, "give a channel, or --all")
		}
		c.Client.Reach = c.Client.Patience // a halt is worth trying
		body := why.with(map[string]any{"status": rollout.Halted})
		if *everywhere {
			body["everywhere"] = true
		}
		if *all {
			return haltAll(ctx, c, body)
		}
		return haltOne(ctx, c, c.Args[0], body)
	})
}

func haltOne(ctx context.Context, c *run.Call, name string, body map[string]any) error {
	channel, answer, err := atOnce(ctx, c, name)
	if err != nil && run.CodeOf(err) == run.Unknown && ctx.Err() == nil {
		c.Again(err)
		if seen, ok := c.Recall().Active[name]; ok {
			return haltUnseen(ctx, c, name, body, seen)
		}
		channel, answer, err = api.Get[release.View](ctx, c, api.ChannelPath(name), nil)
	}
	if err != nil {
		return err
	}
	c.Saw(channel)
	r := channel.ActiveRollout
	if r == nil {
		if c.Say("no rollout is active on %s", name); c.JSON {
			c.Show(answer.Body)
		}
		return nil
	}
	if err := steer(ctx, c, rollout.Rollout{ID: r.ID}, body); err != nil {
		return err
	}
	return c.Done(ctx, api.RolloutPath(r.ID), "halted %s on %s at %d %%", r.TargetVersion, name, r.StagedPercent)
}

// atOnce reads a channel, and does not wait if the service is slow or asks to wait.
func atOnce(ctx context.Context, c *run.Call, name string) (release.View, api.Response, error) {
	quick := *c.Client
	quick.Patience, quick.Trying = 0, nil
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.After(run.Patient, func() { cancel(errSlow) })()
	channel, answer, err := api.Get[release.View](ctx, &quick, api.ChannelPath(name), nil)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		err = run.Fail(run.Unknown, "%s %w", c.URL, errSlow)
	}
	return channel, answer, err
}

var errSlow = errors.New("has not answered for " + terminal.Length(run.Patient))

// haltUnseen halts if the channel cannot be read, for example after 429, which allows halts but not reads. It halts
// the rollout that was last seen active there. If that one had not changed since, it was the active rollout.
// Otherwise another rollout may be active.
func haltUnseen(ctx context.Context, c *run.Call, name string, body map[string]any, seen release.ActiveRollout) error {
	_, err := c.Do(ctx, api.Request{Method: http.MethodPatch, Path: api.RolloutPath(seen.ID), Body: body, IfMatch: tagOf(seen.Revision)})
	if err == nil {
		c.Say("halted %s on %s at %d %%", seen.TargetVersion, name, seen.StagedPercent)
		return nil
	}
	if !run.Changed(err) {
		return err
	}
	if err := steer(ctx, c, rollout.Rollout{ID: seen.ID}, body); err != nil {
		return err
	}
	c.Note("halted the rollout of %s that was last seen on %s; checking whether another one is active", seen.TargetVersion, name)
	channel, _, err := api.Get[release.View](ctx, c, api.ChannelPath(name), nil)
	switch {
	case err != nil:
		return run.Fail(run.Unknown, "the rollout of %s is halted; it is unknown whether another one is active on %s: %w", seen.TargetVersion, name, err)
	case channel.ActiveRollout == nil:
		c.Say("no rollout is active on %s", name)
		return nil
	}
	return steer(ctx, c, rollout.Rollout{ID: channel.ActiveRollout.ID}, body)
}

// haltAll halts all rollouts in parallel. The lists of rollouts and of channels both lag a little, so it reads both.
func haltAll(ctx context.Context, c *run.Call, body map[string]any) error {
	found := map[string]string{} // channel by id
	rollouts, err := api.All[rollout.Rollout](ctx, c.Client, "/api/ota/rollouts", run.Query("status", string(rollout.Active)), 0)
	if err != nil {
		return err
	}
	for _, r := range rollouts {
		found[r.ID] = idOf(r)
	}
	channels, err := api.All[release.View](ctx, c.Client, "/api/ota/release-channels", nil, 0)
	if err != nil {
		return err
	}
	for _, one := range channels {
		if one.ActiveRollout != nil {
			found[one.ActiveRollout.ID] = one.ID()
		}
	}
	if len(found) == 0 {
		c.Say("no rollout is active")
	}
	halted := api.List{Items: []json.RawMessage{}}
	var mu sync.Mutex
	var failed []error
	var side errgroup.Group
	side.SetLimit(8)
	for _, id := range slices.Sorted(maps.Keys(found)) {
		side.Go(func() error {
			err := steer(ctx, c, rollout.Rollout{ID: id}, body)
			var now api.Response
			if err == nil && c.JSON {
				now, err = c.Get(ctx, api.RolloutPath(id))
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				return nil // the others are halted, too
			}
			c.Say("halted the rollout on %s", found[id])
			halted.Items = append(halted.Items, now.Body)
			return nil
		})
	}
	failed = append(failed, side.Wait())
	if c.JSON {
		failed = append(failed, c.ShowDocument(halted))
	}
	return errors.Join(failed...)
}

// hasten is the command that makes a rollout urgent.
func hasten(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "urgent CHANNEL", Short: "Let a rollout, or its return, no longer wait for plants", Example: "wavegate urgent gateway-x/stable --reason 'a hole in the login'",
		Long: "Makes the latest rollout of a channel urgent: windows, pauses and groups of plants no longer count for it, nor for its " +
			"return. It needs --reason. If the policy asks for approvals, somebody else than its starter has to do it.",
	}
	return moves(r, cmd, false, latest, func(_ context.Context, _ *run.Call, name string, v view) (run.Step, error) {
		if v.rollout.Urgent {
			return run.Step{Done: fmt.Sprintf("the rollout of %s on %s is urgent", v.rollout.TargetVersion, name)}, nil
		}
		return run.Step{
			Question: fmt.Sprintf("%s: bring %s to its boxes whenever they poll, in the middle of a shift and to both boxes of a pair?", name, v.rollout.TargetVersion),
			Name:     name, Request: api.Request{Body: map[string]any{"urgent": true}},
			Done: fmt.Sprintf("the rollout of %s on %s is urgent", v.rollout.TargetVersion, name),
		}, nil
	})
}

func seen(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "seen CHANNEL", Short: "Mark a halted or held rollout as seen", Example: "wavegate seen gateway-x/stable --reason 'the vendor is on it'",
		Long: "Marks that people know why the latest rollout of a channel was halted, or tells no more boxes. It then no longer counts " +
			"as trouble, for anybody, until that changes.",
	}
	return moves(r, cmd, false, latest, func(_ context.Context, _ *run.Call, name string, v view) (run.Step, error) {
		return run.Step{
			Question: fmt.Sprintf("%s: mark the rollout of %s as seen, for everybody?", name, v.rollout.TargetVersion),
			Request:  api.Request{Body: map[string]any{"seen": true}}, Done: fmt.Sprintf("the rollout of %s on %s is marked as seen", v.rollout.TargetVersion, name),
		}, nil
	})
}

// giveBack is the command for a return.
func giveBack(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "return CHANNEL", Aliases: []string{"send-back"}, Short: "Halt a rollout, and tell its boxes the channel's version again",
		Example: "wavegate return gateway-x/stable --reason '1.1.0 loses the network'",
		Long: "Returns the latest rollout of a channel, and halts it first if it is active: boxes that run its version are told the " +
			"channel's version at their next poll. Pinned boxes keep what they run, and so do boxes that are held after a move or a pin. " +
			"The rollout cannot be resumed then.",
		SuggestFor: []string{"rollback", "back", "revert", "undo"},
	}
	return moves(r, cmd, false, latest, func(ctx context.Context, c *run.Call, name string, v view) (run.Step, error) {
		r := v.rollout
		if r.ReturnedAt != nil {
			return run.Step{Done: fmt.Sprintf("the rollout of %s on %s was returned %s", r.TargetVersion, name, clock(*r.ReturnedAt))}, nil
		}
		counted, _, err := api.Get[census.ChannelVersions](ctx, c, api.ChannelPath(name)+"/progress", nil)
		if err != nil {
			return run.Step{}, err
		}
		having := 0
		for _, n := range counted.Versions {
			if n.Version == r.TargetVersion {
				having = n.Boxes
			}
		}
		return run.Step{
			Question: fmt.Sprintf("%s: return the rollout of %s? %s of %s boxes run it and get %s again. The rollout cannot be resumed then.",
				name, r.TargetVersion, count(having), count(counted.Boxes), v.channel.CurrentVersion),
			Name:    name,
			Request: api.Request{Body: map[string]any{"status": rollout.Halted, "return": true}},
			Done:    fmt.Sprintf("boxes of %s that run %s get %s again", name, r.TargetVersion, v.channel.CurrentVersion),
		}, nil
	})
}

// ofHalted makes the standing of a halted rollout of an overview.
func ofHalted(ctx context.Context, c *run.Call, text []byte) (s standing, err error) {
	var row census.Row
	if err := errors.Join(json.Unmarshal(text, &s), json.Unmarshal(text, &row)); err != nil {
		return s, &api.Unknown{Cause: err}
	}
	r := row.Rollout
	v := view{rollout: r}
	if err := v.ends(ctx, c); err != nil {
		return s, err
	}
	s.name, s.version, s.installed, s.guard = idOf(r), r.PreviousVersion+" → "+r.TargetVersion, "-", "-"
	s.stage, s.since = fmt.Sprintf("%d %%", r.StagedPercent), clock(*cmp.Or(r.EndedAt, &r.UpdatedAt))
	s.health = "halted" + byWhat(r)
	if v.ending != nil {
		s.health = "halted by " + v.ending.by
		if why, _, _ := strings.Cut(v.ending.why, ";"); why != "" {
			s.health += ": " + strings.TrimSuffix(why, ".")
		}
	}
	if r.Marked() {
		s.health += "; seen by " + r.Seen.By.UserID
	} else {
		s.health = "! " + s.health
	}
	return s, nil
}
