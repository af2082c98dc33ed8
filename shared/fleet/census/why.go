package census

import (
	"context"
	"fmt"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// fellBack says that a box with a DDI client did not stay on the version that it is told.
func fellBack(row report.Row) string {
	o := row.Offer
	switch {
	case !row.DDI || o == nil || o.Version != row.Told:
		return ""
	case o.State == report.Reverted:
		return fmt.Sprintf(" It fell back from %s to %s, and its client is not told %s again.", o.Version, input.Shown(o.From), o.Version)
	case o.State == report.Failed && o.Code == report.CodeBoot && row.Running != o.Version:
		return fmt.Sprintf(" It wrote %s to disk and did not boot it.", o.Version)
	}
	return ""
}

// Why explains why a box is told a version, and holds what is known about the box.
type Why struct {
	EdgeID   string        `json:"edgeId"`
	EdgeType string        `json:"edgeType"`
	Channel  string        `json:"channel"`
	Version  string        `json:"version,omitempty"` // told to the box; empty: none
	Source   decide.Source `json:"source,omitempty"`  // empty if it is told nothing, or nothing new
	Towards  string        `json:"towards,omitempty"` // the version that it is told after this one, a stone
	Reason   decide.Reason `json:"reason"`
	Sentence string        `json:"sentence"`
	// Pin is the box's pin while it holds.
	Pin *report.Pin `json:"pin,omitempty"`
	// Rollout is the present or last one of the channel.
	Rollout *WhyRollout `json:"rollout,omitempty"`
	// Running is what the box last said it runs, or only somebody (Assumed), Label its words for that if it has other ones, and Report how its last offer went.
	Running string      `json:"running,omitempty"`
	Assumed bool        `json:"assumed,omitempty"`
	Label   string      `json:"label,omitempty"`
	Report  *LastReport `json:"report,omitempty"`
	// Restless is set if nobody can tell what the box says; see report.Restless.
	Restless *report.Restless `json:"restless,omitempty"`
	Frequent *report.Frequent `json:"frequent,omitempty"` // see report.Row.Often
	// Attributes are those by which the guard tells kinds of boxes, and lists find boxes.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Heard is what the box said last that was read otherwise.
	Heard  []report.Heard `json:"heard,omitempty"`
	Health *report.Health `json:"health,omitempty"` // what the box says about its work, if a rollout asked for it
	// Written is the version that a DDI client has written to disk, if the box has not said yet that it runs it.
	Written string `json:"written,omitempty"`
	// LastSeenAt is when the box made its last call, to half a second; missing: unknown.
	LastSeenAt *time.Time `json:"lastSeenAt,omitempty"`
	// TokenFirstUsedAt is the first call with the token that was set last; missing: there was none yet.
	TokenFirstUsedAt *time.Time `json:"tokenFirstUsedAt,omitempty"`
	// TokenLastUsedAt is a call with a token of the box's own, less than a day before the last such call.
	TokenLastUsedAt *time.Time `json:"tokenLastUsedAt,omitempty"`
	// OpensAt is until when a waiting box waits, if that is known.
	OpensAt *time.Time `json:"opensAt,omitempty"`
	// TimeZones is the release of the time zone database by which OpensAt is computed; only with it.
	TimeZones string `json:"timeZones,omitempty"`
	// Warnings lists problems that the box's DDI client may have with the release that it is told.
	Warnings []string `json:"warnings,omitempty"`
}

// WhyRollout is a rollout from the point of view of one box.
type WhyRollout struct {
	ID            string         `json:"id"`
	TargetVersion string         `json:"targetVersion"`
	Status        rollout.Status `json:"status"`
	StagedPercent int            `json:"staged_percent"`
	Percentile    int            `json:"percentile"` // the box's position in the order of the target, 0 to 99
	ReachedAt     int            `json:"reachedAt"`  // the first stage that reaches the box
}

// A LastReport is the outcome of a box's last offer so far.
type LastReport struct {
	RolloutID string             `json:"rolloutId,omitempty"`
	Version   string             `json:"version"`
	State     report.State       `json:"state"`
	Since     time.Time          `json:"since"`
	Attempts  int                `json:"attempts,omitempty"`
	Code      report.FailureCode `json:"code,omitempty"`
	Detail    string             `json:"detail,omitempty"`
	Until     *time.Time         `json:"until,omitempty"`
	// Cancelled is set if the box gave up the update because it was asked to. RetryAt is when a DDI client is offered the
	// next attempt.
	Cancelled bool       `json:"cancelled,omitempty"`
	RetryAt   *time.Time `json:"retryAt,omitempty"`
}

// lastReportOf makes a LastReport of an offer.
func lastReportOf(o report.Offer) LastReport {
	return LastReport{
		RolloutID: o.RolloutID, Version: o.Version, State: o.State, Since: o.Since,
		Attempts: o.Attempts, Code: o.Code, Detail: o.Detail, Until: o.Until, Cancelled: o.Cancelled, RetryAt: o.RetryAt,
	}
}

// Why explains why a box is told a version. It assumes that the box runs what it last said. It returns
// NOT_FOUND, also for a box that the caller may not see.
func (s *Store) Why(ctx context.Context, caller auth.Principal, edgeID string) (Why, error) {
	known, err := s.reports.Get(ctx, edgeID)
	if err == nil && (known.Revision == 0 || known.Retired || !caller.MaySee(known.OrganizationID)) {
		err = problem.Missing()
	}
	if err != nil {
		return Why{}, err
	}
	from, box := decide.NewPage(s.db, s.seen), decide.Known(known, s.db.Now())
	row, err := from.Row(ctx, known.EdgeType, known.Channel, "")
	if err != nil {
		return Why{}, err
	}
	carried, failed, seen, err := s.beside(ctx, row, known)
	if err != nil {
		return Why{}, err
	}
	d, err := decide.Decide(ctx, box, from)
	if err != nil {
		return Why{}, err
	}
	why := whyOf(known, failed)
	why.Version, why.Source, why.Towards, why.Reason = d.Version, d.Source(), d.Towards(), d.Reason
	why.Sentence = d.Sentence(box, string(carried.Status)) + why.Sentence
	if known.Label != "" {
		of, err := from.Settings(ctx, known.EdgeType)
		if err != nil {
			return Why{}, err
		}
		why.Sentence += known.LabelSentence(of.VersionForm)
	}
	why.OpensAt, why.TimeZones, why.LastSeenAt = d.Wait.OpensAt(), d.Wait.TimeZones(), seen
	if d.Release.Version != "" {
		why.Warnings = d.Release.Warnings()
	}
	if known.Pin.Holds(box.At) {
		why.Pin = known.Pin
	}
	if c := row.Rollout; c != nil {
		why.Rollout = &WhyRollout{
			ID: c.ID, TargetVersion: c.TargetVersion, Status: carried.Status, StagedPercent: c.StagedPercent,
			Percentile: cohort.Of(known.EdgeType, c.TargetVersion, edgeID).Percentile(), ReachedAt: cohort.FirstStage(known.EdgeType, c.TargetVersion, edgeID),
		}
	}
	return why, nil
}

// beside reads the rollout of a box's channel, the release that a DDI box failed to install, and when the box was last seen.
func (s *Store) beside(ctx context.Context, row release.ChannelRow, known report.Row) (carried rollout.Rollout, failed release.Release, seen *time.Time, err error) {
	var reads []func(context.Context) error
	if row.Rollout != nil {
		reads = append(reads, func(ctx context.Context) (err error) { carried, err = s.rollouts.Get(ctx, row.Rollout.ID); return err })
	}
	if known.Subject != "" {
		reads = append(reads, func(ctx context.Context) error {
			at, err := s.seen(ctx, known.Subject)
			if !at.IsZero() {
				seen = &at
			}
			return err
		})
	}
	if known.DDI && known.Offer != nil && known.Offer.State == report.Failed {
		reads = append(reads, func(ctx context.Context) (err error) {
			failed, err = s.releases.Release(ctx, known.EdgeType, known.Offer.Version)
			return err
		})
	}
	err = dynamo.Together(ctx, reads...)
	return carried, failed, seen, err
}

// whyOf is what a box's row says of it.
func whyOf(e report.Row, failed release.Release) Why {
	why := Why{
		EdgeID: e.EdgeID, EdgeType: e.EdgeType, Channel: e.Channel,
		Sentence: fellBack(e) + download(e, failed) + e.Restless.Sentence() + e.Often().Sentence() + e.HeardSentence() + e.AssumedSentence(),
		Heard:    e.Heard, Running: e.Running, Assumed: e.Assumed, Label: e.Label, Written: e.Written, Restless: e.Restless, Frequent: e.Often(), Health: e.Health,
		TokenFirstUsedAt: e.Tokens.FirstUsedAt, TokenLastUsedAt: e.Tokens.LastUsedAt,
	}
	if all := e.AttributesBefore(""); len(all) > 0 {
		why.Attributes = all
	}
	if e.Offer != nil {
		shown := lastReportOf(*e.Offer)
		why.Report = &shown
	}
	return why
}
