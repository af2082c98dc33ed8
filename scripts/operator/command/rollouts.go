package command

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) rollouts() *cobra.Command {
	cmd := group("rollouts", "Show active and past rollouts, and how they went",
		a.rolloutsList(), a.rolloutsShow(), a.rolloutsProgress(), a.rolloutsHistory(), a.rolloutsBoxes())
	cmd.Aliases = []string{"rollout"}
	return cmd
}

func (a *app) rolloutsList() *cobra.Command {
	var status string
	var most uint
	cmd := &cobra.Command{
		Use: "list [CHANNEL]", Short: "List active and past rollouts, newest first", Args: cobra.MaximumNArgs(1),
		Example: "  wavegate rollouts list gateway-x/stable\n  wavegate rollouts list --status halted --limit 10",
		RunE: a.run(func(ctx context.Context, args []string) error {
			l := list[api.Rollout]{path: "/api/ota/rollouts", query: url.Values{}, none: "there is no such rollout",
				head: cells("ROLLOUT", "CHANNEL", "FROM", "TO", "STATUS", "STAGE", "STARTED"), row: rolloutRow}
			if status != "" {
				l.query.Set("status", status)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if _, err := channelArg(args); err != nil {
					return err
				}
				edgeType, channel, _ := api.ChannelName(args[0])
				l.query.Set("edgeType", edgeType)
				l.query.Set("channel", channel)
				l.of, l.none = api.ChannelPath(args[0]), "no such rollout was started on "+args[0]
			}
			return l.print(ctx, a, c, most)
		}),
	}
	cmd.Flags().StringVar(&status, "status", "", "only those that are active, halted or completed")
	limited(cmd, &most, 50)
	return cmd
}

func rolloutRow(r api.Rollout) string {
	state := r.Status
	if r.EndedBy == byGuard {
		state += " by the guard"
	}
	return cells(r.ID, r.ChannelID(), r.PreviousVersion, r.TargetVersion, state, fmt.Sprintf("%d %%", r.StagedPercent), r.StartedAt.Local().Format("2006-01-02 15:04"))
}

// onRollout makes a command for one rollout: the one with an id, or the latest of a channel.
func (a *app) onRollout(verb, short, long, example string, do func(ctx context.Context, c *api.Client, id string) error) *cobra.Command {
	return &cobra.Command{
		Use: verb + " CHANNEL|ROLLOUT", Short: short, Long: strings.TrimSpace(short + ".\nWith a channel, it is the active rollout, or the one that was started last.\n\n" + long),
		Example: example, Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			id, err := a.rolloutID(ctx, c, args[0])
			if err != nil {
				return err
			}
			return do(ctx, c, id)
		}),
	}
}

// rolloutID returns the id that a person gave, or that of the latest rollout of the channel that they named.
func (a *app) rolloutID(ctx context.Context, c *api.Client, name string) (string, error) {
	if uuid.Validate(name) == nil {
		return name, nil
	}
	if _, _, ok := api.ChannelName(name); !ok {
		return "", fail(Misused, "%q is not a channel, such as gateway-x/stable, or the id of a rollout", name)
	}
	r, err := a.latest(ctx, c, name)
	return r.ID, err
}

func (a *app) rolloutsShow() *cobra.Command {
	return a.onRollout("show", "Show a rollout with its policy and approvals", "", "  wavegate rollouts show gateway-x/stable\n  wavegate rollouts show "+anyMethod,
		func(ctx context.Context, _ *api.Client, id string) error {
			return a.read(ctx, api.RolloutPath(id), nil)
		})
}

