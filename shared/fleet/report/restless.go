package report

import "time"

// A Restless box polls far more often than it was told, as in a boot loop, or names two versions in turns: two boards have
// its id, or it falls back within a minute. Nobody can tell what such a box says about a release.
type Restless struct {
	Since time.Time `json:"since" stored:"identity"`
	At    time.Time `json:"at"` // when that was last noted, at most once an hour
	// Polls is set if it polls too often. Otherwise it names versions in turns.
	Polls bool `json:"polls,omitempty"`
}

const (
	// manyTurns is how many changes of the running version in a row, each within quickTurn of the last, are more than a
	// board makes that installs and restarts.
	manyTurns = 3
	quickTurn = 90 * time.Second
	// notedAgain is how often it is noted that a box still is restless, and restlessFor how long one is afterwards.
	notedAgain  = time.Hour
	restlessFor = 24 * time.Hour
	// tooOften is how many times as often as told a box polls, and oftenAtLeast how many times a minute at the least: clients
	// with an interval of their own are evidence.
	tooOften, oftenAtLeast = 10, 60
)

// TooOften reports whether so many calls in a minute are far more than a box makes that was told to poll at an interval.
func TooOften(calls int, told time.Duration) bool {
	return calls >= oftenAtLeast && time.Duration(calls)*told >= tooOften*time.Minute
}

// unrest notes whether a box is restless. A write that changes nothing else happens once an hour for a restless box, and
// never for another one.
func (r *Row) unrest(was Row, p Polled) {
	turned := was.Running != "" && r.Running != was.Running
	if turned {
		o := was.Offer
		if r.Turns++; o == nil || o.State != Installed && o.State != Reverted || p.At.Sub(o.Since) > quickTurn {
			r.Turns = 0
		}
	}
	often := TooOften(p.callsSince(p.At.Add(-time.Minute)), p.Every)
	restless, known := often || turned && r.Turns >= manyTurns, r.Restless
	switch {
	case restless && known == nil:
		r.Restless = &Restless{Since: p.At, At: p.At, Polls: often}
	case restless && p.At.Sub(known.At) >= notedAgain:
		r.Restless = &Restless{Since: known.Since, At: p.At, Polls: often}
	case known != nil && p.At.Sub(known.At) >= restlessFor:
		r.Restless = nil
	}
}

// Sentence says what the box does; empty: nothing.
func (r *Restless) Sentence() string {
	switch {
	case r == nil:
		return ""
	case r.Polls:
		return " It is restless: it polls ten times as often as it was told."
	}
	return " It is restless: it names two versions in turns, as two boards with one id do."
}
