package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Health is what a box says about its work, for the guard: numbers of the last 24 hours.
type Health struct {
	// Version is the target of the rollout that asked. Before are the first numbers that the box said for it, as long as it
	// ran something else.
	Version string             `json:"version" stored:"identity"`
	Before  map[string]float64 `json:"before,omitempty"`
	// Now are the last ones. The box said them At, when it was Running this.
	Now     map[string]float64 `json:"now,omitempty"`
	Running string             `json:"running,omitempty"`
	At      time.Time          `json:"at"`
}

// The greatest and the least number that counts, and how often a box's row is written for its numbers. Boxes say them once an
// hour, a little more or less.
const (
	mostNumber  = 1e12
	leastNumber = 1e-12
	healthEvery = 50 * time.Minute
)

// NumbersOf reads what a box says: each text is a name, a colon and a number. It keeps the numbers that were asked for. What
// it cannot use, it ignores, and so it does with a name that is given twice: no poll fails because of them.
func NumbersOf(said, asked []string) map[string]float64 {
	kept, given := map[string]float64{}, map[string]int{}
	for _, text := range said[:min(len(said), mostSaid)] {
		name, value, _ := strings.Cut(text, ":")
		if !slices.Contains(asked, name) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if given[name]++; given[name] > 1 {
			delete(kept, name)
			continue
		}
		if err != nil || !(n == 0 || n >= leastNumber && n <= mostNumber) || math.Signbit(n) || strings.ContainsAny(value, "xX_pP") {
			continue
		}
		kept[name] = n
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// mostSaid limits the texts that are read of a poll.
const mostSaid = 32

// say takes the numbers of a poll. They change the row at most once an hour, or if the box runs another version than when it
// last said any.
func (r *Row) say(p Polled) {
	if len(p.Numbers) == 0 {
		return
	}
	next := Health{Version: p.NumbersFor}
	if h := r.Health; h != nil && h.Version == p.NumbersFor {
		if p.At.Sub(h.At) < healthEvery && h.Running == r.Running {
			return
		}
		next.Before = maps.Clone(h.Before)
	}
	if r.Running != p.NumbersFor {
		for name, n := range p.Numbers {
			if _, known := next.Before[name]; known {
				continue
			}
			if next.Before == nil {
				next.Before = map[string]float64{}
			}
			next.Before[name] = n
		}
	}
	next.Now, next.Running, next.At = p.Numbers, r.Running, p.At
	r.Health = &next
}
