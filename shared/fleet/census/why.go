package census

import (
	"context"
	"fmt"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Rule is why a box is told a version.
type Rule string

// Rules: one for each way through polling.Resolve, and RuleUndescribed.
const (
	// RulePin: somebody pinned the box to the version.
	RulePin Rule = "pin"
	// RuleHold: the box was moved, or its pin has ended, and it runs a newer release than it would be told.
	RuleHold Rule = "hold"
	// RuleStone: the version that the box would be told requires another one, which it has to run before.
	RuleStone Rule = "stone"
	// RuleRequiresUnknown: the same, and the box does not say what it runs. So it stays on the stone.
	RuleRequiresUnknown Rule = "requires-unknown"
	// RuleNothing: nothing is published on the box's channel.
	RuleNothing Rule = "nothing-published"
	// RuleRollout: the active rollout reaches the box.
	RuleRollout Rule = "rollout"
	// RuleNotReached: the active rollout does not reach the box yet.
	RuleNotReached Rule = "not-reached"
	// RuleKept: the box runs what a rollout brought it, and is not sent back.
	RuleKept Rule = "kept"
	// RuleReturned: the rollout that brought the box what it runs was returned.
	RuleReturned Rule = "returned"
	// RuleLeftOut: the rollout leaves out the box's organization, or the one before did.
	RuleLeftOut Rule = "left-out"
	// RuleStopped: the rollout reaches the box, but tells no more boxes.
	RuleStopped Rule = "telling-stopped"
	// RuleEnded: the channel's last rollout has ended, and the box did not install its target.
	RuleEnded Rule = "rollout-ended"
	// RuleChannel: there is no rollout.
	RuleChannel Rule = "channel"
	// RuleUndescribed: the box has a DDI client, and the release lacks details that such a client needs.
	RuleUndescribed Rule = "release-undescribed"
	// RuleWaits: the box's plant takes no updates now.
	RuleWaits Rule = "waits"
)

// Rules lists all of them.
var Rules = []Rule{RulePin, RuleHold, RuleStone, RuleRequiresUnknown, RuleNothing, RuleRollout, RuleNotReached, RuleKept, RuleReturned, RuleLeftOut, RuleStopped, RuleEnded, RuleChannel, RuleUndescribed, RuleWaits}

// A Telling is what a box is told, and why.
type Telling struct {
	Rule    Rule
	Version string // empty for RuleNothing
	Runs    string // what the box says it runs
	Channel string
	// Target, Status and StagedPercent are of the channel's present or last rollout; empty without one.
	Target        string
	Status        rollout.Status
	StagedPercent int
	// Percentile is the box's position in the order of the target, and ReachedAt the first stage that reaches it.
	Percentile int
	ReachedAt  int
	Pin        *report.Pin  // only with RulePin
	Hold       *report.Hold // only with RuleHold
	// Towards is the version that a box is told after a stone, Then why, and Running what it runs; only with RuleStone and
	// RuleRequiresUnknown.
	Towards, Then, Running string
	// Withheld is the version that the box would be told; only with RuleUndescribed.
	Withheld string
	// Plant is where the box waits, Wait for how long, and Reason why there is a pause; only with RuleWaits, as Then.
	Plant, Reason string
	Wait          calendar.Wait
	Blocker       string // the box of the group for which it waits
}

// waits is the answer to a box that waits for its plant: what it has.
func (t Telling) waits(e polling.Box, o polling.Opening) Telling {
	t.Then = t.Sentence()
	t.Rule, t.Version, t.Plant, t.Wait, t.Blocker = RuleWaits, e.Has(), e.FactoryID, o.Wait, o.Blocker
	if o.Updates != nil {
		t.Reason = o.Updates.Reason
	}
	return t
}

// waiting is the sentence of RuleWaits.
func (t Telling) waiting() string {
	why := "its plant " + t.Plant + " takes updates only in its windows"
	switch t.Wait.For {
	case calendar.ForPause:
		why = "its plant " + t.Plant + " pauses: " + strings.TrimSuffix(t.Reason, ".")
	case calendar.ForGroup:
		return fmt.Sprintf("Told %s, which it has: box %s of its group was told something and has not run it long enough, is silent or fell back. Then: %s",
			t.Version, t.Blocker, t.Then)
	}
	opens := "not within two weeks"
	if !t.Wait.Opens.IsZero() {
		opens = t.Wait.Opens.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("Told %s, which it has: %s. It opens next: %s. Then: %s", t.Version, why, opens, t.Then)
}

// withhold is the answer to a box with a DDI client if the release lacks details that such a client needs: the version
// that the box has.
func (t Telling) withhold(has string) Telling {
	t.Rule, t.Withheld, t.Version = RuleUndescribed, t.Version, has
	return t
}

// Tell decides what a box is told, given the row of its channel and the status of the rollout in that row.
func Tell(e polling.Box, row release.ChannelRow, status rollout.Status, find polling.Releases) (Telling, polling.Resolution, error) {
	t := Telling{Rule: RuleChannel, Channel: e.Channel, Runs: e.Installed}
	if c := row.Rollout; c != nil {
		t.Target, t.Status, t.StagedPercent = c.TargetVersion, status, c.StagedPercent
		t.Percentile = cohort.Of(e.EdgeType, c.TargetVersion, e.EdgeID).Percentile()
		t.ReachedAt = cohort.FirstStage(e.EdgeType, c.TargetVersion, e.EdgeID)
	}
	r, ok, err := polling.Resolve(e, row, find)
	t.Version = r.Target()
	switch {
	case r.Source == polling.FromPin:
		t.Rule, t.Pin = RulePin, e.Pin
	case r.Source == polling.FromHold:
		t.Rule, t.Hold = RuleHold, report.Holding(e.Pin, e.Hold, e.At)
	case !ok:
		t.Rule = RuleNothing
	case r.Source == polling.FromRollout:
		t.Rule = RuleRollout
	case r.Source == polling.FromInstalled:
		t.Rule = RuleKept
	case r.ReturnedFrom != "":
		t.Rule = RuleReturned
	case r.Source == polling.FromKept, row.Rollout != nil && row.Rollout.Active && !row.Tells(e.OrganizationID, true):
		t.Rule = RuleLeftOut
	case row.Rollout != nil && row.Rollout.Active && t.ReachedAt <= t.StagedPercent:
		t.Rule = RuleStopped
	case row.Rollout != nil && row.Rollout.Active:
		t.Rule = RuleNotReached
	case row.Rollout != nil && row.Rollout.TargetVersion != row.CurrentVersion:
		t.Rule = RuleEnded
	}
	if r.Towards != "" {
		t.Then, t.Rule, t.Version, t.Towards, t.Running = t.Sentence(), RuleStone, r.Version, r.Towards, e.Runs()
		if t.Running == "" {
			t.Rule = RuleRequiresUnknown
		}
	}
	return t, r, err
}

// Sentence explains to a person why the box is told this version.
func (t Telling) Sentence() string {
	switch t.Rule {
	case RulePin:
		return fmt.Sprintf("Told %s: %s pinned it until %s: %s.", t.Version, t.Pin.By.UserID, t.Pin.Until.UTC().Format(time.RFC3339), strings.TrimSuffix(t.Pin.Reason, "."))
	case RuleHold:
		return fmt.Sprintf("Told %s: it runs that version, %s moved or unpinned it at %s, and %s has an older release for it. A publication there, or allowDowngrade, sends it back.",
			t.Version, t.Hold.By.UserID, t.Hold.Since.UTC().Format(time.RFC3339), t.Channel)
	case RuleStone:
		return fmt.Sprintf("Told %s first: it runs %s, and %s requires that it passes %s. After that: %s", t.Version, t.Running, t.Towards, t.Version, t.Then)
	case RuleRequiresUnknown:
		return fmt.Sprintf("Told %s, and stays on it: %s requires an earlier release, and the box does not say what it runs. After that: %s", t.Version, t.Towards, t.Then)
	case RuleNothing:
		return fmt.Sprintf("Told nothing: nothing is published on %s.", t.Channel)
	case RuleRollout:
		return fmt.Sprintf("Told %s: its percentile is %d and rollout %s on %s is at %d percent.",
			t.Version, t.Percentile, t.Target, t.Channel, t.StagedPercent)
	case RuleNotReached:
		return fmt.Sprintf("Told %s: its percentile is %d and rollout %s on %s is at %d percent; it is reached at %d.",
			t.Version, t.Percentile, t.Target, t.Channel, t.StagedPercent, t.ReachedAt)
	case RuleKept:
		return fmt.Sprintf("Told %s: it runs that version from a rollout on %s, and only a publication or a return sends a box back.",
			t.Version, t.Channel)
	case RuleReturned:
		return fmt.Sprintf("Told %s: it runs %s, and the rollout on %s that brought it that version was returned.", t.Version, t.Runs, t.Channel)
	case RuleLeftOut:
		return fmt.Sprintf("Told %s: rollout %s on %s leaves out the box's organization.", t.Version, t.Target, t.Channel)
	case RuleStopped:
		return fmt.Sprintf("Told %s: rollout %s on %s tells no more boxes until a person goes on with it.", t.Version, t.Target, t.Channel)
	case RuleUndescribed:
		return t.withheld()
	case RuleWaits:
		return t.waiting()
	case RuleEnded:
		return fmt.Sprintf("Told %s: rollout %s on %s is %s at %d percent and reaches no more boxes.",
			t.Version, t.Target, t.Channel, t.Status, t.StagedPercent)
	}
	return fmt.Sprintf("Told %s: it is published on %s and no rollout is active there.", t.Version, t.Channel)
}

// withheld is the sentence of RuleUndescribed.
func (t Telling) withheld() string {
	return fmt.Sprintf("Told nothing new: release %s was published without sizeBytes and sha1, which the box's DDI client needs; publish it again with both.",
		t.Withheld)
}

// fellBack says that a box with a DDI client did not stay on the version that it is told.
func fellBack(row report.Row) string {
	o := row.Offer
	switch {
	case !row.DDI || o == nil || o.Version != row.Told:
		return ""
	case o.State == report.Reverted:
		return fmt.Sprintf(" It fell back from %s to %s, and its client is not told %s again.", o.Version, o.From, o.Version)
	case o.State == report.Failed && o.Code == report.CodeBoot && row.Running != o.Version:
		return fmt.Sprintf(" It wrote %s to disk and did not boot it.", o.Version)
	}
	return ""
}

// Why explains why a box is told a version, and holds what is known about the box.
type Why struct {
	EdgeID   string         `json:"edgeId"`
	EdgeType string         `json:"edgeType"`
	Channel  string         `json:"channel"`
	Version  string         `json:"version,omitempty"` // told to the box; empty: none
	Source   polling.Source `json:"source,omitempty"`  // empty if it is told nothing, or nothing new
	Towards  string         `json:"towards,omitempty"` // the version that it is told after this one, a stone
	Rule     Rule           `json:"rule"`
	Sentence string         `json:"sentence"`
	// Pin is the box's pin while it holds.
	Pin *report.Pin `json:"pin,omitempty"`
	// Rollout is the present or last one of the channel.
	Rollout *WhyRollout `json:"rollout,omitempty"`
	// Running is what the box last said it runs, and Report how its last offer went.
	Running string      `json:"running,omitempty"`
	Report  *LastReport `json:"report,omitempty"`
	// Restless is set if nobody can tell what the box says; see report.Restless.
	Restless *report.Restless `json:"restless,omitempty"`
	// Attributes are those by which the guard tells kinds of boxes, and lists find boxes.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Health is what the box says about its work, if a rollout asked for it.
	Health *report.Health `json:"health,omitempty"`
	// Written is the version that a DDI client has written to disk, if the box has not said yet that it runs it.
	Written string `json:"written,omitempty"`
	// LastSeenAt is when the box made its last call, to half a second; missing: unknown.
	LastSeenAt *time.Time `json:"lastSeenAt,omitempty"`
	// TokenFirstUsedAt is the first call with the token that was set last; missing: there was none yet.
	TokenFirstUsedAt *time.Time `json:"tokenFirstUsedAt,omitempty"`
	// TokenLastUsedAt is a call with a token of the box's own, less than a day before the last such call.
	TokenLastUsedAt *time.Time `json:"tokenLastUsedAt,omitempty"`
	// Waits is for what the box waits, and OpensAt until when if that is known; only with the rule waits.
	Waits   string     `json:"waits,omitempty"`
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

// LastReportOf makes a LastReport of an offer.
func LastReportOf(o report.Offer) LastReport {
	return LastReport{
		RolloutID: o.RolloutID, Version: o.Version, State: o.State, Since: o.Since,
		Attempts: o.Attempts, Code: o.Code, Detail: o.Detail, Until: o.Until, Cancelled: o.Cancelled, RetryAt: o.RetryAt,
	}
}

// Why explains why a box is told a version. It assumes that the box runs what it last said. It returns
// NOT_FOUND, also for a box that the caller may not see.
func (s *Store) Why(ctx context.Context, caller auth.Principal, edgeID string) (Why, error) {
	e, err := edge.NewStore(s.db).Get(ctx, edgeID)
	if err == nil && !caller.MaySee(e.OrganizationID) {
		err = problem.Missing()
	}
	if err != nil {
		return Why{}, err
	}
	var row release.ChannelRow
	var known report.Row
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			row, err = s.releases.Row(ctx, e.EdgeType, e.Channel)
			return err
		},
		func(ctx context.Context) (err error) { known, err = s.reports.Get(ctx, edgeID); return err })
	if err != nil {
		return Why{}, err
	}
	carried, failed, seen, err := s.beside(ctx, row, known)
	if err != nil {
		return Why{}, err
	}
	box := polling.BoxOf(known, ddi.Has(known), s.db.Now())
	box.Edge = e
	t, r, err := Tell(box, row, carried.Status, func(version string) (release.Release, error) { return s.releases.Release(ctx, e.EdgeType, version) })
	if err != nil {
		return Why{}, err
	}
	var warnings []string
	if known.DDI && t.Rule != RuleNothing && r.Version != ddi.Has(known) {
		told, err := s.releases.Release(ctx, e.EdgeType, r.Version)
		if err != nil {
			return Why{}, err
		}
		if !told.Sufficient() {
			t, r.Source = t.withhold(ddi.Has(known)), ""
		}
		warnings = told.Warnings()
	}
	open, err := s.plants.Open(ctx, box, r, row)
	if err != nil {
		return Why{}, err
	}
	if open.Wait.For != "" && t.Rule != RuleUndescribed {
		t, r.Source, r.Towards = t.waits(box, open), polling.FromWaits, ""
	}
	why := t.of(known, failed)
	why.Waits, why.OpensAt, why.TimeZones = t.Wait.For, t.Wait.OpensAt(), t.Wait.TimeZones()
	why.EdgeID, why.EdgeType, why.Channel, why.LastSeenAt = e.EdgeID, e.EdgeType, e.Channel, seen
	why.Source, why.Towards, why.Warnings = r.Source, r.Towards, warnings
	if e.Pin.Holds(box.At) {
		why.Pin = e.Pin
	}
	if c := row.Rollout; c != nil {
		why.Rollout = &WhyRollout{c.ID, c.TargetVersion, carried.Status, c.StagedPercent, t.Percentile, t.ReachedAt}
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

// of is what a box is told, and what its row says of it.
func (t Telling) of(e report.Row, failed release.Release) Why {
	why := Why{
		Version: t.Version, Rule: t.Rule, Sentence: t.Sentence() + fellBack(e) + download(e, failed) + e.Restless.Sentence(),
		Running: e.Running, Written: e.Written, Restless: e.Restless, Health: e.Health,
		TokenFirstUsedAt: e.Tokens.FirstUsedAt, TokenLastUsedAt: e.Tokens.LastUsedAt,
	}
	if all := e.AttributesBefore(""); len(all) > 0 {
		why.Attributes = all
	}
	if e.Offer != nil {
		shown := LastReportOf(*e.Offer)
		why.Report = &shown
	}
	return why
}
