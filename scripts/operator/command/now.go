package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/cohort"
)

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
}

// statusOfAll shows the active rollouts, those that were halted recently, and the channels without a rollout.
func (a *app) statusOfAll(ctx context.Context, c *api.Client, most int) error {
	all, err := a.now(ctx, c)
	if err != nil {
		return err
	}
	left := 0
	if most > 0 && len(all.Items) > most {
		left = len(all.Items) - most
		all.Items = all.Items[:most]
	}
	if a.json {
		all.More = all.More || left > 0
		return a.showDocument(all)
	}
	var freeze api.Freeze
	if all.Freeze != nil {
		if err := json.Unmarshal(all.Freeze, &freeze); err != nil {
			return &api.Unknown{Cause: err}
		}
		a.say("frozen until %s: %s", clock(freeze.Until), freeze.Reason)
	}
	if len(all.Items) == 0 {
		a.say("there is no channel yet; publish a version first: wavegate publish CHANNEL VERSION --url … --sha256 …")
		return nil
	}
	if err := a.standings(all.Items); err != nil {
		return err
	}
	if all.More {
		a.note("wavegate: more than %s rollouts are active; the others were not checked", count(all.Active))
	}
	if left > 0 {
		a.note("wavegate: %s more; --limit 0 for all", count(left))
	}
	return nil
}

// roomy is the usual width of the table.
const roomy = 110

