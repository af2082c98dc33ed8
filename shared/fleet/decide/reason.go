package decide

import "wavegate/shared/platform/calendar"

// A Reason says why a box is told a version.
type Reason string

// Reasons.
const (
	// Pin: somebody pinned the box to the version.
	Pin Reason = "pin"
	// Hold: the box was moved, or its pin has ended, and it runs a newer release than it would be told.
	Hold Reason = "hold"
	// Stone: the version that the box would be told requires this one, which it has to run before.
	Stone Reason = "stone"
	// RequiresUnknown: the same, and the box does not say what it runs. So it stays on the stone.
	RequiresUnknown Reason = "requires-unknown"
	// StoneMissing: the release of the stone is missing, as after a restore. The box cannot be told anything.
	StoneMissing Reason = "stone-missing"
	// NothingPublished: nothing is published on the box's channel.
	NothingPublished Reason = "nothing-published"
	// Rollout: the channel's rollout is active and the box is in its cohort.
	Rollout Reason = "rollout"
	// NotReached: the active rollout does not reach the box yet.
	NotReached Reason = "not-reached"
	// Installed: the box got the version from a rollout of the channel that no longer reaches it, and is not sent back.
	Installed Reason = "installed"
	// Returned: the rollout that brought the box what it runs was returned.
	Returned Reason = "returned"
	// LeftOut: the active rollout leaves out the box's organization.
	LeftOut Reason = "left-out"
	// Kept: the box's organization was left out of the rollout that gave the channel its version, and keeps the version before.
	Kept Reason = "kept"
	// TellingStopped: the rollout reaches the box, but tells no more boxes.
	TellingStopped Reason = "telling-stopped"
	// RolloutEnded: the channel's last rollout has ended, and the box did not install its target.
	RolloutEnded Reason = "rollout-ended"
	// Channel: the version is published on the channel, and there is no rollout.
	Channel Reason = "channel"
	// Undescribed: the box has a DDI client, and the release lacks details that such a client needs.
	Undescribed Reason = "release-undescribed"
	// Imported: the box comes from another server, and nobody knows what it runs.
	Imported Reason = "imported"
	// Window, Pause, OptOut and Group: the box waits for its plant, or for another box of its group.
	Window Reason = calendar.ForWindow
	Pause  Reason = calendar.ForPause
	Group  Reason = calendar.ForGroup
	OptOut Reason = calendar.ForOptOut
)

// Reasons lists all of them.
var Reasons = []Reason{Pin, Hold, Stone, RequiresUnknown, StoneMissing, NothingPublished, Rollout, NotReached, Installed, Returned, LeftOut, Kept,
	TellingStopped, RolloutEnded, Channel, Undescribed, Imported, Window, Pause, Group, OptOut}

// A Source is where the version of a box comes from. It follows from the reason.
type Source string

// Sources. FromWaits is for a box that waits.
const (
	FromPin       Source = "pin"
	FromHold      Source = "hold"
	FromChannel   Source = "channel"
	FromRollout   Source = "rollout"
	FromInstalled Source = "installed"
	FromKept      Source = "kept"
	FromWaits     Source = "waits"
)

// Source is where the version comes from; for a stone, where the version after it does. It is empty for a box that is told
// nothing, or nothing new.
func (d Decision) Source() Source {
	switch d.Reason {
	case Pin, Hold, Rollout, Installed, Kept:
		return Source(d.Reason)
	case Stone, RequiresUnknown:
		return d.Next.Source()
	case Window, Pause, Group, OptOut:
		return FromWaits
	case NothingPublished, Undescribed, Imported, StoneMissing, "":
		return ""
	}
	return FromChannel
}
