package polling

import (
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

// A Source says why a box is told a version.
type Source string

// Sources.
const (
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
}

// Resolve decides what a box is told. installed is the version that the box says it runs, or empty; offer is the box's
// last offer, or nil; row is the row of the box's channel. It returns false if nothing is published there.
//
// In order:
//
//  1. An active rollout gives its target to the boxes of its cohort, except those of organizations that it leaves out.
//     While it tells no more boxes, only those that have its offer are told.
//  2. A box that runs the target of the present or last rollout, or of an earlier one since the last
//     publication, is told that same version: no start, stage, halt or completion ever sends a box
//     back. Where the channel has that version too, the box simply follows the channel.
//  3. A box of an organization that was left out of an adopted rollout keeps the version before.
//  4. Any other box is told the channel's version. So is every box after a publication, which ends the
//     rollout and forgets all targets, until the next rollout starts.
//
// A box that does not say what it runs cannot be kept on it: after a halt it is told the channel's version. Only the
// box knows whether it got the target in time.
func Resolve(e edge.Edge, installed string, offer *report.Offer, row release.ChannelRow) (Resolution, bool) {
	if row.Revision == 0 {
		return Resolution{}, false
	}
	if c := row.Rollout; c != nil && c.Active && cohort.Of(e.EdgeType, c.TargetVersion, e.EdgeID).In(c.StagedPercent) &&
		row.Tells(e.OrganizationID, offer != nil && offer.RolloutID == c.ID) {
		return Resolution{RolloutTarget: c.Target(), Source: FromRollout, RolloutID: c.ID}, true
	}
	if installed != "" {
		for _, t := range row.Remembered() {
			if t.Version != installed {
				continue
			}
			r := Resolution{RolloutTarget: t, Source: FromInstalled}
			if row.Rollout != nil && row.Rollout.TargetVersion == installed {
				r.RolloutID = row.Rollout.ID
			}
			return r, true
		}
	}
	if kept, is := row.KeptFor(e.OrganizationID); is && installed != row.CurrentVersion {
		return Resolution{RolloutTarget: kept, Source: FromKept}, true
	}
	published := release.RolloutTarget{Version: row.CurrentVersion, ArtifactURL: row.ArtifactURL, SHA256: row.SHA256}
	return Resolution{RolloutTarget: published, Source: FromChannel}, true
}
