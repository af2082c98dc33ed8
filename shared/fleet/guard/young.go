package guard

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"wavegate/shared/fleet/stats"
)

// Young is the guard's last look at the boxes that were registered since the start. They come a stage later than others if the
// guard promotes, and are judged apart: who registers boxes could make up evidence with them.
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
	// By is what those of each organization contribute.
	By map[string]Share `json:"-"`
}

// Newcomers are the boxes that were registered since the start, as the rollout tells them.
type Newcomers struct {
	Untold  int       // that it does not tell yet
	At      time.Time // when they last came a stage further; zero: never
	Steps   int       // so often
	Stopped []string  // organizations of which it tells no more
}

// The levels of the tests of young boxes, and the share of all told boxes that must be harmed where there are several
// organizations, so that made-up boxes of two of them do not stop the others.
const (
	youngBad    = 0.0025
	youngSilent = 0.0025
	youngShare  = 0.03
	fewestYoung = 3
	// youngLast is the level just before the completion, after which everybody is told, for at least lastYoung.
	youngLast, lastYoung = 0.001, 2
	// The completion waits for such boxes if the rollout does not tell more than this share of the channel's; for mostSteps at most.
	youngWaits = 0.05
	mostSteps  = 8
	// FewYoung is how many young boxes without the release are too few to compare with.
	FewYoung = 20
)

func (y *Young) harmed() int { return y.Bad + y.Treated.Silent }

// judged says whether the numbers hold a rollout that told so many boxes.
func (y Young) judged(acceptable float64, told int) Young {
	many := y.Alone || y.Organizations >= 2 && float64(y.harmed()) >= youngShare*float64(told)
	y.Holds = many && y.harms(1/float64(y.Number*(y.Number+1)), acceptable, fewestYoung)
	return y
}

// harms reports whether so many are bad or silent that chance does not explain it, at a part of the levels.
func (y Young) harms(part, acceptable float64, fewest int) bool {
	return y.Bad >= fewest && stats.AtLeast(y.Bad, y.Told, acceptable) <= youngBad*part ||
		y.Treated.Silent >= fewest && !y.explained(youngSilent*part, acceptable)
}

// stops lists the organizations whose boxes are told no more: enough of them are harmed.
func (y Young) stops(acceptable float64) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(y.By)) {
		own := y
		own.Told, own.Bad, own.Treated = y.By[id].Told, y.By[id].Bad, y.By[id].Treated
		if own.harms(1/float64(y.Number*(y.Number+1)), acceptable, fewestYoung) {
			ids = append(ids, id)
		}
	}
	return ids
}

// explained reports whether chance explains that so many are silent. With nobody to compare with, most of them must be.
func (y Young) explained(level, acceptable float64) bool {
	if y.Control.Boxes == 0 {
		return !mostOf(y.Treated.Silent, y.Treated.Boxes) || stats.AtLeast(y.Treated.Silent, y.Treated.Boxes, acceptable) > level
	}
	return stats.Fisher(y.Treated.Silent, y.Treated.Boxes, y.Control.Silent, y.Control.Boxes) > level
}

func (y Young) sentence() string {
	return fmt.Sprintf("of the boxes that were registered since the rollout's start, %d of %d with the release are silent, as %d of %d without it are, and %d of %d with it are bad",
		y.Treated.Silent, y.Treated.Boxes, y.Control.Silent, y.Control.Boxes, y.Bad, y.Told)
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

// newcomers is the test of young boxes. Everybody is told once the rollout is completed, so then less holds it.
func (d decision) newcomers(y *Young) (list findings) {
	e, n := d.evidence, d.evidence.Newcomers
	last := y != nil && e.next() == 0 && d.soakOver()
	if y != nil {
		list.add(y.Holds || last && y.At.After(e.Resumed) && (len(n.Stopped) > 0 || y.harms(youngLast/youngBad, d.policy.Guard.Acceptable, lastYoung)), YoungHarmed, y.sentence())
	}
	if d.policy.Mode == Act && d.policy.Promote.Auto && !e.Stopped && !d.toPeople() && e.next() == 0 && n.Steps > 0 && n.Steps < mostSteps && float64(n.Untold) > youngWaits*float64(e.fleet()+n.Untold) {
		list.add(true, YoungWaiting, fmt.Sprintf("%s registered since the start come by stages, and are not told yet", boxes(n.Untold)))
	}
	return list
}

// steps reports whether young boxes come a stage further at the last stage: nothing else keeps the rollout there.
func (d decision) steps(found findings) bool {
	return d.evidence.Active && !d.evidence.Stopped && d.policy.Mode == Act && found.has(YoungWaiting) && found.leftToPeople(YoungWaiting) && !found.has(PeoplePromote) &&
		d.at.Sub(d.evidence.Newcomers.At) >= d.policy.SoakAt(d.evidence.Stage)
}

// stopped lists the organizations of which no more young boxes are told from now on.
func (d decision) stopped(y *Young) (ids []string) {
	if y == nil || !d.evidence.Active || !d.evidence.YoungNew || d.policy.Mode != Act {
		return nil
	}
	for _, id := range y.stops(d.policy.Guard.Acceptable) {
		if !slices.Contains(d.evidence.Newcomers.Stopped, id) {
			ids = append(ids, id)
		}
	}
	return ids
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
