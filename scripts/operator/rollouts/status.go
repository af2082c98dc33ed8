package rollouts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
)

func status(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status [CHANNEL]", Short: "Show all that is going on, or a channel's last rollout",
		Long: "Shows the active rollouts, those with trouble first, the halted ones that nothing has followed, and the channels " +
			"without a rollout. With a channel, it shows the channel's last rollout: its stage, its boxes and the guard's verdict. " +
			"If it has ended, it shows who or what ended it, why, and what you can do next. People of an organization see the boxes " +
			"of their organization, and what rollouts do with them.",
		Example: "wavegate status\nwavegate status gateway-x/stable\nwavegate status --json | jq '.items[] | select(.trouble == \"near\")'",
	}
	most := run.Limited(cmd, 100)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		if len(c.Args) == 0 {
			return statusOfAll(ctx, c, int(*most))
		}
		return statusOf(ctx, c, c.Args[0])
	})
}

// statusOf shows a channel and its last rollout.
func statusOf(ctx context.Context, c *run.Call, name string) error {
	channel, answer, err := channelOf(ctx, c, name)
	if err != nil {
		o, err := ownOf(ctx, c, err)
		if err != nil {
			return err
		}
		return ownStatusOf(ctx, c, o, name)
	}
	frozen, text, err := freezeNow(ctx, c)
	if err != nil {
		return err
	}
	id, err := last(ctx, c, channel)
	if err != nil {
		return err
	}
	v := view{}
	if id != "" {
		if v, err = look(ctx, c, id, ""); err != nil {
			return err
		}
	}
	v.channel, v.freeze = channel, frozen
	if channel.Requires != "" && !c.JSON {
		c.Tell("%s  %s requires %s: boxes below that one are told it first", name, channel.CurrentVersion, channel.Requires)
	}
	if c.JSON {
		return c.ShowDocument(struct {
			Channel  json.RawMessage `json:"channel"`
			Freeze   json.RawMessage `json:"freeze,omitempty"`
			Rollout  json.RawMessage `json:"rollout,omitempty"`
			Progress json.RawMessage `json:"progress,omitempty"`
		}{answer.Body, text, v.document, v.counts})
	}
	switch {
	case id == "":
		c.Say("%s  %s  there has never been a rollout", name, channel.CurrentVersion)
		return nil
	case v.rollout.Status != rollout.Active:
		c.Say("%s  %s  no rollout is active; the last one:\n", name, channel.CurrentVersion)
		if err := v.ends(ctx, c); err != nil {
			return err
		}
	}
	c.ShowLines(v.lines(c.Columns(), time.Now()))
	offer(c, v)
	return nil
}

// offer prints the commands that are useful after a halt.
func offer(c *run.Call, v view) {
	r := v.rollout
	if r.Status != rollout.Halted || r.EndedBy == rollout.ByPublication {
		return
	}
	name := idOf(r)
	state := "failed"
	if p := v.progress; p != nil && p.Silent.Boxes > census.Total(p.Stages).Failed {
		state = "silent"
	}
	c.Say("\nlook at the boxes    wavegate boxes %s --state %s", name, state)
	switch {
	case r.ReturnedAt != nil:
		c.Say("since then           it was returned %s", clock(*r.ReturnedAt))
	case publishedSince(v.channel, r):
		c.Say("since then           %s was published %s", v.channel.CurrentVersion, clock(v.channel.UpdatedAt))
	case v.channel.CurrentVersion == r.PreviousVersion:
		c.Say("return its boxes     wavegate return %s", name)
		if r.CompletedAt == nil {
			c.Say("resume it            wavegate resume %s", name)
		}
	}
	c.Say("who did what         wavegate log %s", name)
}

// A standing is the present state of a channel and of its rollout, if there is one.
type standing struct {
	Trouble  string          `json:"trouble,omitempty"`
	Channel  json.RawMessage `json:"channel,omitempty"`
	Rollout  json.RawMessage `json:"rollout,omitempty"`
	Progress json.RawMessage `json:"progress,omitempty"`

	// The cells of the table.
	name, version, stage, since, installed, guard, health string
}

// A now is the present state of all channels, those with trouble first.
type now struct {
	Freeze json.RawMessage `json:"freeze,omitempty"`
	Active int             `json:"active"` // rollouts
	Items  []standing      `json:"items"`
	More   bool            `json:"more"`
	census.Supports
}

// tellSupport says which versions boxes run whose support ends.
func tellSupport(c *run.Call, s census.Supports) {
	for _, one := range s.Support {
		verb := "ends"
		if !one.SupportedUntil.After(time.Now()) {
			verb = "ended"
		}
		c.Tell("the support of %s of %s %s %s; %s of %s run it", one.Version, one.EdgeType, verb, clock(one.SupportedUntil),
			count(one.Boxes)+terminal.Noun(one.Boxes, " box", " boxes"), one.OrganizationID)
	}
}

