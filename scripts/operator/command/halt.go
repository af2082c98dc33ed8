package command

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) halt() *cobra.Command {
	var why reasons
	var all bool
	cmd := &cobra.Command{
		Use: "halt CHANNEL | --all", Short: "Halt a rollout immediately",
		Example: "  wavegate halt gateway-x/stable --reason 'two boxes did not come back'\n  wavegate halt --all",
		Long: "Halts the rollout that is active on a channel, or with --all every active rollout. It asks for no confirmation, halts\n" +
			"the rollout in any state, and works even if your limit is used up. If no rollout is active, it does nothing and\n" +
			"succeeds.",
		Args: cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if all == (len(args) == 1) {
				return fail(Misused, "give a channel, or --all")
			}
			body := why.with(map[string]any{"status": "halted"})
			c, err := a.client()
			if err != nil {
				return err
			}
			c.Reach = c.Patience // a halt is worth trying
			if all {
				return a.haltAll(ctx, c, body)
			}
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			return a.haltOne(ctx, c, name, body)
		}),
	}
	why.flags(cmd, false)
	cmd.Flags().BoolVar(&all, "all", false, "halt every active rollout")
	return cmd
}

func (a *app) haltOne(ctx context.Context, c *api.Client, name string, body map[string]any) error {
	channel, answer, err := a.atOnce(ctx, c, name)
	if err != nil && codeOf(err) == Unknown && ctx.Err() == nil {
		a.again(err)
		if seen, ok := a.recall(c).Active[name]; ok {
			return a.haltUnseen(ctx, c, name, body, seen)
		}
		channel, answer, err = api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
	}
	if err != nil {
		return err
	}
	a.saw(c, channel)
	r := channel.ActiveRollout
	if r == nil {
		if a.say("no rollout is active on %s", name); a.json {
			a.show(answer.Body)
		}
		return nil
	}
	if err := a.move(ctx, c, api.Rollout{ID: r.ID}, body, ""); err != nil {
		return err
	}
	a.say("halted %s on %s at %d %%", r.TargetVersion, name, r.StagedPercent)
	return a.shown(ctx, c, api.RolloutPath(r.ID))
}

// atOnce reads a channel, and does not wait if the service is slow or asks to wait.
func (a *app) atOnce(ctx context.Context, c *api.Client, name string) (api.Channel, api.Response, error) {
	quick := *c
	quick.Patience, quick.Trying = 0, nil
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer a.After(patient, func() { cancel(errSlow) })()
	channel, answer, err := api.Get[api.Channel](ctx, &quick, api.ChannelPath(name), nil)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		err = fail(Unknown, "%s %w", c.URL, errSlow)
	}
	return channel, answer, err
}

var errSlow = errors.New("has not answered for " + length(patient))

// haltUnseen halts if the channel cannot be read, for example after 429, which allows halts but not reads. It halts
// the rollout that was last seen active there. If that one had not changed since, it was the active rollout.
// Otherwise another rollout may be active.
func (a *app) haltUnseen(ctx context.Context, c *api.Client, name string, body map[string]any, seen api.RunningRollout) error {
	_, err := c.Do(ctx, api.Request{Method: http.MethodPatch, Path: api.RolloutPath(seen.ID), Body: body, IfMatch: tagOf(api.Rollout{Revision: seen.Revision})})
	if err == nil {
		a.say("halted %s on %s at %d %%", seen.TargetVersion, name, seen.StagedPercent)
		return nil
	}
	if r, refused := errors.AsType[*api.RefusedError](err); !refused || r.Status != http.StatusPreconditionFailed {
		return err
	}
	if err := a.move(ctx, c, api.Rollout{ID: seen.ID}, body, ""); err != nil {
		return err
	}
	a.note("halted the rollout of %s that was last seen on %s; checking whether another one is active", seen.TargetVersion, name)
	channel, _, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
	switch {
	case err != nil:
		return fail(Unknown, "the rollout of %s is halted; it is unknown whether another one is active on %s: %w", seen.TargetVersion, name, err)
	case channel.ActiveRollout == nil:
		a.say("no rollout is active on %s", name)
		return nil
	}
	return a.move(ctx, c, api.Rollout{ID: channel.ActiveRollout.ID}, body, "")
}

// haltAll halts all rollouts in parallel. The lists of rollouts and of channels both lag a little, so it reads both.
func (a *app) haltAll(ctx context.Context, c *api.Client, body map[string]any) error {
	found := map[string]string{} // channel by id
	err := c.Pages(ctx, "/api/ota/rollouts", url.Values{"status": {"active"}, "limit": {"100"}}, func(page api.Response) (bool, error) {
		var list struct{ Items []api.Rollout }
		err := page.Into(&list)
		for _, r := range list.Items {
			found[r.ID] = r.EdgeType + "/" + r.Channel
		}
		return true, err
	})
	if err != nil {
		return err
	}
	err = c.Pages(ctx, "/api/ota/release-channels", url.Values{"limit": {"100"}}, func(page api.Response) (bool, error) {
		var list struct{ Items []api.Channel }
		err := page.Into(&list)
		for _, one := range list.Items {
			if one.ActiveRollout != nil {
				found[one.ActiveRollout.ID] = one.ID()
			}
		}
		return true, err
	})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		a.say("no rollout is active")
	}
	halted := api.List{Items: []json.RawMessage{}}
	var mu sync.Mutex
	var failed []error
	var side sync.WaitGroup
	places := make(chan struct{}, 8)
	for _, id := range slices.Sorted(maps.Keys(found)) {
		side.Go(func() {
			places <- struct{}{}
			err := a.move(ctx, c, api.Rollout{ID: id}, body, "")
			<-places
			var now api.Response
			if err == nil && a.json {
				now, err = c.Do(ctx, api.Request{Method: http.MethodGet, Path: api.RolloutPath(id)})
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				return
			}
			a.say("halted the rollout on %s", found[id])
			halted.Items = append(halted.Items, now.Body)
		})
	}
	side.Wait()
	if a.json {
		failed = append(failed, a.showDocument(halted))
	}
	return errors.Join(failed...)
}
