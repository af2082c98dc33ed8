package guard

import (
	"sort"
	"sync"

	"wavegate/shared/fleet/exact"
)

// From a share of silent boxes of coarse on, the test of silence asks for a difference that is larger by
// coarseness.
const (
	coarse     = 0.20
	coarseness = 2.5
)

// The chances that the bounds of the control leave out. A stage is looked at each minute until it is clear, so
// the bound for clearing is wrong less often than Beta.
const (
	upperTail = 0.025
	lowerTail = Beta / 20
)

// compared is how many stages have boxes to compare with: all but the last.
const compared = 3

// Level is what the chance of the difference between the two groups must not exceed at a look, so that the
// chances of all looks of a rollout come to Alpha at most: the levels of a stage's looks are
// Alpha/3 · 1/(1·2), 1/(2·3), 1/(3·4) and so on.
func Level(look int) float64 {
	n := float64(look)
	return Alpha / compared / (n * (n + 1))
}

// A Comparison judges groups of boxes that have the release beside a control.
type Comparison struct {
	control Group
	// many and few test the share of silent boxes against the most and the least that the control allows
	// for. They are made where they are needed.
	many, few func() Wald
}

// Compare prepares a comparison. Without a control, the share that the policy accepts stands in for it.
func (b Bounds) Compare(control Group) Comparison {
	difference := b.Intolerable - b.Acceptable
	return Comparison{
		control: control,
		many: sync.OnceValue(func() Wald {
			most := max(b.Acceptable, exact.Upper(control.Silent, control.Boxes, upperTail))
			if most >= coarse {
				return apart(most, coarseness*difference)
			}
			return apart(most, difference)
		}),
		few: sync.OnceValue(func() Wald {
			return apart(max(b.Acceptable, exact.Lower(control.Silent, control.Boxes, lowerTail)), difference)
		}),
	}
}

// apart is the test of a share and one that is so much larger, both below 1.
func apart(share, difference float64) Wald {
	const nearlyAll = 0.999
	return NewWald(min(share, nearlyAll-0.001), min(share+difference, nearlyAll))
}

// Halts tells whether the treated are silent because of the release: they are too many, and chance alone makes
// such a difference no more often than the level says. Without a control it never does.
func (c Comparison) Halts(treated Group, level float64) bool {
	return c.control.Boxes > 0 && c.many().Halts(treated.Silent, treated.Boxes) &&
		exact.Fisher(treated.Silent, treated.Boxes, c.control.Silent, c.control.Boxes) <= level
}

// Clears tells whether no more of the treated are silent than the release may make so.
func (c Comparison) Clears(treated Group) bool { return c.few().Clears(treated.Silent, treated.Boxes) }

// moreHalt is how many more silent ones among the treated halt; none if not even all would.
func (c Comparison) moreHalt(treated Group, level float64) int {
	rest := treated.Boxes - treated.Silent
	return orNone(sort.Search(rest+1, func(more int) bool {
		return c.Halts(Group{treated.Boxes, treated.Silent + more}, level)
	}), rest)
}

// fewerClear is how many fewer clear the stage; none if not even 0 silent ones would.
func (c Comparison) fewerClear(treated Group) int {
	return orNone(sort.Search(treated.Silent+1, func(fewer int) bool {
		return c.Clears(Group{treated.Boxes, treated.Silent - fewer})
	}), treated.Silent)
}

// none stands for a number of boxes that does not exist.
const none = -1

func orNone(n, most int) int {
	if n > most {
		return none
	}
	return n
}