// standings prints a table. If the terminal is too narrow, each channel has lines of its own.
func (a *app) standings(list []standing) error {
	columns := a.columns()
	if columns == 0 || columns >= roomy {
		rows := []string{cells("CHANNEL", "VERSION", "STAGE", "SINCE", "INSTALLED", "GUARD", "HEALTH")}
		for _, s := range list {
			rows = append(rows, cells(s.name, s.version, s.stage, s.since, s.installed, s.guard, s.health))
		}
		return a.table(rows...)
	}
	var lines []line
	for _, s := range list {
		lines = append(lines, line{strong, "", s.name + "  " + s.version}, line{"", "", "  " + s.health})
		if s.stage != "-" {
			lines = append(lines, line{"", "", "  " + s.details()})
		}
	}
	a.showLines(lines)
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

// now reads the present state.
func (a *app) now(ctx context.Context, c *api.Client) (now, error) {
	list, err := c.List(ctx, "/api/ota/release-channels", nil, 0)
	if err != nil {
		return now{}, err
	}
	channels, err := api.Items[api.Channel](list)
	if err != nil {
		return now{}, err
	}
	a.saw(c, channels...)
	documents, known := map[string]json.RawMessage{}, map[string]api.Channel{}
	for i, one := range channels {
		documents[one.ID()], known[one.ID()] = list.Items[i], one
	}
	n, err := rollingOut(ctx, c)
	if err != nil {
		return n, err
	}
	halted, err := justHalted(ctx, c, known)
	if err != nil {
		return n, err
	}
	n.Items = append(n.Items, halted...)
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

// rollingOut reads the active rollouts, in the order of the service.
func rollingOut(ctx context.Context, c *api.Client) (n now, err error) {
	n.Items = []standing{}
	for {
		page, _, err := api.Get[api.Overview](ctx, c, "/api/ota/overview", url.Values{"limit": {"100"}, "skip": {strconv.Itoa(len(n.Items))}})
		if err != nil {
			return n, err
		}
		n.Freeze, n.Active, n.More = page.Freeze, page.Active, page.More
		for _, one := range page.Items {
			s, err := standingOf(one)
			if err != nil {
				return n, &api.Unknown{Cause: err}
			}
			n.Items = append(n.Items, s)
		}
		if len(page.Items) == 0 || len(n.Items) >= page.Active {
			return n, nil
		}
	}
}

func standingOf(one api.OverviewRow) (standing, error) {
	s := standing{Trouble: one.Trouble, Rollout: one.Rollout, Progress: one.Progress, installed: "-"}
	var v view
	if err := json.Unmarshal(one.Rollout, &v.rollout); err != nil {
		return s, err
	}
	if one.Progress != nil {
		v.progress = &api.Progress{}
		if err := json.Unmarshal(one.Progress, v.progress); err != nil {
			return s, err
		}
		sum := v.progress.Total()
		s.installed = count(sum.Installed) + " of " + count(sum.Expected)
	}
	r := v.rollout
	s.name, s.version, s.stage, s.since = r.ChannelID(), r.PreviousVersion+" → "+r.TargetVersion, fmt.Sprintf("%d %%", r.StagedPercent), clock(r.StageSince)
	if s.guard = r.Guard; s.guard == "none" {
		s.guard = "no guard"
	}
	s.health = v.health(one.Trouble, time.Duration(one.AgeSeconds)*time.Second)
	return s, nil
}

// health describes the state of a rollout in a few words, with a ! if it needs attention.
func (v view) health(trouble string, age time.Duration) string {
	g := v.judgement()
	if g != nil && g.Revision != v.rollout.Revision {
		g = nil // the rollout has changed since
	}
	next := cohort.After(v.rollout.StagedPercent)
	switch {
	case trouble == "halting":
		return "! the guard would halt it"
	case trouble == "bad" && g != nil && g.Organization != "":
		return "! bad only for " + g.Organization
	case trouble == "bad":
		return "! going bad, and all boxes get it"
	case trouble == "near" && g != nil:
		return "! " + distance(g)
	case trouble == "stale" && v.progress == nil:
		return "! never counted, active for " + length(age)
	case trouble == "stale":
		return "! not counted for " + length(age)
	case trouble == "stuck":
		return "! too few boxes take it"
	case trouble == "waiting" && g != nil && g.Reason == "APPROVAL_REQUIRED":
		return fmt.Sprintf("waits for the approval of %d %%", next)
	case trouble == "waiting":
		return "waits for people to promote"
	}
	var parts []string
	if given := v.rollout.Approved(next); given != nil {
		parts = append(parts, fmt.Sprintf("%d %% is approved by %s", next, given.By.UserID))
	}
	switch {
	case g != nil && distance(g) != "":
		parts = append(parts, distance(g))
	case g != nil:
		parts = append(parts, fmt.Sprintf("soaked %s of %s", length(time.Duration(g.Distance.SoakedSeconds)*time.Second), length(time.Duration(g.Distance.SoakSeconds)*time.Second)))
	case v.progress == nil:
		parts = append(parts, "not counted yet")
	case v.steeredByPeople():
		s := v.progress.Total()
		parts = append(parts, fmt.Sprintf("%s failed, %s reverted", count(s.Failed), count(s.Reverted)))
	default:
		parts = append(parts, "not judged since the last change")
	}
	return strings.Join(parts, "; ")
}

// distance says how few more bad or silent boxes would halt the rollout; empty if that is not close.
func distance(g *api.Guard) string {
	d := g.Distance
	silence := d.MoreSilent > 0 && g.Treated.Silent > 0 && (d.MoreBad <= 0 || d.MoreSilent < d.MoreBad)
	number, what := d.MoreBad, "bad"
	if silence || d.MoreBad <= 0 {
		number, what = d.MoreSilent, "silent"
	}
	if number <= 0 {
		return ""
	}
	return count(number) + " more " + what + noun(number, " box", " boxes") + " would halt it"
}

// recently is how long a halt is shown.
const recently = 24 * time.Hour

// justHalted reads the rollouts that were halted in the last 24 hours, on channels that have not changed since.
func justHalted(ctx context.Context, c *api.Client, channels map[string]api.Channel) ([]standing, error) {
	list, err := c.List(ctx, "/api/ota/rollouts", url.Values{"status": {"halted"}}, 100)
	if err != nil {
		return nil, err
	}
	rollouts, err := api.Items[api.Rollout](list)
	if err != nil {
		return nil, err
	}
	var halted []standing
	seen := map[string]bool{}
	for i, r := range rollouts {
		channel := channels[r.ChannelID()]
		if seen[r.ChannelID()] || channel.ActiveRollout != nil || r.EndedAt == nil || channel.UpdatedAt.After(*r.EndedAt) || time.Since(*r.EndedAt) > recently {
			continue
		}
		seen[r.ChannelID()] = true
		v := view{rollout: r}
		if err := v.ends(ctx, c); err != nil {
			return nil, err
		}
		health := "! halted" + byWhat(r)
		if v.ending != nil {
			health = "! halted by " + v.ending.by
			if why, _, _ := strings.Cut(v.ending.why, ";"); why != "" {
				health += ": " + strings.TrimSuffix(why, ".")
			}
		}
		halted = append(halted, standing{
			Rollout: list.Items[i], name: r.ChannelID(), version: r.PreviousVersion + " → " + r.TargetVersion,
			stage: fmt.Sprintf("%d %%", r.StagedPercent), since: clock(*r.EndedAt), installed: "-", guard: "-", health: health,
		})
	}
	return halted, nil
}