func (a *app) rolloutsProgress() *cobra.Command {
	var fresh, plants bool
	cmd := a.onRollout("progress", "Show the progress of a rollout, by the last count of its boxes", "wavegate watch follows it.",
		"  wavegate rollouts progress gateway-x/stable\n  wavegate rollouts progress gateway-x/stable --by-factory",
		func(ctx context.Context, c *api.Client, id string) error {
			query := url.Values{}
			if fresh {
				query.Set("fresh", "true")
			}
			if plants {
				query.Set("by", "factory")
			}
			if a.json || plants {
				return a.counted(ctx, c, id, query)
			}
			v, err := look(ctx, c, id, "", query["fresh"]...)
			if err == nil && v.rollout.Status != "active" {
				err = v.ends(ctx, c)
			}
			if err == nil {
				a.showView(v)
			}
			return err
		})
	cmd.Flags().BoolVar(&fresh, "fresh", false, "count the boxes now, unless they were counted in the last 10 seconds")
	cmd.Flags().BoolVar(&plants, "by-factory", false, "count the boxes of each factory")
	return cmd
}

// counted prints the document of a rollout's progress, or its factories.
func (a *app) counted(ctx context.Context, c *api.Client, id string, query url.Values) error {
	p, answer, err := api.Get[struct {
		Factories []struct {
			FactoryID string
			api.StageProgress
		}
		MoreFactories int
	}](ctx, c, api.RolloutPath(id)+"/progress", query)
	if err != nil || a.json {
		if err == nil {
			a.show(answer.Body)
		}
		return err
	}
	rows := []string{cells("FACTORY", "BOXES", "TOLD", "INSTALLED", "ON ITS WAY", "FAILED", "REVERTED")}
	for _, f := range p.Factories {
		rows = append(rows, cells(orDash(f.FactoryID), f.Expected, f.Told(), f.Installed, f.OnItsWay(), f.Failed, f.Reverted))
	}
	if p.MoreFactories > 0 {
		a.note("wavegate: %d more factories have boxes of it", p.MoreFactories)
	}
	return a.table(rows...)
}

func (a *app) rolloutsHistory() *cobra.Command {
	type moment struct {
		At            time.Time
		StagedPercent int `json:"staged_percent"`
		Silent        int
		api.StageProgress
	}
	var most uint
	cmd := a.onRollout("history", "List how a rollout went, minute by minute, newest first", "",
		"  wavegate rollouts history gateway-x/stable --limit 10\n  wavegate rollouts history gateway-x/stable --json",
		func(ctx context.Context, c *api.Client, id string) error {
			return list[moment]{path: api.RolloutPath(id) + "/progress/history", query: url.Values{}, none: "its boxes have not been counted yet; they are counted once a minute",
				head: cells("TIME", "STAGE", "BOXES", "TOLD", "INSTALLED", "ON ITS WAY", "FAILED", "REVERTED", "SILENT"),
				row: func(m moment) string {
					return cells(m.At.Local().Format("2006-01-02 15:04"), fmt.Sprintf("%d %%", m.StagedPercent), m.Expected, m.Told(), m.Installed, m.OnItsWay(), m.Failed, m.Reverted, m.Silent)
				}}.print(ctx, a, c, most)
		})
	limited(cmd, &most, 60)
	return cmd
}

func (a *app) rolloutsBoxes() *cobra.Command {
	var state string
	var most uint
	cmd := a.onRollout("boxes", "List the boxes of a rollout in one state", "", "  wavegate rollouts boxes gateway-x/stable --state failed",
		func(ctx context.Context, c *api.Client, id string) error {
			l := boxesOf(id, state)
			return l.print(ctx, a, c, most)
		})
	cmd.Flags().StringVar(&state, "state", "failed", "those that are offered, working, deferred, installed, failed or reverted")
	limited(cmd, &most, 1000)
	return cmd
}

// boxesOf lists the boxes of a rollout that are in a state.
func boxesOf(rollout, state string) list[box] {
	return list[box]{
		path: api.RolloutPath(rollout) + "/edges", query: url.Values{"state": {state}}, none: "no box of the rollout is " + state,
		head: cells("BOX", "STAGE", "RUNS", "CODE", "DETAIL"), row: func(b box) string { return cells(b.EdgeID, b.Stage, b.Running, b.Code, b.Detail) },
	}
}
