package command

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) publish() *cobra.Command {
	var why reasons
	var said artifact
	cmd := &cobra.Command{
		Use: "publish CHANNEL VERSION --url URL --file FILE", Short: "Publish a version to all boxes of a channel",
		Long: "Publishes a version on a channel. It reaches every box of the channel at its next poll, and ends a rollout that is\n" +
			"active there. Publish a new version on a channel with few boxes first, then roll it out on the others: wavegate start.\n\n" +
			"With --file, the command computes the size, SHA-256, SHA-1 and MD5 of the file. Boxes with a client for hawkBit's DDI\n" +
			"need them.",
		Example: "  wavegate publish gateway-x/canary 1.1.0 --url https://artifacts.example.com/gateway-x/1.1.0.tar.gz --file 1.1.0.tar.gz",
		Args:    cobra.ExactArgs(2),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, c, err := a.onChannel(args)
			if err != nil {
				return err
			}
			body, err := said.publication(args[1])
			if err != nil {
				return err
			}
			body = why.with(body)
			if a.confirm != name { // somebody will be asked; otherwise the service reports it
				if err := passes(ctx, c, name, args[1], body); err != nil {
					return err
				}
			}
			question, tag, err := a.reach(ctx, c, name, args[1])
			if err != nil {
				return err
			}
			if err := a.askName(name, question); err != nil {
				return err
			}
			if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: api.ChannelPath(name), Body: body, IfMatch: tag}); err != nil {
				return err
			}
			if tag == "" {
				a.forgetNames(c)
			}
			a.say("%s is published on %s", args[1], name)
			return a.shown(ctx, c, api.ChannelPath(name))
		}),
	}
	said.flags(cmd)
	why.flags(cmd, true)
	return cmd
}

// passes checks, before anybody is asked, whether a publication would be refused: for its fields, for a freeze, or
// because a channel of its type has the version with other bytes. Only the service knows versions that no channel has
// now.
func passes(ctx context.Context, c *api.Client, name, version string, body map[string]any) error {
	if err := acceptable(http.MethodPut, api.ChannelPath(name), body); err != nil {
		return err
	}
	if body["overrideReason"] == nil {
		if err := thawed(ctx, c); err != nil {
			return err
		}
	}
	edgeType, _, _ := api.ChannelName(name)
	return c.Pages(ctx, "/api/ota/release-channels", url.Values{"edgeType": {edgeType}, "limit": {"100"}}, func(page api.Response) (bool, error) {
		var list struct {
			Items []struct{ Channel, CurrentVersion, SHA256 string }
		}
		err := page.Into(&list)
		for _, one := range list.Items {
			if one.CurrentVersion == version && !strings.EqualFold(one.SHA256, fmt.Sprint(body["sha256"])) {
				return false, fail(Refused, "version %s is on %s/%s with other bytes (SHA-256 %s); a version never changes its bytes. Publish the new bytes as a new version",
					version, edgeType, one.Channel, one.SHA256)
			}
		}
		return true, err
	})
}

// reach returns a question that says what a publication does, and the entity tag of the channel that was read; empty
// if the channel is new.
func (a *app) reach(ctx context.Context, c *api.Client, name, version string) (question, tag string, err error) {
	channel, answer, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
	if isMissing(err) {
		question = fmt.Sprintf("%s: publish %s on a new channel", name, version)
		return question + didYouMean(name, a.channelNames(ctx, c)) + ".", "", nil
	}
	if err != nil {
		return "", "", err
	}
	counted, _, err := api.Get[api.ChannelProgress](ctx, c, api.ChannelPath(name)+"/progress", nil)
	if err != nil {
		return "", "", err
	}
	question = fmt.Sprintf("%s: publish %s instead of %s to all %d boxes immediately.", name, version, channel.CurrentVersion, counted.Boxes)
	if version == channel.CurrentVersion {
		question = fmt.Sprintf("%s: publish %s, which is already the channel's version, again to all %d boxes. Boxes that run the version of a rollout go back to it.",
			name, version, counted.Boxes)
	}
	if earlier(version, channel.CurrentVersion) {
		question += " It is an earlier version."
	}
	if r := channel.ActiveRollout; r != nil {
		question += fmt.Sprintf(" It ends the rollout of %s, which is at %d %%.", r.TargetVersion, r.StagedPercent)
	}
	return question, answer.Header.Get("ETag"), nil
}
