package bell

import (
	"maps"
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
)

// Rings records what rang on a release channel, apart from changes to its row.
type Rings struct {
	EdgeType string `json:"edgeType"`
	Channel  string `json:"channel"`
	// N counts how often the channel was rung as a whole, and WholeAt is when it last was.
	N       int64      `json:"n"`
	WholeAt *time.Time `json:"wholeAt,omitempty"`
	// Calls are the boxes that are called, each until a Unix time in seconds.
	Calls    map[string]int64 `json:"calls,omitempty"`
	Revision int64            `json:"revision"`
}

const (
	// MostCalls limits how many boxes are called on a channel at the same time.
	MostCalls = 512
	// wholeEvery is the least time between two rings of a whole channel. Somebody who keeps changing boxes must not make
	// every box of the channel poll all the time.
	wholeEvery = time.Hour
	// leastLasting is the least time that a call lasts.
	leastLasting = 15 * time.Minute
)

// Lasting is how long a call lasts, so that a box that listens at an interval hears it even if it misses twice.
func Lasting(interval time.Duration) time.Duration { return max(leastLasting, 3*interval+interval/2) }

// Ring calls boxes, and reports whether anything changed. If there are too many, the channel rings as a whole, at most
// once an hour. Otherwise as many are called as there is room for. The rest notice at their heartbeats.
func (r Rings) Ring(boxes []string, at time.Time, lasting time.Duration) (next Rings, changed bool) {
	next = r
	next.Calls = maps.Clone(r.Calls)
	maps.DeleteFunc(next.Calls, func(_ string, until int64) bool { return until <= at.Unix() })
	if next.Calls == nil && len(boxes) > 0 {
		next.Calls = map[string]int64{}
	}
	until := at.Add(lasting).Unix()
	var left bool
	for _, id := range slices.Sorted(slices.Values(boxes)) {
		if _, called := next.Calls[id]; !called && len(next.Calls) >= MostCalls {
			left = true
			continue
		}
		next.Calls[id] = max(until, next.Calls[id])
	}
	if left && (r.WholeAt == nil || at.Sub(*r.WholeAt) >= wholeEvery) {
		next.N, next.WholeAt, next.Calls = r.N+1, &at, nil
	}
	if dynamo.Same(next, r) {
		return r, false
	}
	next.Revision++
	return next, true
}

// called are the boxes that are called at a time.
func (r Rings) called(at time.Time) []string {
	var list []string
	for id, until := range r.Calls {
		if until > at.Unix() {
			list = append(list, id)
		}
	}
	return list
}
