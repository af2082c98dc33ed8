package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/operations/releases"
)

func (a *app) sendBack() *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "send-back CHANNEL", Short: "After a halt, send the boxes back to the version that is published",
		Long: "Publishes the channel's version again after its rollout was halted. Every box of the channel gets it, including those\n" +
			"that run the version of the rollout. After that, the rollout cannot be resumed.",
		Example: "  wavegate send-back gateway-x/stable --reason '1.1.0 loses the network'",
		Args:    cobra.ExactArgs(1), SuggestFor: []string{"rollback", "back", "revert", "undo"},
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
				return fail(Refused, "the rollout of %s is active; halt it first: wavegate halt %s", r.TargetVersion, name)
			case r.Status != "halted":
				return fail(Refused, "the latest rollout, of %s, is %s; publish an earlier version: wavegate publish %s VERSION", r.TargetVersion, r.Status, name)
			}
			return a.publishAgain(ctx, c, name, r, why)
		}),
	}
	why.flags(cmd, true)
	return cmd
}

// publishAgain publishes the version of a channel again with all its fields, unless the channel has changed since the
// rollout.
func (a *app) publishAgain(ctx context.Context, c *api.Client, name string, r api.Rollout, why reasons) error {
	present, answer, err := api.Get[map[string]json.RawMessage](ctx, c, api.ChannelPath(name), nil)
	if err != nil {
		return err
	}
	body := map[string]any{}
	for _, f := range releases.PublishRelease().Takes.Body.Fields {
		if value, is := present[f.Name]; is {
			body[f.Name] = value
		}
	}
	var channel api.Channel
	if err := answer.Into(&channel); err != nil {
		return err
	}
	if publishedSince(channel, r) && channel.CurrentVersion == r.PreviousVersion {
		a.say("%s was published again %s, after the rollout was halted", r.PreviousVersion, clock(channel.UpdatedAt))
		return a.shown(ctx, c, api.ChannelPath(name))
	}
	if channel.CurrentVersion != r.PreviousVersion {
		return fail(Refused, "%s has %s by now, and had %s when the rollout of %s began; there is nothing to send back to", name, channel.CurrentVersion, r.PreviousVersion, r.TargetVersion)
	}
	if why.override == "" && a.confirm != name {
		if err := thawed(ctx, c); err != nil {
			return err
		}
	}
	counted, _, err := api.Get[api.ChannelProgress](ctx, c, api.ChannelPath(name)+"/progress", nil)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("%s: publish %s again, so that all %d boxes get it, including those that run %s. The rollout of %s cannot be resumed then.",
		name, r.PreviousVersion, counted.Boxes, r.TargetVersion, r.TargetVersion)
	if err := a.askName(name, question); err != nil {
		return err
	}
	if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: api.ChannelPath(name), Body: why.with(body), IfMatch: answer.Header.Get("ETag")}); err != nil {
		return err
	}
	a.say("every box of %s is sent back to %s", name, r.PreviousVersion)
	return a.shown(ctx, c, api.ChannelPath(name))
}

// publishedSince reports whether a version was published on the channel after the rollout ended, which sent its boxes
// back.
func publishedSince(channel api.Channel, r api.Rollout) bool {
	return r.EndedAt != nil && channel.UpdatedAt.After(*r.EndedAt)
}
