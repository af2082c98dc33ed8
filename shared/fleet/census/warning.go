package census

import (
	"context"
	"fmt"
	"slices"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// WarningResourceType is the type of a rollout's warnings in the audit trail. The id is the rollout's. They are a
// separate resource: a warning must not change the revision that people promote with.
const WarningResourceType = "rollout-warning"

// Warnings are the events by which people learn that a rollout needs them. The rollout itself does not change.
const (
	NearHalt        = "RolloutNearHalt"        // a few more bad or silent boxes would halt it, or the guard would but is not allowed to
	ApprovalWaiting = "RolloutApprovalWaiting" // it needs an approval, and nothing more from its boxes
	WentBad         = "RolloutWentBad"         // everybody has the release, or is being told it, and it seems to go bad
	NeedsPerson     = "RolloutNeedsPerson"     // it has waited for a person for ten counts
	NeedsNobody     = "RolloutNeedsNobody"     // it no longer does
)

// Warnings records which warnings a rollout has had: each event once per stage, and those about a person's need once per reason, too.
type Warnings struct {
	RolloutID     string    `json:"rolloutId"`
	EdgeType      string    `json:"edgeType"`
	Channel       string    `json:"channel"`
	TargetVersion string    `json:"targetVersion"`
	Given         []Warning `json:"given"`
	UpdatedAt     time.Time `json:"updatedAt"`
	Revision      int64     `json:"revision"`
	dynamo.Unknown
}

// A Warning is an event at a stage. One about a person's need says for which reason.
type Warning struct {
	Event  string       `json:"event"`
	Stage  int          `json:"stage"`
	Reason guard.Reason `json:"reason,omitempty"`
	At     time.Time    `json:"at"`
}

// WarningsOf are the warnings that a verdict calls for, as events at a stage. A halt that the guard makes itself has its own event.
func WarningsOf(v guard.Verdict) (list []Warning) {
	switch {
	case v.Action == guard.Halt && v.Acts:
	case v.Pages:
		list = append(list, Warning{Event: WentBad, Stage: v.Stage})
	case v.Action == guard.Halt || v.Reason == guard.OneOrganization || near(v) || v.Retrying != nil && v.Retrying.Halts:
		list = append(list, Warning{Event: NearHalt, Stage: v.Stage})
	case waitsForApproval(v):
		list = append(list, Warning{Event: ApprovalWaiting, Stage: v.Next})
	}
	if v.Over != nil {
		list = append(list, Warning{Event: NeedsNobody, Stage: v.Over.Stage, Reason: v.Over.Reason})
	}
	if v.Needs.IsTold() {
		list = append(list, Warning{Event: NeedsPerson, Stage: v.Needs.Stage, Reason: v.Needs.Reason})
	}
	return list
}

// waitsForApproval reports whether the boxes and the soak allow the next stage, and it only lacks the approval.
func waitsForApproval(v guard.Verdict) bool {
	others := []guard.Reason{guard.ApprovalRequired, guard.PeoplePromote, guard.WindowClosed, guard.Frozen}
	return slices.Contains(v.Reasons, guard.ApprovalRequired) &&
		!slices.ContainsFunc(v.Reasons, func(r guard.Reason) bool { return !slices.Contains(others, r) })
}

// has reports whether a warning was given, at any time.
func (w Warnings) has(one Warning) bool {
	return slices.ContainsFunc(w.Given, func(g Warning) bool { one.At = g.At; return g == one })
}

// with adds a warning. The event is empty if the warning was given before, or says that a need is over of which nobody was told.
func (w Warnings) with(r rollout.Rollout, one Warning, at time.Time) (Warnings, string) {
	begun := one
	begun.Event = NeedsPerson
	if w.has(one) || one.Event == NeedsNobody && !w.has(begun) {
		return w, ""
	}
	one.At = at
	return Warnings{
		RolloutID: r.ID, EdgeType: r.EdgeType, Channel: r.Channel, TargetVersion: r.TargetVersion,
		Given: append(slices.Clone(w.Given), one), UpdatedAt: at, Revision: w.Revision + 1,
	}, one.Event
}

// warningsItem is stored beside the counts of the rollout.
type warningsItem struct {
	Subject string `json:"subject"`
	Part    string `json:"part"`
	Warnings
}

const partWarnings = "warnings"

var warningsKind = change.Kind[Warnings]{
	Type: WarningResourceType, Table: dynamo.Progress, Key: "subject",
	State: func(w Warnings) change.Stamp {
		return change.Stamp{ID: w.RolloutID, Revision: w.Revision, ChangedAt: w.UpdatedAt}
	},
	Item: func(w Warnings) any { return warningsItem{w.RolloutID, partWarnings, w} },
}

// warn publishes the warnings that the last judgement of a rollout calls for, through the audit trail and the event bus.
func (s *Store) warn(ctx context.Context, from audit.Origin, r rollout.Rollout, last *Progress) error {
	if last == nil || last.Guard == nil || last.Guard.Revision != r.Revision {
		return nil
	}
	for _, one := range WarningsOf(last.Guard.Verdict) {
		cause := MoveCause{Judgement: *last.Guard, AsOf: last.AsOf}
		switch one.Event {
		case NeedsPerson:
			cause.Do = last.Guard.Needs.Do
		case NeedsNobody:
			cause.Do = fmt.Sprintf("nothing more because of %s at %d percent", last.Guard.Over.Reason, one.Stage)
		}
		_, err := change.Put(ctx, s.db, from.For(audit.Grounds{Cause: cause}), warningsKind,
			dynamo.Key{"subject": r.ID, "part": partWarnings}, input.Preconditions{}, func(was Warnings, at time.Time) (Warnings, string, error) {
				next, event := was.with(r, one, at)
				return next, event, nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}
