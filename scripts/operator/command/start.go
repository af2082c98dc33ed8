package command

import (
	"context"
	"fmt"
	"net/http"
	"path"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/cohort"
)

func (a *app) start() *cobra.Command {
	var why reasons
	var policy string
	var auto, alone bool
	cmd := &cobra.Command{
		Use: "start CHANNEL VERSION", Short: "Start a staged rollout of a published version, at 1 %",
		Example: "  wavegate start gateway-x/stable 1.1.0\n  wavegate start gateway-x/stable 1.1.0 --policy policy.json",
		Long: "Starts a staged rollout on a channel, of a version that was published on any channel of the edge type. The guard\n" +
			"watches it and halts it if it is bad; people promote it. With --auto, the guard promotes it, too.",
		Args: cobra.ExactArgs(2),
		RunE: a.run(func(ctx context.Context, args []string) error {
			name, err := channelArg(args)
			if err != nil {
				return err
			}
			edgeType, channelName, _ := api.ChannelName(name)
			body := map[string]any{"edgeType": edgeType, "channel": channelName, "targetVersion": args[1]}
			if policy != "" {
				p, err := policyIn(policy, shortest)
				if err != nil {
					return err
				}
				body["policy"] = p
			}
			if auto {
				body["policy"] = map[string]any{"promote": map[string]any{"auto": true}}
			}
			if alone {
				body["policy"] = nil
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			channel, _, err := api.Get[api.Channel](ctx, c, api.ChannelPath(name), nil)
			if err != nil {
				return err
			}
			counted, _, err := api.Get[api.ChannelProgress](ctx, c, api.ChannelPath(name)+"/progress", nil)
			if err != nil {
				return err
			}
			question := fmt.Sprintf("%s: start a rollout of %s instead of %s, to about 1 %% of %d %s?", name, args[1], channel.CurrentVersion, counted.Boxes, noun(counted.Boxes, "box", "boxes"))
			if earlier(args[1], channel.CurrentVersion) {
				err = a.askName(name, question+" It is an earlier version.")
			} else {
				err = a.ask(question)
			}
			if err != nil {
				return err
			}
			answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: "/api/ota/rollouts", Body: why.with(body), Key: uuid.NewString()})
			if err != nil {
				return err
			}
			id := path.Base(answer.Header.Get("Location"))
			channel.ActiveRollout = &api.RunningRollout{ID: id, TargetVersion: args[1], StagedPercent: cohort.Stages[0], Revision: 1}
			a.saw(c, channel)
			a.say("%s is at 1 %% on %s; follow it: wavegate watch %s", args[1], name, name)
			return a.shown(ctx, c, api.RolloutPath(id))
		}),
	}
	cmd.Flags().StringVar(&policy, "policy", "", "a `file` with the rollout's policy; see wavegate policy show --example")
	cmd.Flags().BoolVar(&auto, "auto", false, "let the guard promote the rollout, too")
	cmd.Flags().BoolVar(&alone, "no-guard", false, "no guard: only people halt and promote the rollout")
	cmd.MarkFlagsMutuallyExclusive("policy", "auto", "no-guard")
	why.flags(cmd, true)
	return cmd
}
