package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/shared/fleet/cohort"
)

// A view is the state of a rollout at one moment, as far as it was read.
type view struct {
	rollout  api.Rollout
	progress *api.Progress // nil: not counted yet
	ending   *ending       // nil: the rollout is active, or its end was not read
	freeze   *api.Freeze   // nil: there is none, or it was not read
	channel  api.Channel   // empty if it was not read
	tag      string        // of the rollout

	// The documents of the rollout and its progress, unchanged.
	document, counts json.RawMessage
}

// look reads a rollout and its progress. With the entity tag of the last look, the service sends the rollout only if
// it has changed; see again. With fresh "true", its boxes are counted again unless they were counted in the last 10
// seconds.
func look(ctx context.Context, c *api.Client, id, tag string, fresh ...string) (v view, err error) {
	a, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: api.RolloutPath(id), IfNoneMatch: tag})
	if err != nil {
		return v, err
	}
	v.tag = tag
	if a.Status != http.StatusNotModified {
		v.tag, v.document = a.Header.Get("ETag"), a.Body
		if err := a.Into(&v.rollout); err != nil {
			return v, err
		}
	}
	progress, a, err := api.Get[api.Progress](ctx, c, api.RolloutPath(id)+"/progress", url.Values{"fresh": fresh})
	if isMissing(err) {
		return v, nil // not counted yet
	}
	v.progress, v.counts = &progress, a.Body
	return v, err
}

// again looks once more, and keeps what has not changed. If the count is of another stage than the present one, it
// asks for a new count.
func (v view) again(ctx context.Context, c *api.Client) (view, error) {
	var fresh []string
	if v.rollout.Status == "active" && (v.progress == nil || v.progress.StagedPercent != v.rollout.StagedPercent) {
		fresh = []string{"true"}
	}
	next, err := look(ctx, c, v.rollout.ID, v.tag, fresh...)
	if err != nil {
		return v, err
	}
	if next.tag == v.tag {
		next.rollout, next.document = v.rollout, v.document
	}
	if next.progress == nil {
		next.progress, next.counts = v.progress, v.counts
	}
	next.channel = v.channel
	return next, nil
}

// both returns the rollout and its progress as one document.
func (v view) both() []byte {
	text, err := written(struct {
		Rollout  json.RawMessage `json:"rollout"`
		Progress json.RawMessage `json:"progress,omitempty"`
	}{v.document, v.counts})
	if err != nil {
		return nil // documents that were parsed can be encoded
	}
	return text
}

// An ending is who or what ended a rollout, and why.
type ending struct{ by, why string }

// ends reads how the rollout ended.
func (v *view) ends(ctx context.Context, c *api.Client) error {
	query := url.Values{"resourceType": {"rollout"}, "resourceId": {v.rollout.ID}}
	page, err := c.List(ctx, "/api/audit-events", query, 10)
	if err != nil {
		return err
	}
	events, err := api.Items[api.Event](page)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(events, func(e api.Event) bool { return e.EventName == "RolloutHalted" || e.EventName == "RolloutCompleted" })
	if i < 0 {
		return nil // its events arrive a moment later
	}
	v.ending = &ending{by: events[i].Actor.UserID, why: reasonOf(events[i])}
	switch v.rollout.EndedBy {
	case byGuard:
		v.ending.by = "the guard"
	case "publication":
		v.ending.by += "'s publication on the channel"
	}
	return nil
}

// A mark is the emphasis of a line on terminals with colour.
type mark string

const (
	strong mark = "\x1b[1m"
	red    mark = "\x1b[31m"
	unmark      = "\x1b[0m"
)

// A line of a view is a label and a text, which may be wrapped.
type line struct {
	mark  mark
	label string
	text  string
}

// labelled is the width of labels.
const labelled = 10

