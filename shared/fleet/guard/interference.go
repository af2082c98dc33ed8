package guard

import (
	"fmt"
	"time"

	"wavegate/shared/fleet/stats"
)

// Plants counts the plants of which at least three boxes were looked up at a look. A box with the release can take down what its plant
// shares, such as a gateway: then the boxes without it go silent, too, and no comparison within plants sees it. A policy cannot keep the
// first stage to some plants: one percent of a plant of 60 boxes is mostly no box, and a larger share would be another cohort. Plants that
// shall come first have a channel of their own.
type Plants struct {
	At time.Time `json:"at"`
	// A box of the Told ones was told the release. Down are those of them that went dark less than an hour after that.
	Told int `json:"told"`
	Down int `json:"down"`
	// Others are plants of which no box was told, and OthersDark those of them that are dark.
	Others     int `json:"others"`
	OthersDark int `json:"othersDark"`
}

// fewestDown is how many plants must go down. One may have been switched off. If there are enough others, chance must not explain
// that these go down and not those, as it does when a night begins.
const (
	fewestDown   = 2
	enoughPlants = 10
	downByChance = 0.02
)

// interferes is the test of plants that go down: at least half of those that were told, and a larger share than of the others. It
// holds until the next look, or until a person resumes the rollout.
func (d decision) interferes() (list findings) {
	p := d.evidence.Plants
	explained := p.Others >= enoughPlants && stats.Fisher(p.Down, p.Told, p.OthersDark, p.Others) > downByChance
	list.add(!p.At.Before(d.evidence.Resumed) && !explained && p.Down >= fewestDown && 2*p.Down >= p.Told && (p.Others == 0 || p.Down*p.Others > p.OthersDark*p.Told), PlantsDown,
		fmt.Sprintf("%d of %d plants went dark within an hour after a box there was told, and %d of %d others are dark: the release may take down what a plant shares, such as its network",
			p.Down, p.Told, p.OthersDark, p.Others))
	return list
}
