package rollouts

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/timestamp"
)

func lists(r *run.Run) *cobra.Command {
	cmd := run.Group("rollouts", "Show active and past rollouts, and how they went", list(r), show(r), progress(r), history(r), boxes(r))
	cmd.Aliases = []string{"rollout"}
	return cmd
}

func list(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [CHANNEL]", Short: "List active and past rollouts, newest first",
		Example: "wavegate rollouts list gateway-x/stable\nwavegate rollouts list --status halted --limit 10",
	}
	status := cmd.Flags().String("status", "", "only those that are active, halted or completed")
	return run.Lists(r, cmd, 50, func(_ context.Context, c *run.Call) (run.List[rollout.Rollout], error) {
		l := run.List[rollout.Rollout]{
			Path: "/api/ota/rollouts", Query: run.Query("status", *status), None: "there is no such rollout",
			Head: "ROLLOUT|CHANNEL|FROM|TO|STATUS|STAGE|STARTED", Row: func(r rollout.Rollout) []any {
				state := string(r.Status)
				if r.EndedBy == rollout.ByGuard {
					state += " by the guard"
				}
				return []any{r.ID, idOf(r), r.PreviousVersion, r.TargetVersion, state, fmt.Sprintf("%d %%", r.StagedPercent), terminal.Dated(r.StartedAt)}
			},
		}
		if len(c.Args) > 0 {
			l.Query = run.OnChannel(c.Args[0], "status", *status)
			l.Of, l.None = api.ChannelPath(c.Args[0]), "no such rollout was started on "+c.Args[0]
		}
		return l, nil
	})
}

// ofWhich says which rollout is meant.
const ofWhich = "with a channel, it is the active rollout, or the one that was started last."

// onRollout makes a command for one rollout: the one with an id, or the latest of a channel. Its Use is only its name,
// and its Long may only have what this does not say.
func onRollout(r *run.Run, cmd *cobra.Command, do func(ctx context.Context, c *run.Call, id string) error) *cobra.Command {
	cmd.Use += " CHANNEL|ROLLOUT"
	cmd.Long = strings.TrimSpace(cmd.Short + "; " + ofWhich + "\n\n" + cmd.Long)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		id, err := rolloutID(ctx, c, c.Args[0])
		if err != nil {
			return err
		}
		return do(ctx, c, id)
	})
}

// rolloutID returns the id that a person gave, or that of the latest rollout of the channel that they named.
func rolloutID(ctx context.Context, c *run.Call, name string) (string, error) {
	if uuid.Validate(name) == nil {
		return name, nil
	}
	if _, _, ok := api.ChannelName(name); !ok {
		return "", run.Fail(run.Misused, "%q is not a channel, such as gateway-x/stable, or the id of a rollout", name)
	}
	v, err := latest(ctx, c, name)
	return v.rollout.ID, err
}

func show(r *run.Run) *cobra.Command {
	return onRollout(r, &cobra.Command{
		Use: "show", Short: "Show a rollout with its policy and approvals",
		Example: "wavegate rollouts show gateway-x/stable\nwavegate rollouts show 0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70",
	}, func(ctx context.Context, c *run.Call, id string) error {
		return c.Read(ctx, api.RolloutPath(id), nil)
	})
}

// freshly declares the option for a new count. The query is that of the call when it is made.
func freshly(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("fresh", false, "count the boxes now, unless they were counted in the last 10 seconds")
}

// asked is the query for a new count, if it is wanted.
func asked(fresh bool) url.Values {
	if fresh {
		return url.Values{"fresh": {"true"}}
	}
	return url.Values{}
}

func progress(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "progress", Short: "Show the progress of a rollout, by the last count of its boxes", Long: "wavegate watch follows it.",
		Example: "wavegate rollouts progress gateway-x/stable\nwavegate rollouts progress gateway-x/stable --by-factory",
	}
	fresh := freshly(cmd)
	plants := cmd.Flags().Bool("by-factory", false, "count the boxes of each factory")
	return onRollout(r, cmd, func(ctx context.Context, c *run.Call, id string) error {
		query := asked(*fresh)
		if *plants {
			query.Set("by", "factory")
		}
		if c.JSON || *plants {
			return counted(ctx, c, id, query)
		}
		v, err := look(ctx, c, id, "", query["fresh"]...)
		if err == nil && v.rollout.Status != rollout.Active {
			err = v.ends(ctx, c)
		}
		if err == nil {
			c.ShowLines(v.lines(c.Columns(), time.Now()))
		}
		return err
	})
}

// counted prints the document of a rollout's progress, or its factories.
func counted(ctx context.Context, c *run.Call, id string, query url.Values) error {
	p, answer, err := api.Get[census.Progress](ctx, c, api.RolloutPath(id)+"/progress", query)
	if err != nil {
		return err
	}
	return c.Either(answer, func() error {
		rows := []string{"FACTORY\tBOXES\tTOLD\tINSTALLED\tON ITS WAY\tFAILED\tREVERTED\tTIME ZONE\tOPENS"}
		for _, f := range p.Factories {
			rows = append(rows, terminal.Cells(terminal.OrDash(f.FactoryID), f.Expected, told(f.Counts), f.Installed, onItsWay(f.Counts), f.Failed, f.Reverted,
				terminal.OrDash(f.TimeZone), opens(f)))
		}
		if p.MoreFactories > 0 {
			c.Note("wavegate: %d more factories have boxes of it", p.MoreFactories)
		}
		return c.Table(rows...)
	})
}