// lines describes the rollout, for a screen of a width; with 0, of any width.
func (v view) lines(columns int, now time.Time) []line {
	r := v.rollout
	list := []line{
		{strong, "", fmt.Sprintf("%s  %s → %s", r.ChannelID(), r.PreviousVersion, r.TargetVersion)},
		{"", "", v.standing(now)},
	}
	add := func(m mark, label, text string) {
		if text != "" {
			list = append(list, line{m, label, text})
		}
	}
	if v.ending != nil {
		add("", "why", v.ending.why)
	}
	if r.Status != "active" && v.progress != nil {
		s := v.progress.Total()
		add("", "has it", fmt.Sprintf("%s of %s boxes run %s; %s more were told of it", count(s.Installed), count(s.Expected), r.TargetVersion, count(s.OnItsWay())))
	}
	if v.freeze != nil {
		add("", "freeze", fmt.Sprintf("until %s: %s", clock(v.freeze.Until), v.freeze.Reason))
	}
	if r.Status == "active" {
		add("", "guard", v.guardSentence())
		add("", "approval", v.approval())
	}
	add("", "", v.counted(now))
	for _, text := range v.table(columns) {
		add("", "", text)
	}
	add(red, "failures", v.reasons())
	if v.progress == nil {
		return list
	}
	add("", "silent", fmt.Sprintf("%s of %s", count(v.progress.Silent.Boxes), count(v.progress.Silent.Of)))
	if next := cohort.After(r.StagedPercent); next != 0 && r.Status == "active" {
		add("", "next", fmt.Sprintf("%d %% (+%s)", next, count(v.more(next))))
	}
	return list
}

// standing says at which stage the rollout is and since when, or who or what ended it.
func (v view) standing(now time.Time) string {
	r := v.rollout
	if r.Status == "active" {
		text := fmt.Sprintf("active at %d %% since %s, started %s by %s", r.StagedPercent, clock(r.StageSince), clock(r.StartedAt), r.StartedBy.UserID)
		if v.steeredByPeople() {
			text += ", no guard"
		}
		return text
	}
	text := fmt.Sprintf("%s at %d %%", r.Status, r.StagedPercent)
	switch {
	case v.ending != nil:
		text += " by " + v.ending.by
	case r.EndedBy != "":
		text += byWhat(r)
	}
	if r.EndedAt != nil {
		text += fmt.Sprintf(", %s (%s ago)", clock(*r.EndedAt), length(now.Sub(*r.EndedAt)))
	}
	return text
}

// guardSentence returns what the guard said last, and whether that was before a change.
func (v view) guardSentence() string {
	switch g := v.judgement(); {
	case g != nil && g.Revision != v.rollout.Revision:
		return "before the last change it said: " + g.Sentence
	case g != nil:
		return g.Sentence
	case v.steeredByPeople():
		return "none; only people halt and promote it"
	case v.progress != nil:
		return "it has not judged the rollout yet; it looks once a minute"
	}
	return ""
}

// judgement returns the guard's last judgement, or nil.
func (v view) judgement() *api.Guard {
	if v.progress == nil || v.progress.Guard == nil || v.progress.Guard.Sentence == "" {
		return nil
	}
	return v.progress.Guard
}

// approval says whether the next stage needs an approval.
func (v view) approval() string {
	next := cohort.After(v.rollout.StagedPercent)
	if given := v.rollout.Approved(next); given != nil {
		return fmt.Sprintf("%d %% is approved by %s since %s", next, given.By.UserID, clock(given.At))
	}
	if t := v.rollout.Terms; t != nil && slices.Contains(t.Policy.Approvals.Before, next) {
		return fmt.Sprintf("%d %% needs a second person: wavegate approve %s", next, v.rollout.ChannelID())
	}
	return ""
}

// showView prints the view, within the terminal's columns.
func (a *app) showView(v view) { a.showLines(v.lines(a.columns(), time.Now())) }

// brief is the view on one line, without values that change constantly, for output that cannot be redrawn.
func (v view) brief() string {
	r := v.rollout
	text := fmt.Sprintf("%s %s → %s at %d %%, %s%s", r.ChannelID(), r.PreviousVersion, r.TargetVersion, r.StagedPercent, r.Status, byWhat(r))
	if v.progress != nil {
		s := v.progress.Total()
		text += fmt.Sprintf(": %s of %s installed, %s on its way, %s failed, %s reverted, %s not told yet, %s silent",
			count(s.Installed), count(s.Expected), count(s.OnItsWay()), count(s.Failed), count(s.Reverted), count(s.NotYetPolled), count(v.progress.Silent.Boxes))
	}
	if says := v.guardSays(); says != "" {
		text += "." + says
	}
	return text
}
