// Package rollout implements staged rollouts: how a version reaches a growing share of a channel's boxes. The rules
// here are pure; store.go stores rollouts in DynamoDB.
package rollout

import (
	"maps"
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// A Status is the status of a rollout.
type Status string

// Statuses.
const (
	Active    Status = "active"
	Halted    Status = "halted"
	Completed Status = "completed"
)

// Statuses lists all of them.
var Statuses = []Status{Active, Halted, Completed}

// statusRule accepts a status in a request.
var statusRule = &input.Text{Pattern: `active|halted|completed`, Says: "active, halted or completed"}

// stageRule accepts the stages that a caller may raise a rollout to.
var stageRule = &input.Integer{OneOf: cohort.Stages}

// everyone is the last stage.
const everyone = 100

// A Rollout brings a version to a growing share of a channel's boxes.
type Rollout struct {
	ID              string    `json:"id"` // UUID, version 7: ids sort by start time
	EdgeType        string    `json:"edgeType"`
	Channel         string    `json:"channel"`
	TargetVersion   string    `json:"targetVersion"`
	ArtifactURL     string    `json:"artifactUrl"` // the target's, at the start
	SHA256          string    `json:"sha256"`      // the target's
	release.Urgency           // the target's
	PreviousVersion string    `json:"previousVersion"`
	StagedPercent   int       `json:"staged_percent"`
	Status          Status    `json:"status"`
	StartedAt       time.Time `json:"startedAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
	// StageSince is when the rollout reached its stage, or was last resumed there.
	StageSince time.Time `json:"stageSince"`
	// ResumedAt is when a person last let the rollout go on, after a halt or after it stopped telling boxes. Boxes that were
	// bad or silent then are no evidence any more.
	ResumedAt *time.Time `json:"resumedAt,omitempty"`
	Stop
	// Urgent is set if plants need not be open for the target, or for the way back of a returned rollout.
	Urgent bool `json:"urgent,omitempty"`
	// ReturnedAt is when the rollout was returned: since then, boxes that run its target are told the channel's version.
	ReturnedAt *time.Time `json:"returnedAt,omitempty"`
	// Without are organizations whose boxes the rollout leaves out. They are no evidence either.
	Without []string `json:"without,omitempty"`
	// Young is set by the guard's promotions only: people who promote decide about all boxes.
	release.Young
	// StageStarts are when the target first reached each stage on the channel, by this rollout or an earlier one.
	StageStarts StageStarts `json:"stageStarts"`
	// StartedBy is who started the rollout, and PromotedBy who promoted it last.
	StartedBy  audit.Person  `json:"startedBy"`
	PromotedBy *audit.Person `json:"promotedBy,omitempty"`
	// Terms is set if the rollout has a policy. Without one, only people change the rollout.
	Terms *Terms `json:"terms,omitempty"`
	// EndedAt is when the rollout was halted or completed; nil while it is active.
	EndedAt *time.Time `json:"endedAt,omitempty"`
	// EndedBy is what ended the rollout; empty if a person halted or completed it.
	EndedBy End `json:"endedBy,omitempty"`
	// CompletedAt is when the rollout was first completed. Such a rollout is never active again.
	CompletedAt *time.Time `json:"completedAt,omitempty"`
	// Adopted reports whether the target became the channel's version.
	Adopted bool `json:"adopted"`
	// Seen is set if somebody has marked the halt, or that it tells no more boxes, as seen. It is gone once that changes.
	Seen     *Mark `json:"seen,omitempty"`
	Revision int64 `json:"revision"` // from 1
	dynamo.Unknown
}

// A Mark says who has seen a trouble, and when.
type Mark struct {
	By audit.Person `json:"by"`
	At time.Time    `json:"at" stored:"identity"`
}

// Marked reports whether somebody has marked the present halt or stop as seen.
func (r Rollout) Marked() bool { return r.Seen != nil }

// A Stop says why a rollout tells no more boxes: the guard suspects something that people must judge.
type Stop struct {
	StoppedFor guard.Reason `json:"stoppedFor,omitempty"` // empty: it tells all boxes that it reaches
	StoppedAt  *time.Time   `json:"stoppedAt,omitempty"`
}

// Stopped reports whether the rollout tells no more boxes.
func (s Stop) Stopped() bool { return s.StoppedFor != "" }

// telling is whom the rollout tells, for the channel's row. Once its target is adopted, the channel tells it.
func (r Rollout) telling() (t release.Telling) {
	if r.Adopted {
		return t
	}
	t = release.Telling{Asks: r.asks(), Stopped: r.Stopped(), Without: r.Without, Haste: r.Haste(), Young: r.Young}
	usual := guard.Default().Guard.DecideWithin.Length()
	if p := r.Terms; p != nil && r.Status == Active && p.Policy.Guard.DecideWithin.Length() > usual {
		t.DecideWithin = int(p.Policy.Guard.DecideWithin.Length() / time.Second)
	}
	return t
}

// asks are the names of the health numbers that boxes are asked for.
func (r Rollout) asks() []string {
	if r.Status != Active || r.Terms == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.Terms.Policy.Health))
}

// Haste is what plants cannot keep waiting.
func (r Rollout) Haste() calendar.Haste {
	return calendar.Haste{Urgent: r.Urgent, Deadline: r.Until(r.StartedAt)}
}

// StageStarts are when a version first reached each stage; nil: never.
type StageStarts struct {
	At1   *time.Time `json:"1,omitempty"`
	At10  *time.Time `json:"10,omitempty"`
	At50  *time.Time `json:"50,omitempty"`
	At100 *time.Time `json:"100,omitempty"`
}

// of returns the field of a stage.
func (s *StageStarts) of(percent int) **time.Time {
	return map[int]**time.Time{1: &s.At1, 10: &s.At10, 50: &s.At50, everyone: &s.At100}[percent]
}

// Reached returns when the target first reached a stage on the channel, and whether it did.
func (r Rollout) Reached(percent int) (at time.Time, ok bool) {
	if start := *r.StageStarts.of(percent); start != nil {
		return *start, true
	}
	return time.Time{}, false
}

// reaches sets the start of the present stage, unless the target reached that stage before.
func (r Rollout) reaches(at time.Time) Rollout {
	if start := r.StageStarts.of(r.StagedPercent); *start == nil {
		*start = &at
	}
	return r
}

// Follows copies the stage starts of an earlier rollout of the same version on the channel. They preserve the evidence
// against the version.
func (r Rollout) Follows(earlier Rollout) Rollout {
	starts := StageStarts{}
	for _, percent := range cohort.Stages {
		for _, of := range []Rollout{r, earlier} {
			if at, ok := of.Reached(percent); ok {
				*starts.of(percent) = &at
			}
		}
	}
	r.StageStarts = starts
	return r
}

// An End says what ended a rollout, other than a person's halt or completion.
type End string

// Ends.
const (
	ByPublication End = "publication" // on the channel; it reaches every box
	ByGuard       End = "guard"
)

// A Plan is a caller's request to start a rollout.
type Plan struct {
	EdgeType      string `json:"edgeType"`
	Channel       string `json:"channel"`
	TargetVersion string `json:"targetVersion"`
	// Policy is how the guard judges the rollout; nil: it is managed manually.
	Policy *guard.Policy `json:"policy,omitempty"`
	// Urgent is set if plants need not be open for it.
	Urgent bool `json:"urgent,omitempty"`
	// NewBoxes is what boxes are told that are registered since the start; see release.Young.
	NewBoxes string `json:"newBoxes,omitempty"`
}

// check returns why a rollout cannot start as planned; nil if it can. An empty row or target does not exist.
func (p Plan) check(row release.ChannelRow, target release.Release) error {
	switch {
	case row.Revision == 0:
		return problem.New(problem.NotFound, "There is no release channel %s.", release.Pair(p.EdgeType, p.Channel))
	case target.Version == "":
		return problem.New(problem.ReleaseNotPublished,
			"Version %s of %s was never published; publish it first, on a channel with few boxes.", p.TargetVersion, p.EdgeType)
	case p.Policy != nil && p.Policy.Hurries() && !p.Urgent && !target.Security():
		return notUrgent()
	case row.Rollout != nil && row.Rollout.Active:
		return problem.New(problem.RolloutActive,
			"Rollout %s is active on %s; halt or complete it first.", row.Rollout.ID, row.ID())
	}
	if n := len(row.Remembered()) + len(row.Returned); n > release.MostEarlier {
		// If the row forgot a target, the boxes that run it would be sent back, or no longer. Only a publication may do that.
		return problem.New(problem.Conflict,
			"Boxes of %s may hold the targets of %d rollouts that ended since the last publication; publish the version that they should have first.",
			row.ID(), n)
	}
	return nil
}

// Start makes the rollout of a published release on a channel. It reaches the first stage immediately.
func Start(id string, on release.Channel, target release.Release, p *guard.Policy, by audit.Person, at time.Time) Rollout {
	r := Rollout{
		ID: id, EdgeType: on.EdgeType, Channel: on.Channel,
		TargetVersion: target.Version, ArtifactURL: target.ArtifactURL, SHA256: target.SHA256, Urgency: target.Urgency,
		PreviousVersion: on.CurrentVersion, StagedPercent: cohort.Stages[0], Status: Active,
		StartedAt: at, UpdatedAt: at, StageSince: at, StartedBy: by, Revision: 1,
	}
	if p != nil {
		r.Terms = &Terms{Policy: p.For(r.Security()), Revision: r.Revision, By: by}
	}
	return r.reaches(at)
}

// Superseded returns the rollout after a publication has ended it, and the event for the audit trail. The event is
// empty if the rollout had ended before. carried is the rollout's revision in the row of its channel.
func (r Rollout) Superseded(carried int64, at time.Time) (next Rollout, event string) {
	if r.Status != Active {
		return r, ""
	}
	next = r
	next.Status, next.EndedAt, next.EndedBy, next.Seen = Halted, &at, ByPublication, nil
	return next.changed(r, at).beyond(carried), r.event(next)
}

// changed sets the revision and the time of a change.
func (r Rollout) changed(was Rollout, at time.Time) Rollout {
	r.Revision, r.UpdatedAt = was.Revision+1, at
	return r
}

// beyond makes the revision greater than the one in the channel's row, so that no revision is used twice. The two
// differ only if one of their tables was restored to an earlier time.
func (r Rollout) beyond(carried int64) Rollout {
	r.Revision = max(r.Revision, carried+1)
	return r
}

// Carried returns the copy of the rollout for the channel's row.
func (r Rollout) Carried() release.Carried {
	return release.Carried{
		ID: r.ID, TargetVersion: r.TargetVersion, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256,
		StagedPercent: r.StagedPercent, Active: r.Status == Active, Revision: r.Revision,
		Guard: string(r.Mode()), ChangedAt: r.UpdatedAt, StartedAt: r.StartedAt, Telling: r.telling(),
	}
}
