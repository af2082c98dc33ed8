package main

import (
	"fmt"
	"math/rand/v2"
)

// A weather switches plants off and on.
type weather struct {
	name string
	// start tells whether a plant is on when the stage begins, and when it is switched next; horizon: never.
	start func(r *rand.Rand, w *world, plant int) (on bool, next int)
	// next is when a plant is switched again that was switched just now.
	next func(r *rand.Rand, now int, on bool) int
}

// constant is a weather in which plants stay as they start.
func constant(name string, off float64) weather {
	return weather{name, func(r *rand.Rand, _ *world, _ int) (bool, int) { return r.Float64() >= off, horizon }, nil}
}

// outages switches each plant by itself: it is off for four hours on average, and for a share of the time.
func outages(off float64) weather {
	wait := func(r *rand.Rand, now int, on bool) int {
		stay := 4.0 * hour
		if on {
			stay *= (1 - off) / off
		}
		return now + 1 + int(r.ExpFloat64()*stay)
	}
	return weather{fmt.Sprintf("%g %% of the plants off, others each hour", 100*off),
		func(r *rand.Rand, _ *world, _ int) (bool, int) {
			on := r.Float64() >= off
			return on, wait(r, 0, on)
		}, wait}
}

// together switches a share of all plants off at one moment, for good.
func together(off float64) weather {
	return weather{fmt.Sprintf("%g %% of the plants go dark together", 100*off),
		func(r *rand.Rand, w *world, _ int) (bool, int) {
			if r.Float64() < off {
				return true, w.common
			}
			return true, horizon
		},
		func(*rand.Rand, int, bool) int { return horizon }}
}

// nights switches half of the plants off for ten hours a day, all within one hour.
var nights = weather{"half of the plants off at night",
	func(_ *rand.Rand, w *world, plant int) (bool, int) {
		if plant%2 == 0 {
			return true, horizon
		}
		return true, w.common + plant%60
	},
	func(_ *rand.Rand, now int, on bool) int {
		if on {
			return now + 14*hour
		}
		return now + 10*hour
	}}
