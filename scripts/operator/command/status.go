package command

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) status() *cobra.Command {
	return &cobra.Command{
		Use: "status [CHANNEL]", Short: "Show every channel, or one", Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.statusOfAll(ctx, c)
			}
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			channel, answer, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
			if err != nil {
				return err
			}
			a.saw(c, channel)
			if a.json {
				a.show(answer.Body)
				return nil
			}
			if channel.ActiveRollout == nil {
				a.say("%s  %s  no rollout is active", name, channel.CurrentVersion)
				return nil
			}
			v, err := look(ctx, c, channel.ActiveRollout.ID, "")
			if err != nil {
				return err
			}
			fmt.Fprint(a.Out, v.block(a.paint()))
			return nil
		}),
	}
}

func (a *app) statusOfAll(ctx context.Context, c *api.Client) error {
	rows := []string{cells("CHANNEL", "VERSION", "ROLLOUT", "STAGE", "GUARD")}
	err := c.Pages(ctx, "/api/ota/release-channels", url.Values{"limit": {"100"}}, func(page api.Response) (bool, error) {
		var list struct{ Items []api.Channel }
		if err := page.Into(&list); err != nil {
			return false, err
		}
		a.saw(c, list.Items...)
		if a.json {
			a.show(page.Body)
			return true, nil
		}
		for _, one := range list.Items {
			target, stage, guard := "-", "-", "-"
			if r := one.ActiveRollout; r != nil {
				target, stage = r.TargetVersion, strconv.Itoa(r.StagedPercent)+" %"
				if guard = r.Guard; guard == "none" {
					guard = "no guard"
				}
			}
			rows = append(rows, cells(one.ID(), one.CurrentVersion, target, stage, guard))
		}
		return true, nil
	})
	switch {
	case err != nil || a.json:
		return err
	case len(rows) == 1:
		a.say("there is no channel yet; publish a version first: wavegate publish CHANNEL VERSION --url … --sha256 …")
		return nil
	}
	return a.table(rows...)
}

// active returns the channel and the rollout that is active on it, or a failure that says that there is none.
func (a *app) active(ctx context.Context, c *api.Client, name string) (api.Channel, error) {
	channel, _, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
	if err != nil {
		return channel, err
	}
	if a.saw(c, channel); channel.ActiveRollout == nil {
		err = fail(Refused, "no rollout is active on %s", name)
	}
	return channel, err
}

// latest returns the rollout of a channel that is active or was started last.
func (a *app) latest(ctx context.Context, c *api.Client, name string) (r api.Rollout, err error) {
	channel, _, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
	if err != nil {
		return r, err
	}
	if a.saw(c, channel); channel.ActiveRollout != nil {
		r, _, err = api.Get[api.Rollout](ctx, c, api.RolloutPath(channel.ActiveRollout.ID), nil)
		return r, err
	}
	page, _, err := api.Get[struct{ Items []api.Rollout }](ctx, c, "/api/ota/rollouts",
		url.Values{"edgeType": {channel.EdgeType}, "channel": {channel.Channel}, "limit": {"1"}})
	if err == nil && len(page.Items) == 0 {
		err = fail(Refused, "there was never a rollout on %s", name)
	}
	if err != nil {
		return r, err
	}
	// The list lags; the rollout itself does not.
	r, _, err = api.Get[api.Rollout](ctx, c, api.RolloutPath(page.Items[0].ID), nil)
	return r, err
}

// shown prints a resource as it is now, for --json.
func (a *app) shown(ctx context.Context, c *api.Client, path string) error {
	if !a.json {
		return nil
	}
	answer, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: path})
	if err == nil {
		a.show(answer.Body)
	}
	return err
}
