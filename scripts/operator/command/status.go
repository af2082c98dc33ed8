package command

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) status() *cobra.Command {
	var most uint
	cmd := &cobra.Command{
		Use: "status [CHANNEL]", Short: "Show what is going on, or the state of a channel and its last rollout",
		Long: "Shows the active rollouts, those with trouble first, then those that were halted in the last 24 hours and the channels\n" +
			"without a rollout. With a channel, it shows the channel's last rollout: its stage, its boxes and the guard's verdict.\n" +
			"If it has ended, it shows who or what ended it, why, and what you can do next.",
		Example: "  wavegate status\n  wavegate status gateway-x/stable\n  wavegate status --json | jq '.items[] | select(.trouble == \"near\")'",
		Args:    cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.statusOfAll(ctx, c, int(most))
			}
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			return a.statusOf(ctx, c, name)
		}),
	}
	limited(cmd, &most, 100)
	return cmd
}

// statusOf shows a channel and its last rollout.
func (a *app) statusOf(ctx context.Context, c *api.Client, name string) error {
	channel, answer, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
	if err != nil {
		return err
	}
	a.saw(c, channel)
	frozen, text, err := freezeNow(ctx, c)
	if err != nil {
		return err
	}
	v := view{}
	id, err := last(ctx, c, channel)
	if err != nil {
		return err
	}
	if id != "" {
		if v, err = look(ctx, c, id, ""); err != nil {
			return err
		}
	}
	v.channel, v.freeze = channel, frozen
	if a.json {
		return a.showDocument(struct {
			Channel  json.RawMessage `json:"channel"`
			Freeze   json.RawMessage `json:"freeze,omitempty"`
			Rollout  json.RawMessage `json:"rollout,omitempty"`
			Progress json.RawMessage `json:"progress,omitempty"`
		}{answer.Body, text, v.document, v.counts})
	}
	switch {
	case id == "":
		a.say("%s  %s  there has never been a rollout", name, channel.CurrentVersion)
		return nil
	case v.rollout.Status != "active":
		a.say("%s  %s  no rollout is active; the last one:\n", name, channel.CurrentVersion)
		if err := v.ends(ctx, c); err != nil {
			return err
		}
	}
	a.showView(v)
	a.offer(v)
	return nil
}

// freezeNow reads the active freeze, or nil.
func freezeNow(ctx context.Context, c *api.Client) (*api.Freeze, []byte, error) {
	f, answer, err := api.Get[api.Freeze](ctx, c, freezePath, nil)
	if isMissing(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &f, answer.Body, nil
}

// offer prints the commands that are useful after a halt.
func (a *app) offer(v view) {
	r := v.rollout
	if r.Status != "halted" || r.EndedBy == "publication" {
		return
	}
	name := r.ChannelID()
	a.say("\nlook at the boxes    wavegate boxes %s --state failed", name)
	switch {
	case publishedSince(v.channel, r):
		a.say("since then           %s was published %s", v.channel.CurrentVersion, clock(v.channel.UpdatedAt))
	case v.channel.CurrentVersion == r.PreviousVersion:
		a.say("send the boxes back  wavegate send-back %s", name)
		if r.CompletedAt == nil {
			a.say("resume it            wavegate resume %s", name)
		}
	}
	a.say("who did what         wavegate log %s", name)
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
	a.saw(c, channel)
	id, err := last(ctx, c, channel)
	if err == nil && id == "" {
		err = fail(Refused, "there has never been a rollout on %s", name)
	}
	if err != nil {
		return r, err
	}
	r, _, err = api.Get[api.Rollout](ctx, c, api.RolloutPath(id), nil)
	return r, err
}

// last returns the rollout of a channel that is active or was started last; empty if there has never been one. The
// list lags; the rollout itself does not.
func last(ctx context.Context, c *api.Client, channel api.Channel) (id string, err error) {
	if channel.ActiveRollout != nil {
		return channel.ActiveRollout.ID, nil
	}
	page, err := c.List(ctx, "/api/ota/rollouts", url.Values{"edgeType": {channel.EdgeType}, "channel": {channel.Channel}}, 1)
	if err != nil {
		return "", err
	}
	rollouts, err := api.Items[api.Rollout](page)
	if err != nil || len(rollouts) == 0 {
		return "", err
	}
	return rollouts[0].ID, nil
}

// shown prints the present state of a resource, for --json.
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
