package rollouts

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
)

func start(r *run.Run) *cobra.Command {
	var why reasons
	cmd := &cobra.Command{
		Use: "start CHANNEL VERSION", Short: "Start a staged rollout of a published version, at 1 %",
		Example: "wavegate start gateway-x/stable 1.1.0\nwavegate start gateway-x/stable 1.1.0 --policy policy.json",
		Long: "Starts a staged rollout on a channel, of a version that was published on any channel of the edge type. The guard " +
			"watches it and halts it if it is bad; people promote it. With --auto, the guard promotes it, too.",
	}
	policy := cmd.Flags().String("policy", "", "a `file` with the rollout's policy; see wavegate policy show --example")
	auto := cmd.Flags().Bool("auto", false, "let the guard promote the rollout, too")
	alone := cmd.Flags().Bool("no-guard", false, "no guard: only people halt and promote the rollout")
	newBoxes := cmd.Flags().String("new-boxes", "", "target: manufacture flashes the version, so tell it at once to boxes registered since the start")
	cmd.MarkFlagsMutuallyExclusive("policy", "auto", "no-guard")
	why.flags(cmd, true)
	why.hurries(cmd)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		name, version := c.Args[0], c.Args[1]
		edgeType, channelName, _ := api.ChannelName(name)
		body := map[string]any{"edgeType": edgeType, "channel": channelName, "targetVersion": version}
		if *newBoxes != "" {
			body["newBoxes"] = *newBoxes
		}
		fast, err := choosePolicy(body, *policy, *auto, *alone)
		if err != nil {
			return err
		}
		channel, _, err := api.Get[release.View](ctx, c, api.ChannelPath(name), nil)
		if err != nil {
			return err
		}
		counted, _, err := api.Get[census.ChannelVersions](ctx, c, api.ChannelPath(name)+"/progress", nil)
		if err != nil {
			return err
		}
		confirm, question := "", fmt.Sprintf("%s: start a rollout of %s instead of %s, to about 1 %% of %s?",
			name, version, channel.CurrentVersion, terminal.Boxes(counted.Boxes))
		against, err := knownAgainst(ctx, c, edgeType, channelName, version)
		if err != nil {
			return err
		}
		if fast != "" {
			question += " It is fast: " + fast
		}
		if caution := against + cautions(earlier(version, channel.CurrentVersion), why.urgent); caution != "" {
			question, confirm = question+caution, name
		}
		if err := c.AskName(confirm, question); err != nil {
			return err
		}
		answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: "/api/ota/rollouts", Body: why.with(body), Key: uuid.NewString()})
		if err != nil {
			return err
		}
		id := path.Base(answer.Header.Get("Location"))
		channel.ActiveRollout = &release.ActiveRollout{ID: id, TargetVersion: version, StagedPercent: cohort.Stages[0], Revision: 1}
		c.Saw(channel)
		return c.Done(ctx, api.RolloutPath(id), "%s is at 1 %% on %s; follow it: wavegate watch %s", version, name, name)
	})
}

// cautions are why a start is confirmed with the channel's name.
func cautions(earlier, urgent bool) (text string) {
	if earlier {
		text = " It is an earlier version."
	}
	if urgent {
		text += " It is urgent: it does not wait for plants."
	}
	return text
}

// choosePolicy puts the policy of the flags into a body. Without any of them, the service chooses. It returns what a fast
// policy cannot see.
func choosePolicy(body map[string]any, file string, auto, alone bool) (fast string, err error) {
	switch {
	case file != "":
		p, err := policyIn(file, shortest)
		if err != nil {
			return "", err
		}
		body["policy"], fast = p, p.Fast()
	case auto:
		body["policy"] = map[string]any{"promote": map[string]any{"auto": true}}
	case alone:
		body["policy"] = nil
	}
	return fast, nil
}

// knownAgainst says that a rollout of the version was returned, or halted on another channel, by the guard or a person;
// empty if there is none.
func knownAgainst(ctx context.Context, c *run.Call, edgeType, channel, version string) (string, error) {
	list, err := api.All[rollout.Rollout](ctx, c.Client, "/api/ota/rollouts", run.Query("edgeType", edgeType, "status", string(rollout.Halted)), 100)
	for _, r := range list {
		switch {
		case r.TargetVersion != version || r.EndedBy == rollout.ByPublication:
		case r.ReturnedAt != nil:
			return " It was returned on " + idOf(r) + ".", err
		case r.Channel != channel:
			return " It was halted on " + idOf(r) + ".", err
		}
	}
	return "", err
}

const freezePath = "/api/ota/freeze"

func freezes(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "freeze --for TIME --reason REASON", Short: "Block starts, promotions and publications for a time",
		Long:    "Blocks starts, promotions, resumptions and publications for a time, except with --override REASON. Halts are always possible.",
		Example: "wavegate freeze --for 48h --reason 'stocktaking in all factories'\nwavegate freeze show",
		Args:    run.Known,
	}
	lasts := cmd.Flags().Duration("for", 0, "how long, such as 48h; 720h at most")
	reason := cmd.Flags().String("reason", "", "why, for the audit trail")
	run.Required(cmd, "for", "reason")
	cmd.AddCommand(r.Calls(&cobra.Command{Use: "show", Short: "Show the active freeze", Example: "wavegate freeze show"}, func(ctx context.Context, c *run.Call) error {
		err := c.Read(ctx, freezePath, nil)
		if run.Missing(err) && !c.JSON {
			c.Say("no freeze is active")
			return nil
		}
		return err
	}))
	return r.Takes(cmd, func(context.Context, *run.Call) (run.Step, error) {
		until := time.Now().Add(*lasts).UTC().Truncate(time.Second)
		body := map[string]any{"reason": *reason, "until": until.Format(time.RFC3339)}
		return run.Step{
			Question: "Freeze all channels until " + clock(until) + "?", Done: "frozen until " + clock(until), Shown: freezePath,
			Request: api.Request{Method: http.MethodPut, Path: freezePath, Body: body},
		}, nil
	})
}

func unfreeze(r *run.Run) *cobra.Command {
	return r.Takes(&cobra.Command{Use: "unfreeze", Short: "End a freeze", Example: "wavegate unfreeze"}, func(_ context.Context, c *run.Call) (run.Step, error) {
		name := ""
		if c.Confirm != "" {
			name = "unfreeze" // its confirmation before --yes was enough
		}
		return run.Step{
			Question: "End the freeze of all channels.", Name: name, Done: "the freeze has ended", None: "no freeze is active",
			Request: api.Request{Method: http.MethodDelete, Path: freezePath},
		}, nil
	})
}

// freezeNow reads the active freeze, or nil.
func freezeNow(ctx context.Context, c *run.Call) (*freeze.Freeze, []byte, error) {
	f, answer, err := api.Get[freeze.Freeze](ctx, c, freezePath, nil)
	if run.Missing(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &f, answer.Body, nil
}

// thawed fails during a freeze.
func thawed(ctx context.Context, c *run.Call) error {
	f, _, err := freezeNow(ctx, c)
	if run.Forbidden(err) || err == nil && f == nil { // if the person is not allowed to read it, the service still enforces it
		return nil
	}
	if err != nil {
		return err
	}
	return run.Fail(run.Refused, "all channels are frozen until %s: %s. Use --override REASON to do it anyway", clock(f.Until), f.Reason)
}
