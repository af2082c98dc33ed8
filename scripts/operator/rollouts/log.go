package rollouts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/trail/audit"
)

func events(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "log [CHANNEL|BOX]", Short: "Show who did what, newest first",
		Example: "wavegate log --since 2h\nwavegate log gateway-x/stable --actor olga\nwavegate log box-0017",
		Long:    "Shows the audit trail: of the platform, of a channel and its rollouts, or of a box.",
	}
	actor := cmd.Flags().String("actor", "", "only what this `user` did; guard for the guard")
	since := cmd.Flags().Duration("since", 0, "only what was done within this time, such as 2h")
	most := run.Limited(cmd, 50)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		query := url.Values{}
		if *since > 0 {
			query.Set("from", time.Now().Add(-*since).UTC().Format(time.RFC3339))
		}
		if *actor != "" {
			issuer, err := issuerOf(ctx, c, *actor)
			if err != nil {
				return err
			}
			query.Set("actorIssuer", issuer)
			query.Set("actorUserId", *actor)
		}
		l := Events("/api/audit-events", "the log has no such event of the platform")
		l.Query = query
		if len(c.Args) == 0 {
			return l.Print(ctx, c, *most)
		}
		name := c.Args[0]
		l.None = "the log has no such event of " + name
		if _, _, isChannel := api.ChannelName(name); !isChannel {
			query.Set("resourceType", "edge")
			query.Set("resourceId", name)
			l.Of = api.EdgePath(name)
			return l.Print(ctx, c, *most)
		}
		read, err := eventsOfChannel(ctx, c, int(*most), query, name)
		if err == nil && len(read.Items) == 0 {
			_, err = c.Get(ctx, api.ChannelPath(name))
		}
		if err != nil {
			return err
		}
		return l.Printed(c.Run, read)
	})
}

// Events is a list of events of the audit trail.
func Events(path, none string) run.List[audit.Event] {
	return run.List[audit.Event]{Path: path, None: none, Head: "TIME|WHO|WHAT|OF|REASON", Row: func(e audit.Event) []any {
		return []any{e.EventTime.Local().Format(time.DateTime), e.Actor.UserID, describe(e), of(e), reasonOf(e)}
	}}
}

// issuerOf returns the issuer within which an actor is named: that of the caller's token, or the guard's own.
func issuerOf(ctx context.Context, c *run.Call, actor string) (string, error) {
	if actor == rollout.Guard.UserID {
		return rollout.Guard.Issuer, nil
	}
	me, _, err := api.Get[struct {
		Issuer string `json:"issuer"`
	}](ctx, c, "/api/rate-limits/me", nil)
	return me.Issuer, err
}

// reasonOf returns why something was done: the person's reason, the reason for an override, or the guard's finding. A
// freeze has its reason as a field.
func reasonOf(e audit.Event) string {
	own, _ := cmp.Or(fields(e.After)["reason"], fields(fields(e.After)["pin"])["reason"]).(string)
	finding, _ := fields(e.Cause)["sentence"].(string)
	texts := []string{cmp.Or(e.Reason, own), e.OverrideReason, finding}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; ")
}

// fields are those of an object in an event.
func fields(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}

// eventsOfChannel merges the newest events of a channel with those of its rollouts: the trail lists the events of
// each resource separately. It skips rollouts that have not changed since the oldest event shown.
func eventsOfChannel(ctx context.Context, c *run.Call, most int, query url.Values, name string) (api.List, error) {
	list := api.List{Items: []json.RawMessage{}}
	rollouts, err := api.All[rollout.Rollout](ctx, c.Client, "/api/ota/rollouts", run.OnChannel(name), 0)
	if err != nil {
		return list, err
	}
	slices.SortFunc(rollouts, func(x, y rollout.Rollout) int { return y.UpdatedAt.Compare(x.UpdatedAt) })
	newest := merged{most: most}
	if err := newest.read(ctx, c, query, "release-channel", name); err != nil {
		return list, err
	}
	for _, r := range rollouts {
		if newest.full(r.UpdatedAt) {
			newest.more = true
			break
		}
		if err := newest.read(ctx, c, query, "rollout", r.ID); err != nil {
			return list, err
		}
	}
	list.More = newest.more
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
func (m *merged) read(ctx context.Context, c *run.Call, query url.Values, kind, id string) error {
	query.Set("resourceType", kind)
	query.Set("resourceId", id)
	page, err := c.List(ctx, "/api/audit-events", query, m.most)
	if err != nil {
		return err
	}
	list, err := api.Items[audit.Event](page)
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
func describe(e audit.Event) string {
	text := e.EventName
	if given, _ := fields(e.After)["given"].([]any); len(given) > 0 { // the last of a rollout's warnings
		last, _ := given[len(given)-1].(map[string]any)
		return fmt.Sprintf("%s at %v %%", text, last["stage"])
	}
	if pin := fields(fields(e.After)["pin"]); pin["version"] != nil && pin["at"] != fields(fields(e.Before)["pin"])["at"] {
		return fmt.Sprintf("%s pinned to %v", text, pin["version"])
	} else if pin == nil && fields(e.Before)["pin"] != nil && e.After != nil {
		return text + " unpinned"
	}
	for _, field := range []string{"staged_percent", "currentVersion", "channel", "limit"} {
		was, is := fields(e.Before)[field], fields(e.After)[field]
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
func of(e audit.Event) string {
	state := fields(cmp.Or(e.After, e.Before))
	if e.Resource.Type != "rollout" && e.Resource.Type != "rollout-warning" {
		return e.Resource.ID
	}
	return strings.TrimSpace(fmt.Sprintf("%v/%v %v", state["edgeType"], state["channel"], state["targetVersion"]))
}
