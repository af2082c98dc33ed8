package census

import (
	"context"
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
)

// Warnings records which warnings a rollout has had: each event once per stage.
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

// A Warning is an event at a stage.
type Warning struct {
	Event string    `json:"event"`
	Stage int       `json:"stage"`
	At    time.Time `json:"at"`
}

// WarningOf is the warning that a verdict calls for; empty if there is none. A halt that the guard makes itself has its
// own event.
func WarningOf(v guard.Verdict) (event string, stage int) {
	switch {
	case v.Action == guard.Halt && v.Acts:
		return "", 0
	case v.Pages:
		return WentBad, v.Stage
	case v.Action == guard.Halt || v.Reason == guard.OneOrganization || near(v):
		return NearHalt, v.Stage
	case waitsForApproval(v):
		return ApprovalWaiting, v.Next
	}
	return "", 0
}

// waitsForApproval reports whether the boxes and the soak allow the next stage, and it only lacks the approval.
func waitsForApproval(v guard.Verdict) bool {
	others := []guard.Reason{guard.ApprovalRequired, guard.PeoplePromote, guard.WindowClosed, guard.Frozen}
	return slices.Contains(v.Reasons, guard.ApprovalRequired) &&
		!slices.ContainsFunc(v.Reasons, func(r guard.Reason) bool { return !slices.Contains(others, r) })
}

// with adds a warning. The event is empty if the warning was given before.
func (w Warnings) with(r rollout.Rollout, event string, stage int, at time.Time) (Warnings, string) {
	if slices.ContainsFunc(w.Given, func(g Warning) bool { return g.Event == event && g.Stage == stage }) {
		return w, ""
	}
	return Warnings{
		RolloutID: r.ID, EdgeType: r.EdgeType, Channel: r.Channel, TargetVersion: r.TargetVersion,
		Given: append(slices.Clone(w.Given), Warning{event, stage, at}), UpdatedAt: at, Revision: w.Revision + 1,
	}, event
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

// warn publishes the warning that the last judgement of a rollout calls for, through the audit trail and the event bus.
func (s *Store) warn(ctx context.Context, from audit.Origin, r rollout.Rollout, last *Progress) error {
	if last == nil || last.Guard == nil || last.Guard.Revision != r.Revision {
		return nil
	}
	event, stage := WarningOf(last.Guard.Verdict)
	if event == "" {
		return nil
	}
	_, err := change.Put(ctx, s.db, from.For(audit.Grounds{Cause: MoveCause{*last.Guard, last.AsOf}}), warningsKind,
		dynamo.Key{"subject": r.ID, "part": partWarnings}, input.Preconditions{}, func(was Warnings, at time.Time) (Warnings, string, error) {
			next, event := was.with(r, event, stage, at)
			return next, event, nil
		})
	return err
}
