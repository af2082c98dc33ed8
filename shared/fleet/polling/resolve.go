package polling

import (
	"cmp"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
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
}

// A Box is what the rule needs to know of a box.
type Box struct {
	edge.Edge
	Installed string        // the version that the box says it runs, or empty
	Told      string        // the version that it was told last, or empty
	Offer     *report.Offer // the last one, or nil
	At        time.Time
}

// BoxOf makes a Box of its report row. has is what the box says it runs.
func BoxOf(row report.Row, has string, at time.Time) Box {
	return Box{Edge: edge.Of(row), Installed: has, Told: row.Told, Offer: row.Offer, At: at}
}

// Releases finds the release of a version of the box's edge type; its Version is empty if it was never published. The
// rule asks it only for boxes that are pinned or held.
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
//     back, unless somebody returns the rollout. Where the channel has that version too, the box simply follows the channel.
//  5. A box of an organization that was left out of an adopted rollout keeps the version before.
//  6. Any other box is told the channel's version. So is a box with the target of a rollout that was returned, and
//     every box after a publication, which ends the rollout and forgets all targets, until the next rollout starts.
//
// A box that does not say what it runs cannot be kept on it: after a halt it is told the channel's version. Only the
// box knows whether it got the target in time.
func Resolve(b Box, row release.ChannelRow, find Releases) (r Resolution, published bool, err error) {
	if b.Pin.Holds(b.At) {
		is, err := find(b.Pin.Version)
		if err != nil || is.Version != "" { // without the release, after a restore, the box follows its channel
			return Resolution{RolloutTarget: is.Target(), Source: FromPin}, true, err
		}
	}
	r, published = b.follow(row)
	hold := report.Holding(b.Pin, b.Hold, b.At)
	if !published || hold == nil || !hold.Since.After(row.LastPublished()) {
		return r, published, nil
	}
	r, err = b.kept(r, hold, find)
	return r, true, err
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
			r := Resolution{RolloutTarget: t, Source: FromInstalled}
			if row.Rollout != nil && row.Rollout.TargetVersion == b.Installed {
				r.RolloutID = row.Rollout.ID
			}
			return r, true
		}
	}
	from := row.ReturnedBy(b.Installed)
	if kept, is := row.KeptFor(b.OrganizationID); is && b.Installed != row.CurrentVersion {
		return Resolution{RolloutTarget: kept, Source: FromKept, ReturnedFrom: from}, true
	}
	published := release.RolloutTarget{Version: row.CurrentVersion, ArtifactURL: row.ArtifactURL, SHA256: row.SHA256}
	return Resolution{RolloutTarget: published, Source: FromChannel, ReturnedFrom: from}, true
}