// statusOfAll shows the active rollouts, those that were halted recently, and the channels without a rollout.
func statusOfAll(ctx context.Context, c *run.Call, most int) error {
	all, err := allOf(ctx, c)
	if err != nil {
		o, err := ownOf(ctx, c, err)
		if err != nil {
			return err
		}
		return ownStatus(c, o, most)
	}
	left := 0
	if most > 0 && len(all.Items) > most {
		left = len(all.Items) - most
		all.Items = all.Items[:most]
	}
	if c.JSON {
		all.More = all.More || left > 0
		return c.ShowDocument(all)
	}
	if all.Freeze != nil {
		var frozen freeze.Freeze
		if err := json.Unmarshal(all.Freeze, &frozen); err != nil {
			return &api.Unknown{Cause: err}
		}
		c.Tell("frozen until %s: %s", clock(frozen.Until), frozen.Reason)
	}
	tellSupport(c, all.Supports)
	if len(all.Items) == 0 {
		c.Say("there is no channel yet; publish a version first: wavegate publish --help")
		return nil
	}
	if err := standings(c, all.Items); err != nil {
		return err
	}
	if all.More {
		c.Note("wavegate: more than %s rollouts are active; the others were not checked", count(all.Active))
	}
	if left > 0 {
		c.Note("wavegate: %s more; --limit 0 for all", count(left))
	}
	return nil
}

// roomy is the usual width of the table.
const roomy = 110

// standings prints a table on a wide terminal. Otherwise, each channel has lines of its own.
func standings(c *run.Call, list []standing) error {
	if c.Columns() >= roomy {
		rows := []string{"CHANNEL\tVERSION\tSTAGE\tSINCE\tINSTALLED\tGUARD\tHEALTH"}
		for _, s := range list {
			rows = append(rows, terminal.Cells(s.name, s.version, s.stage, s.since, s.installed, s.guard, s.health))
		}
		return c.Table(rows...)
	}
	var lines []terminal.Line
	for _, s := range list {
		lines = append(lines, terminal.Line{Mark: terminal.Strong, Text: s.name + "  " + s.version}, terminal.Line{Text: "  " + s.health})
		if s.stage != "-" {
			lines = append(lines, terminal.Line{Text: "  " + s.details()})
		}
	}
	c.ShowLines(lines)
	return nil
}

// details returns the other cells, in words.
func (s standing) details() string {
	text := "at " + s.stage + " since " + s.since
	if s.installed != "-" {
		text += ", " + s.installed + " installed"
	}
	if s.guard == "act" || s.guard == "advise" {
		return text + ", the guard " + s.guard + "s"
	}
	return strings.TrimSuffix(text+", "+s.guard, ", -")
}

// allOf reads the present state.
func allOf(ctx context.Context, c *run.Call) (n now, err error) {
	list, err := c.List(ctx, "/api/ota/release-channels", nil, 0)
	if err != nil {
		return n, err
	}
	channels, err := api.Items[release.View](list)
	if err != nil {
		return n, err
	}
	c.Saw(channels...)
	documents := map[string]json.RawMessage{}
	for i, one := range channels {
		documents[one.ID()] = list.Items[i]
	}
	if n, err = rollingOut(ctx, c); err != nil {
		return n, err
	}
	slices.SortStableFunc(n.Items, func(a, b standing) int { return worst(a) - worst(b) })
	shown := map[string]bool{}
	for i, one := range n.Items {
		n.Items[i].Channel, shown[one.name] = documents[one.name], true
	}
	for _, one := range channels {
		if name := one.ID(); !shown[name] {
			n.Items = append(n.Items, standing{
				Channel: documents[name], name: name, version: one.CurrentVersion, stage: "-", since: "-", installed: "-", guard: "-", health: "no rollout",
			})
		}
	}
	return n, nil
}

// worst is the place of a standing's trouble: the worst comes first.
func worst(s standing) int { return slices.Index(census.Troubles, census.Trouble(s.Trouble)) }

// rollingOut reads the active rollouts, in the order of the service, and then the halted ones.
func rollingOut(ctx context.Context, c *run.Call) (n now, err error) {
	n.Items = []standing{}
	for {
		page, _, err := api.Get[struct {
			now
			Items  []json.RawMessage `json:"items"`
			Halted []json.RawMessage `json:"halted"`
		}](ctx, c, "/api/ota/overview", run.Query("limit", "100", "skip", strconv.Itoa(len(n.Items))))
		if err != nil {
			return n, err
		}
		n.Freeze, n.Active, n.More, n.Supports = page.Freeze, page.Active, page.More, page.Supports
		for _, text := range page.Items {
			s, err := standingOf(text)
			if err != nil {
				return n, &api.Unknown{Cause: err}
			}
			n.Items = append(n.Items, s)
		}
		if len(page.Items) > 0 && len(n.Items) < page.Active {
			continue
		}
		for _, text := range page.Halted {
			s, err := ofHalted(ctx, c, text)
			if err != nil {
				return n, err
			}
			n.Items = append(n.Items, s)
		}
		return n, nil
	}
}

