package polling

import (
	"cmp"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/problem"
)

// A Source says why a box is told a version.
type Source string

// Sources.
const (
	// FromPin: somebody pinned the box to the version.
	FromPin Source = "pin"
	// FromHold: the box came by a move, or a pin of it has ended, and it runs a newer release than it would be told.
	FromHold Source = "hold"
	// FromChannel: the version is published on the box's channel.
	FromChannel Source = "channel"
	// FromRollout: the channel's rollout is active and the box is in its cohort.
	FromRollout Source = "rollout"
	// FromInstalled: the box got the version from a rollout of the channel that no longer reaches it, and is not sent
	// back.
	FromInstalled Source = "installed"
	// FromKept: the box's organization was left out of the rollout that gave the channel its version, and keeps the
	// version before.
	FromKept Source = "kept"
	// FromWaits: the box's plant takes no updates now, and the box is told what it has.
	FromWaits Source = "waits"
)

// A Resolution is the version that a box is told to run.
type Resolution struct {
	release.RolloutTarget
	Source Source
	// RolloutID is set for FromRollout, and for FromInstalled while the channel remembers the rollout.
	RolloutID string
	// ReturnedFrom is the rollout that brought the box what it runs, and that was returned.
	ReturnedFrom string
	// HeldAt is since when the box is held; only with FromHold.
	HeldAt *time.Time
	// Towards is the version that the box is told once it has run this one, a stone; empty: this is no stone.
	Towards string
	// Wait is for how long the box waits; only with FromWaits.
	Wait calendar.Wait
}

// Target is the version that the box is told in the end.
func (r Resolution) Target() string { return cmp.Or(r.Towards, r.Version) }

// A Box is what the rule needs to know of a box.
type Box struct {
	edge.Edge
	Installed string        // the version that the box says it runs, or empty
	Told      string        // the version that it was told last, or empty
	Offer     *report.Offer // the last one, or nil
	Stone     *report.Stone // the last one, or nil
	TurnAt    *time.Time    // see report.Row
	At        time.Time
	// Unbooted is set for a DDI box that has yet to boot what it has installed. It still runs Running.
	Unbooted bool
	Running  string
}

// BoxOf makes a Box of its report row. has is what the box says it runs.
func BoxOf(row report.Row, has string, at time.Time) Box {
	return Box{
		Edge: edge.Of(row), Installed: has, Told: row.Told, Offer: row.Offer, Stone: row.Stone, TurnAt: row.TurnAt, At: at,
		Unbooted: row.DDI && row.Written != "" && row.Written == has, Running: row.Running,
	}
}

// Runs is the version that the box runs, as far as it says so.
func (b Box) Runs() string {
	if b.Unbooted {
		return b.Running
	}
	return b.Installed
}

// Releases finds the release of a version of the box's edge type; its Version is empty if it was never published. The
// rule asks it only for boxes that are pinned or held, and where there are stones.
type Releases func(version string) (release.Release, error)

// Resolve decides what a box is told. row is the row of the box's channel. It returns false if nothing is published
// there, and errors of the releases.
//
// In order:
//
//  1. A box that is pinned is told the pin's version, until the pin ends.
//  2. A box that was moved, or whose pin has ended, since the last publication on its channel keeps what it runs while
//     the rules below would tell it a release of a lower order.
//  3. An active rollout gives its target to the boxes of its cohort, except those of organizations that it leaves out.
//     While it tells no more boxes, only those that have its offer are told.
//  4. A box that runs the target of the present or last rollout, or of an earlier one since the last
//     publication, is told that same version: no start, stage, halt or completion ever sends a box
//     back, unless somebody returns the rollout. Where the channel has that version too, the box simply
//     follows the channel.
//  5. A box of an organization that was left out of an adopted rollout keeps what it had by 4, or else the version before.
//  6. Any other box is told the channel's version. So is a box with the target of a rollout that was returned, and
//     every box after a publication, which ends the rollout and forgets all targets, until the next rollout starts.
//
// Whichever of them tells a box a version, a box below what that release requires is told the stone first. It keeps a
// stone of the targets of 4 like the target, unless the channel's version is newer. A held box keeps what it runs.
//
// At last, the box's plant may make it wait; see Waits.
//
// A box that does not say what it runs cannot be kept on it: after a halt it is told the channel's version. Only the
// box knows whether it got the target in time.
func Resolve(b Box, row release.ChannelRow, find Releases) (r Resolution, published bool, err error) {
	if b.Pin.Holds(b.At) {
		is, err := find(b.Pin.Version)
		if err != nil {
			return Resolution{}, false, err
		}
		if is.Version != "" { // without the release, after a restore, the box follows its channel
			r, err = b.step(Resolution{RolloutTarget: is.Target(), Source: FromPin}, is.Way, find)
			return r, true, err
		}
	}
	r, published = b.follow(row)
	if published && r.Source != FromRollout && r.Source != FromInstalled && row.IsStone(b.Installed) {
		if r, err = b.keepStone(r, row, find); err != nil {
			return r, true, err
		}
	}
	if hold := report.Holding(b.Pin, b.Hold, b.At); published && hold != nil && hold.Since.After(row.PublishedAt) {
		if r, err = b.kept(r, hold, find); err != nil {
			return r, true, err
		}
	}
	if r.Source != FromHold {
		r, err = b.step(r, row.Way(r.Version), find)
	}
	return r, published, err
}

