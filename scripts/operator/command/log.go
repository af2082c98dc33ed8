package command

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) log() *cobra.Command {
	var actor string
	var since time.Duration
	var most int
	cmd := &cobra.Command{
		Use: "log [CHANNEL|BOX]", Short: "Show who did what, newest first",
		Long: "Shows the audit trail: of the platform, of a channel and its rollouts, or of a box.",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeChannel,
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			query := url.Values{}
			if since > 0 {
				query.Set("from", time.Now().Add(-since).UTC().Format(time.RFC3339))
			}
			if actor != "" {
				issuer, err := issuerOf(ctx, c, actor)
				if err != nil {
					return err
				}
				query.Set("actorIssuer", issuer)
				query.Set("actorUserId", actor)
			}
			if len(args) == 0 {
				return a.events(ctx, c, most, query)
			}
			if _, _, isChannel := api.ChannelName(args[0]); !isChannel {
				query.Set("resourceType", "edge")
				query.Set("resourceId", args[0])
				return a.events(ctx, c, most, query)
			}
			return a.eventsOfChannel(ctx, c, most, query, args[0])
		}),
	}
	cmd.Flags().StringVar(&actor, "actor", "", "only what this `user` did; guard for the guard")
	cmd.Flags().DurationVar(&since, "since", 0, "only what was done in this time, such as 2h")
	cmd.Flags().IntVar(&most, "limit", 50, "how many at most")
	return cmd
}

// issuerOf is the issuer of the caller's token: people are named within it. The guard has an issuer of its own.
func issuerOf(ctx context.Context, c *api.Client, actor string) (string, error) {
	if actor == byGuard {
		return "urn:wavegate:guard", nil
	}
	me, _, err := api.Get[struct {
		Issuer string `json:"issuer"`
	}](ctx, c, "/api/rate-limits/me", nil)
	return me.Issuer, err
}

func (a *app) events(ctx context.Context, c *api.Client, most int, query url.Values) error {
	return list(ctx, a, c, "/api/audit-events", query, most, eventHead, eventRow)
}

const eventHead = "TIME\tWHO\tWHAT\tOF\tREASON"

func eventRow(e api.Event) string {
	return cells(e.EventTime.Local().Format("2006-01-02 15:04:05"), e.Actor.UserID, describe(e), of(e), reasonOf(e))
}

// reasonOf is why something was done: what the person said, what they passed a freeze or a window for, or what the
// guard found. A freeze has its reason as a field.
func reasonOf(e api.Event) string {
	text := e.Reason
	if own, ok := e.After["reason"].(string); ok && text == "" {
		text = own
	}
	for _, more := range []string{e.OverrideReason, e.Cause.Sentence} {
		if text != "" && more != "" {
			text += "; "
		}
		text += more
	}
	return text
}

// eventsOfChannel merges the events of a channel with those of its rollouts: the trail lists a resource's events
// each by itself.
func (a *app) eventsOfChannel(ctx context.Context, c *api.Client, most int, query url.Values, name string) error {
	edgeType, channel, _ := api.ChannelName(name)
	resources := [][2]string{{"release-channel", name}}
	rollouts, _, err := api.Get[struct{ Items []api.Rollout }](ctx, c, "/api/ota/rollouts",
		url.Values{"edgeType": {edgeType}, "channel": {channel}, "limit": {"10"}})
	if err != nil {
		return err
	}
	for _, r := range rollouts.Items {
		resources = append(resources, [2]string{"rollout", r.ID})
	}
	var all []api.Event
	for _, r := range resources {
		query.Set("resourceType", r[0])
		query.Set("resourceId", r[1])
		query.Set("limit", "100")
		page, answer, err := api.Get[struct{ Items []api.Event }](ctx, c, "/api/audit-events", query)
		if err != nil {
			return err
		}
		if a.json && len(page.Items) > 0 {
			a.show(answer.Body)
		}
		all = append(all, page.Items...)
	}
	if a.json {
		return nil
	}
	slices.SortStableFunc(all, func(x, y api.Event) int { return y.EventTime.Compare(x.EventTime) })
	rows := []string{eventHead}
	for _, e := range all[:min(len(all), most)] {
		rows = append(rows, eventRow(e))
	}
	return a.table(rows...)
}

// describe says what an event did, with what a rollout's stage or a channel's version became.
func describe(e api.Event) string {
	text := e.EventName
	for _, field := range []string{"staged_percent", "currentVersion", "channel", "limit"} {
		was, is := e.Before[field], e.After[field]
		if is == nil || was == is {
			continue
		}
		if was != nil {
			text += fmt.Sprintf(" %v →", was)
		}
		text += fmt.Sprintf(" %v", is)
		if field == "staged_percent" {
			text += " %"
		}
		break
	}
	return text
}

// of names what an event is about: a rollout by its channel and version.
func of(e api.Event) string {
	state := e.After
	if state == nil {
		state = e.Before
	}
	if e.Resource.Type != "rollout" {
		return e.Resource.ID
	}
	return strings.TrimSpace(fmt.Sprintf("%v/%v %v", state["edgeType"], state["channel"], state["targetVersion"]))
}
