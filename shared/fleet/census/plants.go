package census

import (
	"time"

	"wavegate/shared/fleet/guard"
)

// A lookedAt is what a look saw of a plant.
type lookedAt struct {
	boxes, silent int
	last          time.Time   // when its silent boxes were last seen
	told          []time.Time // when boxes were told the release, and when they last said something new about it
}

// plants are those of a look, by factory.
type plants map[string]lookedAt

// add adds a box that was seen since the rollout began.
func (p plants) add(g *Groups, b lookedUp) {
	if b.FactoryID == "" || b.seen.LastSeen.Before(g.of.StartedAt) {
		return
	}
	one, known := g.one(b.seen.LastSeen)
	if !known { // it was silent already when somebody let the rollout go on
		return
	}
	at := p[b.FactoryID]
	at.boxes++
	if one.Silent > 0 {
		if at.silent++; b.seen.LastSeen.After(at.last) {
			at.last = b.seen.LastSeen
		}
	}
	if b.seen.Offer.RolloutID == g.of.ID {
		// A box may take its plant down when it is told, and when it installs, which it says later.
		at.told = append(at.told, b.seen.Offer.ToldAt, b.seen.Offer.Since)
	}
	p[b.FactoryID] = at
}

// toldBefore is how long after a box was told its plant's silence may come from that.
const toldBefore = time.Hour

// count counts them. A plant that is dark for a longer time after it was told counts as any other.
func (p plants) count() (sum guard.Plants) {
	for _, at := range p {
		down := false
		for _, told := range at.told {
			down = down || !told.After(at.last) && at.last.Sub(told) < toldBefore
		}
		switch is := dark(at.silent, at.boxes); {
		case at.boxes < enoughDark:
		case len(at.told) > 0 && (down || !is):
			if sum.Told++; is {
				sum.Down++
			}
		default:
			if sum.Others++; is {
				sum.OthersDark++
			}
		}
	}
	return sum
}
