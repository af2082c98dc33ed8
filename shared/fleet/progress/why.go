package progress

import "fmt"

// A Rule is why a box is told what it is told.
type Rule string

// Rules, one for each way through edge.Resolve.
const (
	// RuleNothing: nothing is published on the box's channel.
	RuleNothing Rule = "nothing-published"
	// RuleRollout: the active rollout reaches the box.
	RuleRollout Rule = "rollout"
	// RuleNotReached: the active rollout does not reach the box yet.
	RuleNotReached Rule = "not-reached"
	// RuleKept: the box runs what a rollout brought it and is not sent back.
	RuleKept Rule = "kept"
	// RuleEnded: the channel's last rollout has ended, and the box did not take its target.
	RuleEnded Rule = "rollout-ended"
	// RuleChannel: there is no rollout.
	RuleChannel Rule = "channel"
)

// Rules lists all of them.
var Rules = []Rule{RuleNothing, RuleRollout, RuleNotReached, RuleKept, RuleEnded, RuleChannel}

// A Telling is what a box is told and what that rests on.
type Telling struct {
	Rule    Rule
	Version string // empty for RuleNothing
	Channel string
	// Target, Status and StagedPercent are of the channel's present or last rollout; empty without one.
	Target        string
	Status        string
	StagedPercent int
	// Percentile is the box's place in the order of the target, and ReachedAt the first stage that
	// reaches it.
	Percentile int
	ReachedAt  int
}

// Sentence says for a person why the box is told what it is told.
func (t Telling) Sentence() string {
	switch t.Rule {
	case RuleNothing:
		return fmt.Sprintf("Told nothing: nothing is published on %s.", t.Channel)
	case RuleRollout:
		return fmt.Sprintf("Told %s: its percentile is %d and rollout %s on %s is at %d percent.",
			t.Version, t.Percentile, t.Target, t.Channel, t.StagedPercent)
	case RuleNotReached:
		return fmt.Sprintf("Told %s: its percentile is %d and rollout %s on %s is at %d percent; it is reached at %d.",
			t.Version, t.Percentile, t.Target, t.Channel, t.StagedPercent, t.ReachedAt)
	case RuleKept:
		return fmt.Sprintf("Told %s: it runs that version from a rollout on %s, and only a publication sends a box back.",
			t.Version, t.Channel)
	case RuleEnded:
		return fmt.Sprintf("Told %s: rollout %s on %s is %s at %d percent and reaches no more boxes.",
			t.Version, t.Target, t.Channel, t.Status, t.StagedPercent)
	}
	return fmt.Sprintf("Told %s: it is published on %s and no rollout is active there.", t.Version, t.Channel)
}