// opens is when a closed factory opens next.
func opens(f census.FactoryCounts) string {
	switch {
	case f.Waits == "":
		return "-"
	case f.OpensAt == nil:
		return "not within two weeks"
	}
	return clock(*f.OpensAt)
}

func history(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "List how a rollout went, minute by minute, newest first",
		Example: "wavegate rollouts history gateway-x/stable --limit 10\nwavegate rollouts history gateway-x/stable --json",
	}
	most := run.Limited(cmd, 60)
	return onRollout(r, cmd, func(ctx context.Context, c *run.Call, id string) error {
		return run.List[census.Snapshot]{
			Path: api.RolloutPath(id) + "/progress/history", None: "its boxes have not been counted yet; they are counted once a minute",
			Head: "TIME|STAGE|BOXES|TOLD|INSTALLED|ON ITS WAY|FAILED|REVERTED|SILENT",
			Row: func(m census.Snapshot) []any {
				return []any{terminal.Dated(m.At), fmt.Sprintf("%d %%", m.StagedPercent), m.Expected, told(m.Counts), m.Installed,
					onItsWay(m.Counts), m.Failed, m.Reverted, m.Silent}
			},
		}.Print(ctx, c, *most)
	})
}

func boxes(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{Use: "boxes", Short: "List the boxes of a rollout in one state", Example: "wavegate rollouts boxes gateway-x/stable --state failed"}
	state := cmd.Flags().String("state", "failed", "those that are offered, working, deferred, installed, failed, reverted or silent")
	most := run.Limited(cmd, 1000)
	return onRollout(r, cmd, func(ctx context.Context, c *run.Call, id string) error {
		return boxesAt(id, *state).Print(ctx, c, *most)
	})
}

// boxesAt lists the boxes of a rollout that are in a state.
func boxesAt(rollout, state string) run.List[census.Box] {
	l := run.List[census.Box]{
		Path: api.RolloutPath(rollout) + "/edges", Query: url.Values{"state": {state}}, None: "no box of the rollout is " + state,
		Head: "BOX|STAGE|RUNS|CODE|DETAIL", Row: func(b census.Box) []any { return []any{b.EdgeID, b.Stage, b.Running, b.Code, b.Detail} },
	}
	if state == "silent" {
		l.Head = "BOX|STAGE|RUNS|LAST SEEN"
		l.Row = func(b census.Box) []any {
			return []any{b.EdgeID, b.Stage, b.Running, terminal.Dated(*cmp.Or(b.LastSeenAt, &b.Since))}
		}
	}
	return l
}

// In lists the boxes of the latest rollout of a channel that are in a state.
func In(ctx context.Context, c *run.Call, channel, state string) (run.List[census.Box], error) {
	v, err := latest(ctx, c, channel)
	id, target := v.rollout.ID, v.rollout.TargetVersion
	if err != nil {
		o, err := ownOf(ctx, c, err)
		if err != nil {
			return run.List[census.Box]{}, err
		}
		on, err := o.on(channel)
		if err != nil {
			return run.List[census.Box]{}, err
		}
		if on.Rollout == nil {
			return run.List[census.Box]{}, run.Fail(run.Refused, "there has never been a rollout on %s", channel)
		}
		id, target = on.Rollout.ID, on.Rollout.TargetVersion
	}
	l := boxesAt(id, state)
	l.None = fmt.Sprintf("no box is %s in the rollout of %s on %s", state, target, channel)
	return l, nil
}

// versions counts the boxes of a channel by version.
func versions(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "versions CHANNEL", Short: "Count which versions the boxes of a channel run",
		Example: "wavegate versions gateway-x/stable\nwavegate versions gateway-x/stable --fresh",
	}
	fresh := freshly(cmd)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		p, answer, err := api.Get[census.ChannelVersions](ctx, c, api.ChannelPath(c.Args[0])+"/progress", asked(*fresh))
		if err != nil {
			return err
		}
		return c.Either(answer, func() error {
			rows := []string{"VERSION\tBOXES"}
			for _, v := range p.Versions {
				rows = append(rows, terminal.Cells(v.Version, v.Boxes))
			}
			if p.OtherVersions > 0 {
				rows = append(rows, terminal.Cells("others", p.OtherVersions))
			}
			if p.Unknown > 0 {
				rows = append(rows, terminal.Cells("not known", p.Unknown))
			}
			c.Note("%d boxes, counted %s ago", p.Boxes, time.Since(p.AsOf).Round(time.Second))
			if p.Pinned > 0 {
				c.Note("%d of them are pinned, the oldest is %s, since %s; see wavegate pins", p.Pinned, p.OldestPin.EdgeID, timestamp.Text(p.OldestPin.Since))
			}
			if p.ImportedUnknown > 0 {
				c.Note("%d come from another server and have not said what they run, so they are told nothing new; see wavegate box assume", p.ImportedUnknown)
			}
			if p.Frequent > 0 {
				c.Note("%d call too often, which costs more; see wavegate boxes --state frequent", p.Frequent)
			}
			if p.Held > 0 {
				c.Note("%d keep a newer release after a move or the end of a pin", p.Held)
			}
			return c.Table(rows...)
		})
	})
}
