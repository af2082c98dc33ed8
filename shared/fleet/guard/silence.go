package guard

import (
	"sort"
	"sync"

	"wavegate/shared/fleet/exact"
)

// If the share of silent boxes is coarse or more, the test of silence asks for a difference that is coarseness times
// as large.
const (
	coarse     = 0.20
	coarseness = 2.5
)

// How often the bounds of the control's share are wrong. A stage is tested each minute until it is clear, so the bound
// for clearing must be wrong less often than Beta.
const (
	upperTail = 0.025
	lowerTail = Beta / 20
)

// compared is how many stages have boxes to compare with: all but the last.
const compared = 3

// Level is the significance level of a look: the greatest chance of the difference between the two groups at which the
// guard halts. The levels of a stage's looks are Alpha/3 times 1/(1·2), 1/(2·3), 1/(3·4) and so on. So those of all looks
// of a rollout sum up to Alpha at most.
func Level(look int) float64 {
	n := float64(look)
	return Alpha / compared / (n * (n + 1))
}

// A Comparison compares groups of boxes that have the release with a control group.
type Comparison struct {
	control Group
	// many and few test the share of silent boxes against the upper and the lower bound of the control's share. They
	// are made when they are first needed.
	many, few func() Wald
}

// Compare prepares a comparison. Without a control, it uses the share that the policy accepts.
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

// Halts tells whether the treated are silent because of the release: too many of them are silent, and the chance of such
// a difference is at most the level. It is false without a control.
func (c Comparison) Halts(treated Group, level float64) bool {
	return c.control.Boxes > 0 && c.many().Halts(treated.Silent, treated.Boxes) &&
		exact.Fisher(treated.Silent, treated.Boxes, c.control.Silent, c.control.Boxes) <= level
}

// Clears tells whether the share of silent boxes among the treated is acceptable.
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
