package rollouts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/trail/audit"
)

// Short names for what every text here has.
var (
	count = terminal.Count
	clock = terminal.Clock
)

// A view is the state of a rollout at one moment, as far as it was read.
type view struct {
	rollout  rollout.Rollout
	progress *census.Progress // nil: not counted yet
	ending   *ending          // nil: the rollout is active, or its end was not read
	freeze   *freeze.Freeze   // nil: there is none, or it was not read
	channel  release.View     // empty if it was not read
	tag      string           // of the rollout

	// The documents of the rollout and its progress, unchanged.
	document, counts json.RawMessage
}

// look reads a rollout and its progress. With the entity tag of the last look, the service sends the rollout only if
// it has changed; see again. With fresh "true", its boxes are counted again unless they were counted in the last 10
// seconds.
func look(ctx context.Context, c *run.Call, id, tag string, fresh ...string) (v view, err error) {
	a, err := c.Do(ctx, api.Request{Path: api.RolloutPath(id), IfNoneMatch: tag})
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
	progress, a, err := api.Get[census.Progress](ctx, c, api.RolloutPath(id)+"/progress", map[string][]string{"fresh": fresh})
	if run.Missing(err) {
		return v, nil // not counted yet
	}
	v.progress, v.counts = &progress, a.Body
	return v, err
}

