package report

import (
	"fmt"
	"math"
	"time"
)

// A Frequent box calls more than twice as often as it was told to poll. It is evidence like any other box, and costs more.
type Frequent struct {
	Since time.Time `json:"since" stored:"identity"`
	At    time.Time `json:"at"` // when that was last noted, at most once an hour
	// EverySeconds is how often it called then, on average, and ToldSeconds the shortest interval that it was told.
	EverySeconds int `json:"everySeconds"`
	ToldSeconds  int `json:"toldSeconds"`
	// DollarsPerMonth is what it costs more at the API than a box that polls as told, by list prices.
	DollarsPerMonth float64 `json:"dollarsPerMonth"`
}

const (
	// CallsKnown is for how long the latest calls of a box are known, at most; see ratelimit.Result.
	CallsKnown = 33 * time.Minute
	// A box is suspected after so few pauses in a row that were too short if they took an interval, otherwise after many: it may
	// have tried again after failures.
	fewPauses, manyPauses = 10, 40
	// frequentFor is how long a box is frequent, or suspected, after that was last noted.
	frequentFor = 3 * time.Hour
	// DollarsPerPoll is what a poll at the API costs that changes nothing; see infra/fleet-size.md.
	DollarsPerPoll = 5.24e-6
	month          = 365.25 * 24 * time.Hour / 12
)

// paceOf is the mean pause between the latest calls, if each was shorter than half of what the box was told; 0: one was not, or
// there are too few calls to tell. Two calls at once in each interval are no short pauses, and neither are calls before
// the box was last told to wait longer.
func paceOf(calls []time.Time, told time.Duration) time.Duration {
	pauses := 0
	for pauses+1 < len(calls) && calls[pauses].Sub(calls[pauses+1]) < told/2 {
		pauses++
	}
	if pauses < fewPauses {
		return 0
	}
	took := calls[0].Sub(calls[pauses])
	if took < told && pauses < manyPauses {
		return 0
	}
	return max(took/time.Duration(pauses), time.Millisecond)
}

// callsSince is how many of the latest calls were made since a time.
func (p Polled) callsSince(at time.Time) (n int) {
	for n < len(p.Calls) && p.Calls[n].After(at) {
		n++
	}
	return n
}

// paces notes whether a box calls too often. It is suspected at first, and frequent if it still does so an hour later.
func (r *Row) paces(was Row, p Polled) {
	pace, known := paceOf(p.Calls, p.Every), r.Frequent
	if was.works(p.At) {
		pace = 0
	}
	switch {
	case pace > 0 && (known == nil || p.At.Sub(known.At) >= notedAgain):
		next := Frequent{Since: p.At}
		if known != nil && p.At.Sub(known.At) < frequentFor {
			next = *known
		}
		next.At, next.ToldSeconds = p.At, int(p.Every/time.Second)
		next.EverySeconds = max(int(pace.Round(time.Second)/time.Second), 1)
		more := float64(month)/float64(pace) - float64(month)/float64(p.Every)
		next.DollarsPerMonth = math.Ceil(more*DollarsPerPoll*100) / 100
		r.Frequent = &next
	case known != nil && p.At.Sub(known.At) >= frequentFor:
		r.Frequent = nil
	}
}

// works reports whether the box may have said how an update goes with some of its latest calls. A DDI client says that at each
// attempt, also after it failed.
func (r Row) works(at time.Time) bool {
	o := r.Offer
	return o != nil && (o.State == Working || r.DDI && (o.State == Failed || o.State == Reverted) || at.Sub(o.Since) < CallsKnown)
}

// Often is set for a box that calls too often, and nil for one that is only suspected.
func (r Row) Often() *Frequent {
	if f := r.Frequent; f != nil && f.At.Sub(f.Since) >= notedAgain {
		return f
	}
	return nil
}

// Sentence says what the box does; empty: nothing.
func (f *Frequent) Sentence() string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf(" It calls every %d s, and was told to wait %d s or longer: at the API, that costs about %.2f dollars a month more.",
		f.EverySeconds, f.ToldSeconds, f.DollarsPerMonth)
}
