package guard

import (
	"fmt"
	"time"

	"wavegate/shared/fleet/stats"
)

// Young is the guard's last look at the boxes that were registered since the start. They are told the release as the others are,
// and judged apart: who registers boxes could make up evidence with them.
type Young struct {
	At     time.Time `json:"at"`
	Number int       `json:"number"` // of the looks, from 1
	// Told boxes were told the release; Bad ones count against it.
	Told int `json:"told"`
	Bad  int `json:"bad,omitempty"`
	// Treated are told boxes whose last calls are known, and Control such boxes that the release does not reach: young ones, or
	// others if there are hardly any.
	Treated Group `json:"treated"`
	Control Group `json:"control"`
	// The bad and the silent boxes are of so many Organizations. Alone is set if the channel has only one.
	Organizations int  `json:"organizations,omitempty"`
	Alone         bool `json:"alone,omitempty"`
	// Holds is set if a person must judge what happened to them.
	Holds bool `json:"holds,omitempty"`
}

// The levels of the tests of young boxes, and the share of all told boxes that must be harmed where there are several
// organizations, so that made-up boxes of two of them do not stop the others.
const (
	youngBad    = 0.0025
	youngSilent = 0.0025
	youngShare  = 0.03
	fewestYoung = 3
	// FewYoung is how many young boxes without the release are too few to compare with.
	FewYoung = 20
)

func (y *Young) harmed() int { return y.Bad + y.Treated.Silent }

// judged says whether the numbers hold a rollout that told so many boxes.
func (y Young) judged(acceptable float64, told int) Young {
	level := 1 / float64(y.Number*(y.Number+1))
	failing := y.Bad >= fewestYoung && stats.AtLeast(y.Bad, y.Told, acceptable) <= youngBad*level
	silent := y.Treated.Silent >= fewestYoung && !y.explained(youngSilent*level, acceptable)
	many := y.Alone || y.Organizations >= 2 && float64(y.harmed()) >= youngShare*float64(told)
	y.Holds = many && (failing || silent)
	return y
}

// explained reports whether chance explains that so many are silent. With nobody to compare with, most of them must be.
func (y Young) explained(level, acceptable float64) bool {
	if y.Control.Boxes == 0 {
		return !mostOf(y.Treated.Silent, y.Treated.Boxes) || stats.AtLeast(y.Treated.Silent, y.Treated.Boxes, acceptable) > level
	}
	return stats.Fisher(y.Treated.Silent, y.Treated.Boxes, y.Control.Silent, y.Control.Boxes) > level
}

func (y Young) sentence() string {
	return fmt.Sprintf("of the boxes that were registered since the start, %d of %d with the release are bad, and %d of %d silent, and %d of %s without it",
		y.Bad, y.Told, y.Treated.Silent, y.Treated.Boxes, y.Control.Silent, boxes(y.Control.Boxes))
}

// young is the last look at young boxes, or one that is taken now. What held the rollout before holds it still, until a person
// lets it go on.
func (d decision) young() *Young {
	y := d.evidence.Young
	if y == nil {
		return nil
	}
	judged := *y
	if d.evidence.YoungNew {
		told, _ := d.evidence.totals()
		judged = y.judged(d.policy.Guard.Acceptable, told+y.Told)
		judged.Holds = judged.Holds || y.Holds
	}
	judged.Holds = judged.Holds && judged.At.After(d.evidence.Resumed)
	return &judged
}

// holding is the test of young boxes.
func (y *Young) holding() (list findings) {
	if y != nil {
		list.add(y.Holds, YoungHarmed, y.sentence())
	}
	return list
}

// apart says that a clear stage does not rest on young boxes; empty if none was told.
func (y *Young) apart() string {
	if y == nil || y.Told == 0 {
		return ""
	}
	text := fmt.Sprintf("this does not rest on %s registered since the start and told the release", boxes(y.Told))
	if n := y.harmed(); n > 0 {
		text += fmt.Sprintf(", of which %d are bad or silent", n)
	}
	return text
}
