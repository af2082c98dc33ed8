package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) publish() *cobra.Command {
	var why reasons
	var said artifact
	cmd := &cobra.Command{
		Use: "publish CHANNEL VERSION --url URL --file FILE", Short: "Publish a version to all boxes of a channel",
		Long: "Publishes a version on a channel. It reaches every box of the channel at its next poll, and ends a rollout that is active\n" +
			"there. Publish a new version where few boxes are, and roll it out elsewhere: wavegate start.\n\n" +
			"With --file, the size, SHA-256, SHA-1 and MD5 are those of the file: boxes with a client of hawkBit's DDI need them.",
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, err := a.onChannel(args)
			if err != nil {
				return err
			}
			body, err := said.publication(args[1])
			if err != nil {
				return err
			}
			question, tag, err := a.reach(ctx, c, name, args[1])
			if err != nil {
				return err
			}
			if err := a.askName(name, question); err != nil {
				return err
			}
			body = why.with(body)
			if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: api.ChannelPath(name), Body: body, IfMatch: tag}); err != nil {
				return err
			}
			a.say("%s is published on %s", args[1], name)
			return a.shown(ctx, c, api.ChannelPath(name))
		}),
	}
	said.flags(cmd)
	why.flags(cmd, true)
	return cmd
}

// reach says what a publication does, for who is asked to confirm it, and the entity tag of the channel that
// was looked at. There is none where the channel is new.
func (a *app) reach(ctx context.Context, c *api.Client, name, version string) (question, tag string, err error) {
	channel, answer, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
	if r, ok := errors.AsType[*api.RefusedError](err); ok && r.Status == http.StatusNotFound {
		return fmt.Sprintf("%s: publish %s on a new channel.", name, version), "", nil
	}
	if err != nil {
		return "", "", err
	}
	counted, _, err := api.Get[api.ChannelProgress](ctx, c, api.ChannelPath(name)+"/progress", nil)
	if err != nil {
		return "", "", err
	}
	question = fmt.Sprintf("%s: publish %s in place of %s to all %d boxes at once.", name, version, channel.CurrentVersion, counted.Boxes)
	if earlier(version, channel.CurrentVersion) {
		question += " It is an earlier version."
	}
	if r := channel.ActiveRollout; r != nil {
		question += fmt.Sprintf(" It ends the rollout of %s, which is at %d %%.", r.TargetVersion, r.StagedPercent)
	}
	return question, answer.Header.Get("ETag"), nil
}
