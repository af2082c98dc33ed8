// Package rollout is about staged rollouts: how a version reaches a growing share of a channel's
// boxes. The rules here are pure; store.go keeps rollouts in DynamoDB.
package rollout

import (
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// A Status of a rollout.
type Status string

// Statuses.
const (
	Active    Status = "active"
	Halted    Status = "halted"
	Completed Status = "completed"
)

// Statuses lists all of them.
var Statuses = []Status{Active, Halted, Completed}

// StatusRule is that of a status that is asked for.
var StatusRule = &input.Text{Pattern: `active|halted|completed`, Says: "active, halted or completed"}

// StageRule is what a caller may raise a rollout to.
var StageRule = &input.Integer{OneOf: cohort.Stages}

// everyone is the last stage.
const everyone = 100

// A Rollout brings a version to a growing share of a channel's boxes.
type Rollout struct {
	ID              string    `json:"id"` // UUID, version 7: ids are in the order of the starts
	EdgeType        string    `json:"edgeType"`
	Channel         string    `json:"channel"`
	TargetVersion   string    `json:"targetVersion"`
	ArtifactURL     string    `json:"artifactUrl"` // the target's, at the start
	SHA256          string    `json:"sha256"`      // the target's
	PreviousVersion string    `json:"previousVersion"`
	StagedPercent   int       `json:"staged_percent"`
	Status          Status    `json:"status"`
	StartedAt       time.Time `json:"startedAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
	// StageSince is when the rollout reached its stage, or was last resumed there. It is missing in rollouts
	// that are older than this field.
	StageSince *time.Time `json:"stageSince,omitempty"`
	// StageStarts are when the target first reached each stage on the channel, by this rollout or an earlier one. It is
	// missing in rollouts that are older than this field.
	StageStarts *StageStarts `json:"stageStarts,omitempty"`
	// StartedBy is who started the rollout, and PromotedBy who promoted it last.
	StartedBy  *audit.Person `json:"startedBy,omitempty"`
	PromotedBy *audit.Person `json:"promotedBy,omitempty"`
	// Terms is set if the rollout has a policy. Without one, only people change the rollout.
	Terms *Terms `json:"terms,omitempty"`
	// EndedAt is when the rollout was halted or completed; nil while it is active.
	EndedAt *time.Time `json:"endedAt,omitempty"`
	// EndedBy is what ended the rollout; empty if a person halted or completed it.
	EndedBy End `json:"endedBy,omitempty"`
	// CompletedAt is when the rollout was first completed. Such a rollout is never active again.
	CompletedAt *time.Time `json:"completedAt,omitempty"`
	// Adopted tells whether the target became the channel's version.
	Adopted  bool  `json:"adopted"`
	Revision int64 `json:"revision"` // from 1
}

// StageStarts are when a version first reached each stage; nil: never.
type StageStarts struct {
	At1   *time.Time `json:"1,omitempty"`
	At10  *time.Time `json:"10,omitempty"`
	At50  *time.Time `json:"50,omitempty"`
	At100 *time.Time `json:"100,omitempty"`
}

// of is the place of a stage.
func (s *StageStarts) of(percent int) **time.Time {
	return map[int]**time.Time{1: &s.At1, 10: &s.At10, 50: &s.At50, everyone: &s.At100}[percent]
}

// Reached is when the target first reached a stage on the channel, and whether it did.
func (r Rollout) Reached(percent int) (at time.Time, ok bool) {
	if r.StageStarts != nil {
		if start := *r.StageStarts.of(percent); start != nil {
			return *start, true
		}
	}
	if percent > r.StagedPercent {
		return time.Time{}, false
	}
	if percent == r.StagedPercent && r.StageSince != nil {
		return *r.StageSince, true
	}
	return r.StartedAt, true
}

// reaches is the rollout with the start of its present stage, unless the target reached that stage before.
func (r Rollout) reaches(at time.Time) Rollout {
	var starts StageStarts
	if r.StageStarts != nil {
		starts = *r.StageStarts
	}
	if start := starts.of(r.StagedPercent); *start == nil {
		*start = &at
	}
	r.StageStarts = &starts
	return r
}

// Follows is the rollout with the stage starts of an earlier one of the same version on its channel. What speaks against
// the version is known by them.
func (r Rollout) Follows(earlier Rollout) Rollout {
	starts := StageStarts{}
	for _, percent := range cohort.Stages {
		for _, of := range []Rollout{r, earlier} {
			if at, ok := of.Reached(percent); ok {
				*starts.of(percent) = &at
			}
		}
	}
	r.StageStarts = &starts
	return r
}

// An End is what ended a rollout, other than a person's halt or completion.
type End string

// Ends.
const (
	ByPublication End = "publication" // on the channel; it reaches every box
	ByGuard       End = "guard"
)

// A Plan is a caller's wish to start a rollout.
type Plan struct {
	EdgeType      string `json:"edgeType"`
	Channel       string `json:"channel"`
	TargetVersion string `json:"targetVersion"`
	// Policy is how the rollout is to be judged; nil: people alone steer it.
	Policy *guard.Policy `json:"policy,omitempty"`
}

// check tells why a rollout cannot start as planned; nil if it can. The channel's row and the target may be
// empty: then they do not exist.
func (p Plan) check(row release.ChannelRow, target release.Release) error {
	switch {
	case row.Revision == 0:
		return problem.New(problem.NotFound, "There is no release channel %s.", release.Pair(p.EdgeType, p.Channel))
	case target.Version == "":
		return problem.New(problem.ReleaseNotPublished,
			"Version %s of %s was never published; publish it first, on a channel with few boxes.", p.TargetVersion, p.EdgeType)
	case row.Rollout != nil && row.Rollout.Active:
		return problem.New(problem.RolloutActive,
			"Rollout %s is active on %s; halt or complete it first.", row.Rollout.ID, row.ID())
	}
	if n := len(row.Remembered()); n > release.MostEarlier {
		// If the row forgot a target, the boxes that have it would go back. Only a publication may do that.
		return problem.New(problem.Conflict,
			"Boxes of %s may hold the targets of %d rollouts that ended since the last publication; publish the version that they are to have first.",
			row.ID(), n)
	}
	return nil
}

// Start makes the rollout of a published release on a channel. It reaches the first stage at once.
func Start(id string, on release.Channel, target release.Release, p *guard.Policy, by audit.Person, at time.Time) Rollout {
	r := Rollout{
		ID: id, EdgeType: on.EdgeType, Channel: on.Channel,
		TargetVersion: target.Version, ArtifactURL: target.ArtifactURL, SHA256: target.SHA256,
		PreviousVersion: on.CurrentVersion, StagedPercent: cohort.Stages[0], Status: Active,
		StartedAt: at, UpdatedAt: at, StageSince: &at, StartedBy: &by, Revision: 1,
	}
	if p != nil {
		r.Terms = &Terms{Policy: *p, Revision: r.Revision, By: by}
	}
	return r.reaches(at)
}

// A Move is what a caller asks of a rollout: to raise it, to set its status, or both. At least one of the
// two is given. A raise is not allowed together with Active.
type Move struct {
	StagedPercent *int   // one of cohort.Stages
	Status        Status // or empty
	// Judged is set for a halt by the guard: the revision of the policy that it judged the rollout by.
	Judged int64
}

// advances tells whether a freeze can refuse the move. That is so for a raise and a resumption.
func (m Move) advances() bool {
	return m.Status == Active || m.StagedPercent != nil && m.Status != Halted
}

// A Moment is what a move depends on beside the rollout: who makes it, when and why, and the freeze at that time, or nil.
type Moment struct {
	By     audit.Person
	At     time.Time
	Freeze *freeze.Freeze
	audit.Grounds
}

// After decides what a move makes of the rollout. It returns the next state and the event for the audit trail. The
// event is empty if nothing changes. A move that the status does not allow is INVALID_STATE_TRANSITION. Other moves
// may be FROZEN, APPROVAL_REQUIRED or WINDOW_CLOSED. A refused move changes nothing, not even in part.
//
// A person's halt is never refused. A raise together with a completion is made first, and both are made or neither. A halted
// rollout can become active again at its stage, unless it was ever completed. The store checks whether the channel
// still carries the rollout.
//
// A halt by the guard is PRECONDITION_FAILED if the rollout is not active under the policy that was judged.
func (r Rollout) After(m Move, now Moment) (next Rollout, event string, err error) {
	if m.Judged != 0 && (r.Status != Active || r.Terms == nil || r.Terms.Revision != m.Judged) {
		return r, "", problem.New(problem.PreconditionFailed, "The rollout has ended or has another policy since it was judged.")
	}
	next = r
	if m.StagedPercent != nil && m.Status != Halted {
		if next.StagedPercent, err = r.raised(*m.StagedPercent); err != nil {
			return r, "", err
		}
	}
	if m.Status != "" {
		next.Status = m.Status
	}
	raises := next.StagedPercent != r.StagedPercent
	if !raises && next.Status == r.Status {
		return r, "", nil
	}
	resumes := r.Status != Active && next.Status == Active
	switch {
	case resumes && (r.Status == Completed || r.CompletedAt != nil): // the older ones lack the time
		return r, "", problem.New(problem.InvalidStateTransition, "The rollout was completed; start a new one.")
	case resumes && r.EndedBy == ByPublication:
		return r, "", outlived()
	case raises || resumes:
		if err := r.barred(next, now); err != nil {
			return r, "", err
		}
	}
	next = next.changed(r, now.At)
	if raises {
		next = next.promotedBy(now.By).reaches(now.At)
	}
	if resumes {
		first, _ := r.Reached(r.StagedPercent)
		next = next.reaches(first)
	}
	if raises || resumes {
		next.StageSince = &now.At
	}
	if resumes {
		next = next.advised()
		next.EndedAt, next.EndedBy = nil, ""
	}
	next = next.endedIn(r, now)
	next.Adopted = r.Adopted || r.adopts(next)
	return next, r.event(next), nil
}

// barred is why a freeze, a missing approval or a closed window refuses a raise or a resumption; nil if none does.
func (r Rollout) barred(next Rollout, now Moment) error {
	if err := now.Freeze.Refuse(now.Grounds); err != nil {
		return err
	}
	return r.promotable(next.StagedPercent, now)
}

// endedIn sets when the rollout ended and what ended it, if it was active before.
func (r Rollout) endedIn(was Rollout, now Moment) Rollout {
	if was.Status == Active && r.Status != Active {
		r.EndedAt = &now.At
		if now.By == Guard {
			r.EndedBy = ByGuard
		}
	}
	if r.Status == Completed && was.CompletedAt == nil {
		r.CompletedAt = &now.At
	}
	return r
}

// outlived is why a halted rollout cannot be active again: its channel no longer carries it.
func outlived() error {
	return problem.New(problem.InvalidStateTransition,
		"Since the rollout was halted, a version was published on its channel or another rollout was started; start a new one.")
}

// Superseded is the rollout after a publication has ended it, and the event for the audit trail. The event is empty
// if the rollout had ended before. The row of its channel carried the given revision of it.
func (r Rollout) Superseded(carried int64, at time.Time) (next Rollout, event string) {
	if r.Status != Active {
		return r, ""
	}
	next = r
	next.Status, next.EndedAt, next.EndedBy = Halted, &at, ByPublication
	return next.changed(r, at).beyond(carried), r.event(next)
}

// changed is the rollout with the revision and the time of a change.
func (r Rollout) changed(was Rollout, at time.Time) Rollout {
	r.Revision, r.UpdatedAt = was.Revision+1, at
	return r
}

// beyond makes the revision greater than the one that the channel's row carried. The two differ only if one of
// their tables was restored to an earlier time. So no revision is used twice.
func (r Rollout) beyond(carried int64) Rollout {
	r.Revision = max(r.Revision, carried+1)
	return r
}

// raised is the percentage after a raise, or why it is refused.
func (r Rollout) raised(percent int) (int, error) {
	if percent == r.StagedPercent {
		return percent, nil
	}
	if r.Status != Active {
		return 0, problem.New(problem.InvalidStateTransition,
			"The rollout is %s at %d percent; only an active rollout can be raised.", r.Status, r.StagedPercent)
	}
	following := cohort.After(r.StagedPercent)
	if following == 0 {
		return 0, problem.New(problem.InvalidStateTransition, "The rollout is at 100 percent, the last stage; it cannot be lowered.")
	}
	if percent != following {
		return 0, problem.New(problem.InvalidStateTransition,
			"The rollout is at %d percent; the stage that is next is %d.", r.StagedPercent, following)
	}
	return percent, nil
}

// Carried is the rollout as the channel's row carries it.
func (r Rollout) Carried() release.Carried {
	return release.Carried{
		ID: r.ID, TargetVersion: r.TargetVersion, ArtifactURL: r.ArtifactURL, SHA256: r.SHA256,
		StagedPercent: r.StagedPercent, Active: r.Status == Active, Revision: r.Revision,
		Guard: string(r.Mode()), ChangedAt: r.UpdatedAt,
	}
}

// adopts tells whether the change from r to next makes the target the channel's version: completing
// an active rollout that reached everyone.
func (r Rollout) adopts(next Rollout) bool {
	return r.Status == Active && next.Status == Completed && next.StagedPercent == everyone
}

// event names the change from r to next in the audit trail.
func (r Rollout) event(next Rollout) string {
	switch {
	case next.Status == r.Status:
		return "RolloutPromoted"
	case next.Status == Active:
		return "RolloutResumed"
	case next.Status == Halted:
		return "RolloutHalted"
	}
	return "RolloutCompleted"
}
