package decide

import (
	"cmp"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

// Releases finds the release of a version of the box's edge type; its Version is empty if it was never published. The
// rule asks it only for boxes that are pinned or held, and where there are stones.
type Releases func(version string) (release.Release, error)

// Resolve decides what a box is told, apart from its client, plant and group. row is the row of the box's channel. It returns
// errors of the releases.
//
// In order:
//
//  1. A box that is pinned is told the pin's version, until the pin ends.
//  2. A box that was moved, or whose pin has ended, since the last publication on its channel keeps what it runs while
//     the rules below would tell it a release of a lower order. So does a box that was registered during the channel's
//     rollout, and runs a release that its channel never had: its manufacturer has flashed a later one.
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
// A box that does not say what it runs cannot be kept on it: after a halt it is told the channel's version. Only the
// box knows whether it got the target in time.
func Resolve(b Box, row release.ChannelRow, find Releases) (Decision, error) {
	d, err := b.resolve(row, find)
	d.Channel = row
	return d, err
}

func (b Box) resolve(row release.ChannelRow, find Releases) (d Decision, err error) {
	if b.Pin.Holds(b.At) {
		is, err := find(b.Pin.Version)
		if err != nil {
			return d, err
		}
		if is.Version != "" { // without the release, after a restore, the box follows its channel
			return b.step(Decision{RolloutTarget: is.Target(), Reason: Pin}, is.Way, find)
		}
	}
	if d = b.follow(row); d.Reason == NothingPublished {
		return d, nil
	}
	if d.Reason != Rollout && d.Reason != Installed && row.IsStone(b.Has) {
		if d, err = b.keepStone(d, row, find); err != nil {
			return d, err
		}
	}
	if hold := b.holding(row); hold != nil && hold.Since.After(row.PublishedAt) {
		if d, err = b.held(d, hold, find); err != nil || d.Reason == Hold {
			return d, err
		}
	}
	return b.step(d, row.Way(d.Version), find)
}

// step is what a box is told on its way to a version: the stone that it has to run next, or that version. A box that
// does not say what it runs stays on the stone, or on what it was told if that is newer.
func (b Box) step(d Decision, way release.Way, find Releases) (Decision, error) {
	if len(way) == 0 || b.Has == d.Version {
		return d, nil
	}
	order := way.Order(b.Runs)
	if order == 0 && b.Runs != "" {
		is, err := find(b.Runs)
		if err != nil {
			return d, err
		}
		if is.Version != "" {
			order = is.Rank()
		}
	}
	stone, below := way.Next(order)
	if !below {
		return d, nil
	}
	is, err := find(stone.Version)
	switch {
	case err != nil:
		return d, err
	case is.Version == "":
		next := Decision{RolloutTarget: release.RolloutTarget{Version: stone.Version}, Reason: Stone, Next: &d}
		return b.keeps(next, StoneMissing, b.Has), nil
	}
	next := d
	d.Next, d.Reason = &next, Stone
	if b.Runs == "" {
		d.Reason = RequiresUnknown
	}
	if b.Runs == "" && b.Told != "" {
		told, err := find(b.Told)
		if err != nil {
			return d, err
		}
		if told.Version != "" && told.Rank() > stone.Order {
			target, err := find(d.Version)
			if err != nil || told.Rank() >= target.Rank() {
				return next, err
			}
			is = told
		}
	}
	d.RolloutTarget = is.Target()
	return d, nil
}

// keepStone is what a box is told that runs a stone of a remembered target: the stone, unless its channel has a release
// of at least that order.
func (b Box) keepStone(d Decision, row release.ChannelRow, find Releases) (Decision, error) {
	targets := row.Remembered()
	if d.Reason == Kept { // the target was adopted without the box's organization
		targets = append(targets, release.RolloutTarget{Version: row.CurrentVersion})
	}
	for _, t := range targets {
		order := row.Way(t.Version).Order(b.Has)
		if order == 0 {
			continue
		}
		if next, err := find(d.Version); err != nil || next.Rank() >= order {
			return d, err
		}
		is, err := find(b.Has)
		if err != nil || is.Version == "" {
			return d, err
		}
		return Decision{RolloutTarget: is.Target(), Reason: Installed, RolloutID: rolloutOf(row, t.Version)}, nil
	}
	return d, nil
}

// rolloutOf is the rollout of the row if a version is its target.
func rolloutOf(row release.ChannelRow, version string) string {
	if row.Rollout != nil && row.Rollout.TargetVersion == version {
		return row.Rollout.ID
	}
	return ""
}

// holding is why a box is held, or nil. A box that came during the rollout, with what its channel never told anybody, is held since its
// registration, also after the rollout's end.
func (b Box) holding(row release.ChannelRow) *report.Hold {
	hold, c, came := report.Holding(b.Pin, b.Hold, b.At), row.Rollout, b.FirstAt()
	if hold != nil || c == nil || b.Has == "" || row.Knows(b.Has) {
		return hold
	}
	if !came.After(c.StartedAt) || !c.Active && came.After(c.ChangedAt) {
		return nil
	}
	return &report.Hold{Since: came}
}

// held is what a held box is told: what it runs, or was told if it does not say what it runs, unless that is older than
// what it would be told.
func (b Box) held(d Decision, hold *report.Hold, find Releases) (Decision, error) {
	has := cmp.Or(b.Has, b.Told)
	if has == "" || has == d.Version {
		return d, nil
	}
	is, err := find(has)
	if err != nil || is.Version == "" {
		return d, err
	}
	if next, err := find(d.Version); err != nil || next.Rank() >= is.Rank() {
		return d, err
	}
	return Decision{RolloutTarget: is.Target(), Reason: Hold, HeldAt: &hold.Since}, nil
}

// follow is what the channel tells a box.
func (b Box) follow(row release.ChannelRow) Decision {
	if row.Revision == 0 {
		return Decision{Reason: NothingPublished}
	}
	if c := row.Rollout; b.reached(c) && row.Tells(b.OrganizationID, b.offeredBy(c)) {
		return Decision{RolloutTarget: c.Target(), Reason: Rollout, RolloutID: c.ID}
	}
	if b.Has != "" {
		for _, t := range row.Remembered() {
			if t.Version != b.Has {
				continue
			}
			return Decision{RolloutTarget: t, Reason: Installed, RolloutID: rolloutOf(row, t.Version)}
		}
	}
	from := row.ReturnedBy(b.Has)
	if s := b.Stone; from == "" && s != nil && b.Has != "" && (b.Has == s.Version || b.Has == s.Ran) && row.HasReturned(s.RolloutID) {
		from = s.RolloutID
	}
	if kept, is := row.KeptFor(b.OrganizationID, b.Has); is && b.Has != row.CurrentVersion {
		return Decision{RolloutTarget: kept, Reason: Kept, ReturnedFrom: from}
	}
	published := release.RolloutTarget{Version: row.CurrentVersion, ArtifactURL: row.ArtifactURL, SHA256: row.SHA256}
	return Decision{RolloutTarget: published, Reason: b.published(row, from), ReturnedFrom: from}
}

func (b Box) offeredBy(c *release.Carried) bool { return b.Offer != nil && b.Offer.RolloutID == c.ID }

// reached reports whether a rollout is active and has reached the box.
func (b Box) reached(c *release.Carried) bool {
	return c != nil && c.Active && c.Reaches(b.EdgeType, b.EdgeID, b.OrganizationID, b.FirstAt(), b.offeredBy(c))
}

// published is why a box is told the channel's version.
func (b Box) published(row release.ChannelRow, returnedFrom string) Reason {
	c := row.Rollout
	switch {
	case returnedFrom != "":
		return Returned
	case c != nil && c.Active && !row.Tells(b.OrganizationID, true):
		return LeftOut
	case b.reached(c):
		return TellingStopped
	case c != nil && c.Active:
		return NotReached
	case c != nil && c.TargetVersion != row.CurrentVersion:
		return RolloutEnded
	}
	return Channel
}
