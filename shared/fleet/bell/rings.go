package bell

import (
	"slices"
	"strings"
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
	// Calls are the boxes that are called, each until a Unix time in seconds, and Callers the organizations of those with one.
	Calls    map[string]int64  `json:"calls,omitempty"`
	Callers  map[string]string `json:"callers,omitempty"`
	Revision int64             `json:"revision"`
	dynamo.Unknown
}

const (
	// MostCalls limits how many boxes are called on a channel at the same time. An organization gets a slot only while it
	// has fewer slots than are free, so that there is room for another one, however many boxes it moves.
	MostCalls = 512
	// wholeEvery is the least time between two rings of a whole channel. Somebody who keeps changing boxes must not make
	// every box of the channel poll all the time.
	wholeEvery = time.Hour
	// leastLasting is the least time that a call lasts.
	leastLasting = 15 * time.Minute
)

// Lasting is how long a call lasts, so that a box that listens at an interval hears it even if it misses twice.
func Lasting(interval time.Duration) time.Duration { return max(leastLasting, 3*interval+interval/2) }

// Ring calls boxes of a channel, and reports whether anything changed. If there are too many, the channel rings as a whole,
// at most once an hour, unless the changes are one organization's own: the boxes of the others would pay for them.
// Otherwise as many are called as there is room for. The rest notice at their heartbeats.
func (r Rings) Ring(boxes []Call, at time.Time, lasting time.Duration) (next Rings, changed bool) {
	next = r
	next.Calls, next.Callers = map[string]int64{}, map[string]string{}
	held := map[string]int{} // by organization
	for id, until := range r.Calls {
		if until > at.Unix() {
			next.Calls[id] = until
			if of := r.Callers[id]; of != "" {
				next.Callers[id] = of
			}
			held[r.Callers[id]]++
		}
	}
	until := at.Add(lasting).Unix()
	left := false
	for _, c := range slices.SortedFunc(slices.Values(boxes), func(a, b Call) int { return strings.Compare(a.EdgeID, b.EdgeID) }) {
		_, called := next.Calls[c.EdgeID]
		if free := MostCalls - len(next.Calls); !called && (free <= 0 || c.Organization != "" && held[c.Organization] >= free) {
			left = left || !c.Own
			continue
		}
		if !called {
			held[c.Organization]++
			if c.Organization != "" {
				next.Callers[c.EdgeID] = c.Organization
			}
		}
		next.Calls[c.EdgeID] = max(until, next.Calls[c.EdgeID])
	}
	if left && (r.WholeAt == nil || at.Sub(*r.WholeAt) >= wholeEvery) {
		next.N, next.WholeAt, next.Calls, next.Callers = r.N+1, &at, nil, nil
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