// step is what a box is told on its way to a version: the stone that it has to run next, or that version. A box that
// does not say what it runs stays on the stone, or on what it was told if that is newer.
func (b Box) step(r Resolution, way release.Way, find Releases) (Resolution, error) {
	runs := b.Runs()
	if len(way) == 0 || b.Installed == r.Version {
		return r, nil
	}
	order := way.Order(runs)
	if order == 0 && runs != "" {
		is, err := find(runs)
		if err != nil {
			return r, err
		}
		if is.Version != "" {
			order = is.Rank()
		}
	}
	stone, below := way.Next(order)
	if !below {
		return r, nil
	}
	is, err := find(stone.Version)
	if err == nil && is.Version == "" {
		err = problem.New(problem.Unavailable, "Release %s, which %s requires, is missing. Publish it again.", stone.Version, r.Version)
	}
	if err == nil && runs == "" && b.Told != "" {
		var told, target release.Release
		if told, err = find(b.Told); err == nil && told.Version != "" && told.Rank() > stone.Order {
			if target, err = find(r.Version); err == nil && told.Rank() >= target.Rank() {
				return r, nil
			}
			is = told
		}
	}
	r.RolloutTarget, r.Towards = is.Target(), r.Version
	return r, err
}

// keepStone is what a box is told that runs a stone of a remembered target: the stone, unless its channel has a release
// of at least that order.
func (b Box) keepStone(r Resolution, row release.ChannelRow, find Releases) (Resolution, error) {
	targets := row.Remembered()
	if r.Source == FromKept { // the target was adopted without the box's organization
		targets = append(targets, release.RolloutTarget{Version: row.CurrentVersion})
	}
	for _, t := range targets {
		order := row.Way(t.Version).Order(b.Installed)
		if order == 0 {
			continue
		}
		if next, err := find(r.Version); err != nil || next.Rank() >= order {
			return r, err
		}
		is, err := find(b.Installed)
		if err != nil || is.Version == "" {
			return r, err
		}
		return Resolution{RolloutTarget: is.Target(), Source: FromInstalled, RolloutID: rolloutOf(row, t.Version)}, nil
	}
	return r, nil
}

// rolloutOf is the rollout of the row if a version is its target.
func rolloutOf(row release.ChannelRow, version string) string {
	if row.Rollout != nil && row.Rollout.TargetVersion == version {
		return row.Rollout.ID
	}
	return ""
}

// kept is what a held box is told: what it runs, or was told if it does not say what it runs, unless that is older than
// what it would be told.
func (b Box) kept(r Resolution, hold *report.Hold, find Releases) (Resolution, error) {
	runs := cmp.Or(b.Installed, b.Told)
	if runs == "" || runs == r.Version {
		return r, nil
	}
	is, err := find(runs)
	if err != nil || is.Version == "" {
		return r, err
	}
	if next, err := find(r.Version); err != nil || next.Rank() >= is.Rank() {
		return r, err
	}
	return Resolution{RolloutTarget: is.Target(), Source: FromHold, HeldAt: &hold.Since}, nil
}

// follow is what the channel tells a box.
func (b Box) follow(row release.ChannelRow) (Resolution, bool) {
	if row.Revision == 0 {
		return Resolution{}, false
	}
	if c := row.Rollout; c != nil && c.Active && cohort.Of(b.EdgeType, c.TargetVersion, b.EdgeID).In(c.StagedPercent) &&
		row.Tells(b.OrganizationID, b.Offer != nil && b.Offer.RolloutID == c.ID) {
		return Resolution{RolloutTarget: c.Target(), Source: FromRollout, RolloutID: c.ID}, true
	}
	if b.Installed != "" {
		for _, t := range row.Remembered() {
			if t.Version != b.Installed {
				continue
			}
			return Resolution{RolloutTarget: t, Source: FromInstalled, RolloutID: rolloutOf(row, t.Version)}, true
		}
	}
	from := row.ReturnedBy(b.Installed)
	if s := b.Stone; from == "" && s != nil && b.Installed != "" && (b.Installed == s.Version || b.Installed == s.Ran) && row.HasReturned(s.RolloutID) {
		from = s.RolloutID
	}
	if kept, is := row.KeptFor(b.OrganizationID, b.Installed); is && b.Installed != row.CurrentVersion {
		return Resolution{RolloutTarget: kept, Source: FromKept, ReturnedFrom: from}, true
	}
	published := release.RolloutTarget{Version: row.CurrentVersion, ArtifactURL: row.ArtifactURL, SHA256: row.SHA256}
	return Resolution{RolloutTarget: published, Source: FromChannel, ReturnedFrom: from}, true
}