// standingOf reads a row of the overview.
func standingOf(text []byte) (s standing, err error) {
	var row census.Row
	if err := json.Unmarshal(text, &s); err != nil { // its documents, unchanged
		return s, err
	}
	if err := json.Unmarshal(text, &row); err != nil {
		return s, err
	}
	v := view{rollout: row.Rollout, progress: row.Progress}
	s.installed = "-"
	if v.progress != nil {
		sum := v.total()
		s.installed = count(sum.Installed) + " of " + count(sum.Expected)
	}
	r := v.rollout
	s.name, s.version, s.stage, s.since = idOf(r), r.PreviousVersion+" → "+r.TargetVersion, fmt.Sprintf("%d %%", r.StagedPercent), clock(r.StageSince)
	if s.guard = string(r.Mode()); r.Terms == nil {
		s.guard = "no guard"
	}
	s.health = v.health(row.Trouble, time.Duration(row.Age)*time.Second)
	return s, nil
}

// first is the first thing to do.
func first(do string) string {
	do, _, _ = strings.Cut(do, "; ")
	return do
}

// health describes the state of a rollout in a few words, with a ! if it needs attention.
func (v view) health(trouble census.Trouble, age time.Duration) string {
	g := v.judgement()
	if g != nil && g.Revision != v.rollout.Revision {
		g = nil // the rollout has changed since
	}
	next := cohort.After(v.rollout.StagedPercent)
	switch {
	case trouble == census.Halting:
		return "! the guard would halt it"
	case trouble == census.Bad && g != nil && g.Organization != "":
		return "! bad only for " + g.Organization
	case trouble == census.Bad:
		return "! going bad, and all boxes get it"
	case trouble == census.Held:
		return "! tells no more boxes: " + string(v.rollout.StoppedFor)
	case trouble == census.Failing && g != nil:
		return fmt.Sprintf("! %d failed; unless they recover by %s, it halts", g.Retrying.Boxes, clock(g.Retrying.Until))
	case trouble == census.Needs && g != nil:
		return "! needs you: " + first(g.Needs.Do)
	case trouble == census.Near && g != nil:
		return "! " + distance(g)
	case trouble == census.Stale && v.progress == nil:
		return "! never counted, active for " + terminal.Length(age)
	case trouble == census.Stale:
		return "! not counted for " + terminal.Length(age)
	case trouble == census.Labels:
		return fmt.Sprintf("! %s run it and say so in other words", terminal.Boxes(v.progress.Mislabelled))
	case trouble == census.Stuck:
		return "! too few boxes take it"
	case trouble == census.Seen:
		return "tells no more boxes; seen by " + v.rollout.Seen.By.UserID
	case trouble == census.Waiting && g != nil && g.Reason == guard.ApprovalRequired:
		return fmt.Sprintf("waits for the approval of %d %%", next)
	case trouble == census.Waiting:
		return "waits for people to promote"
	}
	var parts []string
	if given := v.approved(next); given != nil {
		parts = append(parts, fmt.Sprintf("%d %% is approved by %s", next, given.By.UserID))
	}
	switch {
	case g != nil && distance(g) != "":
		parts = append(parts, distance(g))
	case g != nil:
		seconds := func(n int64) string { return terminal.Length(time.Duration(n) * time.Second) }
		parts = append(parts, fmt.Sprintf("soaked %s of %s", seconds(g.Distance.Soaked), seconds(g.Distance.Soak)))
	case v.progress == nil:
		parts = append(parts, "not counted yet")
	case v.unguarded():
		s := v.total()
		parts = append(parts, fmt.Sprintf("%s failed, %s reverted", count(s.Failed), count(s.Reverted)))
	default:
		parts = append(parts, "not judged since the last change")
	}
	return strings.Join(parts, "; ")
}

// distance says how few more bad or silent boxes would halt the rollout; empty if that is not close.
func distance(g *census.Judgement) string {
	d := g.Distance
	silence := d.MoreSilent > 0 && g.Treated.Silent > 0 && (d.MoreBad <= 0 || d.MoreSilent < d.MoreBad)
	number, what := d.MoreBad, "bad"
	if silence || d.MoreBad <= 0 {
		number, what = d.MoreSilent, "silent"
	}
	if number <= 0 {
		return ""
	}
	return count(number) + " more " + what + terminal.Noun(number, " box", " boxes") + " would halt it"
}
