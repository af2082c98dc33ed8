package main

import (
	"math/rand/v2"

	"wavegate/shared/fleet/report"
)

// cycles are the work of the boxes of a world, which say cycleSeconds and crashes. A plant changes its product between before and
// now, by 30 to 50 percent up or down.
type cycles struct {
	Noise  float64 // of a box's mean of a day
	Slower float64 // by how much cycles are longer with the release
	Crash  float64 // the share of the boxes that crash once a day with the release; without it, one in a hundred does
}

// says is what a box has said, if it is looked up now.
func (p *play) says(b *box) *report.Health {
	w := p.world.Cycles
	if w == nil {
		return nil
	}
	own, plant := rand.New(rand.NewPCG(uint64(b.first), 6)), rand.New(rand.NewPCG(uint64(b.plant), 7))
	change := 1.3 + 0.2*plant.Float64()
	if plant.IntN(2) == 0 {
		change = 1 / change
	}
	before, now := 10*(1+w.Noise*own.NormFloat64()), 10*(1+w.Noise*own.NormFloat64())*change
	crashed, crashes := own.Float64(), 0.01
	if b.runsTarget {
		now *= 1 + w.Slower
		crashes = max(crashes, w.Crash)
	}
	said := func(seconds float64, crashed bool) map[string]float64 {
		numbers := map[string]float64{"cycleSeconds": max(seconds, 1), "crashes": 0}
		if crashed {
			numbers["crashes"] = 1
		}
		return numbers
	}
	return &report.Health{Version: target, Before: said(before, own.Float64() < 0.01), Now: said(now, crashed < crashes), Running: p.runs(b), At: p.at(b.lastSeen(p.now))}
}