// again looks once more, and keeps what has not changed. If the count is of another stage than the present one, it
// asks for a new count.
func (v view) again(ctx context.Context, c *run.Call) (view, error) {
	var fresh []string
	if v.rollout.Status == rollout.Active && (v.progress == nil || v.progress.StagedPercent != v.rollout.StagedPercent) {
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

// An ending is who or what ended a rollout, and why.
type ending struct{ by, why string }

// ends reads how the rollout ended.
func (v *view) ends(ctx context.Context, c *run.Call) error {
	events, err := api.All[audit.Event](ctx, c.Client, "/api/audit-events", run.Query("resourceType", "rollout", "resourceId", v.rollout.ID), 10)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(events, func(e audit.Event) bool { return e.EventName == "RolloutHalted" || e.EventName == "RolloutCompleted" })
	if i < 0 {
		return nil // its events arrive a moment later
	}
	v.ending = &ending{by: events[i].Actor.UserID, why: reasonOf(events[i])}
	switch v.rollout.EndedBy {
	case rollout.ByGuard:
		v.ending.by = "the guard"
	case rollout.ByPublication:
		v.ending.by += "'s publication on the channel"
	}
	return nil
}

// lines describes the rollout, for a screen of a width; with 0, of any width.
func (v view) lines(columns int, now time.Time) []terminal.Line {
	r := v.rollout
	list := []terminal.Line{
		{Mark: terminal.Strong, Text: fmt.Sprintf("%s  %s → %s", idOf(r), r.PreviousVersion, r.TargetVersion)},
		{Text: v.standing(now)},
	}
	add := func(label, text string) {
		if text != "" {
			list = append(list, terminal.Line{Label: label, Text: text})
		}
	}
	if r.Status == rollout.Active {
		add("fast", r.Fast())
	}
	if v.ending != nil {
		add("why", v.ending.why)
	}
	if r.Status != rollout.Active && v.progress != nil {
		s := v.total()
		add("has it", fmt.Sprintf("%s of %s boxes run %s; %s more were told of it", count(s.Installed), count(s.Expected), r.TargetVersion, count(onItsWay(s))))
	}
	if v.freeze != nil {
		add("freeze", fmt.Sprintf("until %s: %s", clock(v.freeze.Until), v.freeze.Reason))
	}
	if r.Status == rollout.Active {
		add("guard", v.guardSentence())
		if g := v.judgement(); g != nil && g.Needs != nil && g.Revision == r.Revision {
			add("to do", g.Needs.Do)
		}
		add("approval", v.approval())
	}
	add("", v.counted(now))
	for _, text := range v.table(columns) {
		add("", text)
	}
	if v.progress == nil {
		return list
	}
	if text := v.reasons(); text != "" {
		list = append(list, terminal.Line{Mark: terminal.Red, Label: "failures", Text: text})
	}
	add("silent", fmt.Sprintf("%s of %s", count(v.progress.Silent.Boxes), count(v.progress.Silent.Of)))
	if w := v.progress.Waiting; w != nil {
		add("waiting", waitingSentence(*w))
	}
	if next := cohort.After(r.StagedPercent); next != 0 && r.Status == rollout.Active {
		add("next", fmt.Sprintf("%d %% (+%s)", next, count(v.more(next))))
	}
	return list
}

// standing says at which stage the rollout is and since when, or who or what ended it.
func (v view) standing(now time.Time) string {
	r := v.rollout
	if r.Status == rollout.Active {
		text := fmt.Sprintf("active at %d %% since %s, started %s by %s", r.StagedPercent, clock(r.StageSince), clock(r.StartedAt), r.StartedBy.UserID)
		if v.unguarded() {
			text += ", no guard"
		}
		if r.Stopped() {
			text += fmt.Sprintf("; it tells no more boxes (%s): resume it, also --without ORGANIZATION, or halt it", r.StoppedFor)
		}
		if len(r.YoungStopped) > 0 {
			text += "; it tells no more new boxes of " + strings.Join(r.YoungStopped, ", ") + ": resume it, or halt it"
		}
		if len(r.Without) > 0 {
			text += "; without " + strings.Join(r.Without, ", ")
		}
		return text
	}
	text := fmt.Sprintf("%s at %d %%", r.Status, r.StagedPercent)
	if v.ending != nil {
		text += " by " + v.ending.by
	} else {
		text += byWhat(r)
	}
	if r.EndedAt != nil {
		text += fmt.Sprintf(", %s (%s ago)", clock(*r.EndedAt), terminal.Length(now.Sub(*r.EndedAt)))
	}
	return text
}

// byWhat says what ended a rollout, as text to append; empty if a person did, or if it is active.
func byWhat(r rollout.Rollout) string {
	switch r.EndedBy {
	case "":
		return ""
	case rollout.ByGuard:
		return " by the guard"
	}
	return " by a " + string(r.EndedBy)
}

// unguarded reports whether an active rollout has no guard.
func (v view) unguarded() bool { return v.rollout.Terms == nil && v.rollout.Status == rollout.Active }

// guardSentence returns what the guard said last, and whether that was before a change.
func (v view) guardSentence() string {
	switch g := v.judgement(); {
	case g != nil && g.Revision != v.rollout.Revision:
		return "before the last change it said: " + g.Sentence
	case g != nil:
		return g.Sentence
	case v.unguarded():
		return "none; only people halt and promote it"
	case v.progress != nil:
		return "it has not judged the rollout yet; it looks once a minute"
	}
	return ""
}

// guardSays returns a sentence with the guard's verdict, or that there is no guard; empty if it has not judged yet.
func (v view) guardSays() string {
	if v.unguarded() {
		return " No guard."
	}
	if g := v.judgement(); g != nil {
		return " Guard: " + g.Sentence
	}
	return ""
}

// judgement returns the guard's last judgement, or nil.
func (v view) judgement() *census.Judgement {
	if v.progress == nil || v.progress.Guard == nil || v.progress.Guard.Sentence == "" {
		return nil
	}
	return v.progress.Guard
}

// approval says whether the next stage needs an approval.
func (v view) approval() string {
	next := cohort.After(v.rollout.StagedPercent)
	if given := v.approved(next); given != nil {
		return fmt.Sprintf("%d %% is approved by %s since %s", next, given.By.UserID, clock(given.At))
	}
	if t := v.rollout.Terms; t != nil && slices.Contains(t.Policy.Approvals.Before, next) {
		return fmt.Sprintf("%d %% needs a second person: wavegate approve %s", next, idOf(v.rollout))
	}
	return ""
}

// approved returns the approval of a stage, or nil.
func (v view) approved(stage int) *rollout.Approval {
	if v.rollout.Terms != nil {
		for _, given := range v.rollout.Terms.Approvals {
			if given.Stage == stage {
				return &given
			}
		}
	}
	return nil
}

// brief is the view on one line, without values that change constantly, for output that cannot be redrawn.
func (v view) brief() string {
	r := v.rollout
	text := fmt.Sprintf("%s %s → %s at %d %%, %s%s", idOf(r), r.PreviousVersion, r.TargetVersion, r.StagedPercent, r.Status, byWhat(r))
	if v.progress != nil {
		s := v.total()
		text += fmt.Sprintf(": %s of %s installed, %s on its way, %s failed, %s reverted, %s not told yet, %s silent",
			count(s.Installed), count(s.Expected), count(onItsWay(s)), count(s.Failed), count(s.Reverted), count(s.NotYetPolled), count(v.progress.Silent.Boxes))
	}
	if says := v.guardSays(); says != "" {
		text += "." + says
	}
	return text
}

// onItsWay counts the boxes that were told of the version and have neither installed it nor failed.
func onItsWay(c guard.Counts) int { return c.Offered + c.Working + c.Deferred }

// told counts the boxes that were told of the version.
func told(c guard.Counts) int { return onItsWay(c) + c.Installed + c.Failed + c.Reverted }

// total adds up the stages that the rollout has reached, of a rollout that was counted.
func (v view) total() guard.Counts { return v.at(0) }

// at counts the boxes of one of the stages that the rollout has reached; with 0, of all of them together.
func (v view) at(stage int) guard.Counts {
	return census.Total(slices.DeleteFunc(slices.Clone(v.progress.Stages), func(s census.StageCounts) bool {
		return s.Percent > v.progress.StagedPercent || stage != 0 && stage != s.Percent
	}))
}

// counted says how old the counts are, and their stage if it is not the present one.
func (v view) counted(now time.Time) string {
	if v.progress == nil {
		return "its boxes have not been counted yet; they are counted once a minute"
	}
	text := fmt.Sprintf("counted %s ago", terminal.Length(now.Sub(v.progress.AsOf)))
	if at := v.progress.StagedPercent; at != v.rollout.StagedPercent {
		text += fmt.Sprintf(", when it was at %d %%", at)
	}
	return text
}

// wide is the number of columns from which all states have their own column.
const wide = 66

// table counts boxes by state, for each stage and for all stages that the rollout has reached.
func (v view) table(columns int) []string {
	if v.progress == nil {
		return nil
	}
	gap, shown := 2, []int{0, 1, 2, 3, 4, 5, 6}
	if columns > 0 && columns < wide {
		gap, shown = 1, []int{0, 1, 3, 5, 6}
	}
	var rows [][]string
	add := func(cells ...string) {
		row := make([]string, len(shown))
		for i, k := range shown {
			if k < len(cells) {
				row[i] = cells[k]
			}
		}
		rows = append(rows, row)
	}
	all := func(name string, s guard.Counts) {
		add(name, count(s.Expected), count(told(s)), count(s.Installed), count(onItsWay(s)), count(s.Failed), count(s.Reverted))
	}
	add("stage", "boxes", "told", "installed", "on its way", "failed", "reverted")
	reached := 0
	for _, s := range v.progress.Stages {
		name := fmt.Sprintf("%d %%", s.Percent)
		if s.Percent > v.progress.StagedPercent {
			add(name, count(s.Expected))
			continue
		}
		reached++
		all(name, s.Counts)
		if next := cohort.After(s.Percent); reached > 1 && (next == 0 || next > v.progress.StagedPercent) {
			all("so far", v.total())
		}
	}
	return terminal.Aligned(rows, gap)
}

// more counts the boxes that a stage adds.
func (v view) more(stage int) (n int) {
	for _, s := range v.progress.Stages {
		if s.Percent > v.rollout.StagedPercent && s.Percent <= stage {
			n += s.Expected
		}
	}
	return n
}

// moreBoxes returns that number as text to append to a question.
func (v view) moreBoxes(stage int) string {
	if v.progress == nil {
		return " (its boxes have not been counted yet)"
	}
	n := v.more(stage)
	return ", " + count(n) + terminal.Noun(n, " more box", " more boxes")
}

// reasons lists why boxes failed, the most frequent reasons first. The guard counts a failure only after there was
// time for another try, so its sentence may name fewer.
func (v view) reasons() string {
	var list []string
	failures := v.progress.Failures
	for _, code := range terminal.ByCount(failures) {
		list = append(list, fmt.Sprintf("%s %s", code, count(failures[code])))
	}
	if n := v.total().Reverted; n > 0 {
		list = append(list, "reverted "+count(n))
	}
	text := strings.Join(list, ", ")
	if g := v.judgement(); g != nil && text != "" {
		if of := v.at(g.Halting.Percent); g.Halting.Bad < of.Failed+of.Reverted {
			text += fmt.Sprintf("; the guard counted %s as bad, because the others could still retry", count(g.Halting.Bad))
		}
	}
	return text
}
