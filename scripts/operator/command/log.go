package command

import (
	"context"
	"encoding/json"
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
	var most uint
	cmd := &cobra.Command{
		Use: "log [CHANNEL|BOX]", Short: "Show who did what, newest first",
		Example: "  wavegate log --since 2h\n  wavegate log gateway-x/stable --actor olga\n  wavegate log box-0017",
		Long:    "Shows the audit trail: of the platform, of a channel and its rollouts, or of a box.",
		Args:    cobra.MaximumNArgs(1),
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
				return events(query, "the platform").print(ctx, a, c, most)
			}
			if _, _, isChannel := api.ChannelName(args[0]); !isChannel {
				query.Set("resourceType", "edge")
				query.Set("resourceId", args[0])
				l := events(query, args[0])
				l.of = api.EdgePath(args[0])
				return l.print(ctx, a, c, most)
			}
			read, err := eventsOfChannel(ctx, c, int(most), query, args[0])
			if err == nil && len(read.Items) == 0 {
				_, _, err = api.Get[api.Channel](ctx, c, api.ChannelPath(args[0]), nil)
			}
			if err != nil {
				return err
			}
			return events(nil, args[0]).printed(a, read)
		}),
	}
	cmd.Flags().StringVar(&actor, "actor", "", "only what this `user` did; guard for the guard")
	cmd.Flags().DurationVar(&since, "since", 0, "only what was done within this time, such as 2h")
	limited(cmd, &most, 50)
	return cmd
}

// issuerOf returns the issuer within which an actor is named: that of the caller's token, or the guard's own.
func issuerOf(ctx context.Context, c *api.Client, actor string) (string, error) {
	if actor == byGuard {
		return "urn:wavegate:guard", nil
	}
	me, _, err := api.Get[struct {
		Issuer string `json:"issuer"`
	}](ctx, c, "/api/rate-limits/me", nil)
	return me.Issuer, err
}

// events is the list of the events that a query selects.
func events(query url.Values, of string) list[api.Event] {
	return list[api.Event]{path: "/api/audit-events", query: query, none: "the log has no such event of " + of, head: eventHead, row: eventRow}
}

const eventHead = "TIME\tWHO\tWHAT\tOF\tREASON"

func eventRow(e api.Event) string {
	return cells(e.EventTime.Local().Format("2006-01-02 15:04:05"), e.Actor.UserID, describe(e), of(e), reasonOf(e))
}

// reasonOf returns why something was done: the person's reason, the reason for an override, or the guard's finding. A
// freeze has its reason as a field.
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

// eventsOfChannel merges the newest events of a channel with those of its rollouts: the trail lists the events of
// each resource separately. It skips rollouts that have not changed since the oldest event shown.
func eventsOfChannel(ctx context.Context, c *api.Client, most int, query url.Values, name string) (api.List, error) {
	edgeType, channel, _ := api.ChannelName(name)
	page, err := c.List(ctx, "/api/ota/rollouts", url.Values{"edgeType": {edgeType}, "channel": {channel}}, 0)
	if err != nil {
		return page, err
	}
	rollouts, err := api.Items[api.Rollout](page)
	if err != nil {
		return page, err
	}
	slices.SortFunc(rollouts, func(x, y api.Rollout) int { return y.UpdatedAt.Compare(x.UpdatedAt) })
	newest := merged{most: most}
	if err := newest.read(ctx, c, query, "release-channel", name); err != nil {
		return page, err
	}
	for _, r := range rollouts {
		if newest.full(r.UpdatedAt) {
			newest.more = true
			break
		}
		if err := newest.read(ctx, c, query, "rollout", r.ID); err != nil {
			return page, err
		}
	}
	list := api.List{Items: []json.RawMessage{}, More: newest.more}
	for _, e := range newest.events {
		list.Items = append(list.Items, e.text)
	}
	return list, nil
}

// merged collects the newest events of several resources, up to a number; with 0, all of them.
type merged struct {
	most   int
	more   bool // there are more
	events []timed
}

// A timed event is the service's event, with its time.
type timed struct {
	at   time.Time
	text json.RawMessage
}

// read adds the events of one resource.
func (m *merged) read(ctx context.Context, c *api.Client, query url.Values, kind, id string) error {
	query.Set("resourceType", kind)
	query.Set("resourceId", id)
	page, err := c.List(ctx, "/api/audit-events", query, m.most)
	if err != nil {
		return err
	}
	list, err := api.Items[api.Event](page)
	if err != nil {
		return err
	}
	for i, e := range list {
		m.events = append(m.events, timed{e.EventTime, page.Items[i]})
	}
	slices.SortStableFunc(m.events, func(x, y timed) int { return y.at.Compare(x.at) })
	m.more = m.more || page.More
	if m.most > 0 && len(m.events) > m.most {
		m.events, m.more = m.events[:m.most], true
	}
	return nil
}

// full reports whether events up to a time are too old to be among the newest.
func (m *merged) full(until time.Time) bool {
	return m.most > 0 && len(m.events) == m.most && m.events[m.most-1].at.After(until)
}

// describe says what an event did, with the new stage of a rollout or the new version of a channel.
func describe(e api.Event) string {
	text := e.EventName
	if given, _ := e.After["given"].([]any); len(given) > 0 { // the last of a rollout's warnings
		last, _ := given[len(given)-1].(map[string]any)
		return fmt.Sprintf("%s at %v %%", text, last["stage"])
	}
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

// of names the subject of an event: a rollout by its channel and version.
func of(e api.Event) string {
	state := e.After
	if state == nil {
		state = e.Before
	}
	if e.Resource.Type != "rollout" && e.Resource.Type != "rollout-warning" {
		return e.Resource.ID
	}
	return strings.TrimSpace(fmt.Sprintf("%v/%v %v", state["edgeType"], state["channel"], state["targetVersion"]))
}
