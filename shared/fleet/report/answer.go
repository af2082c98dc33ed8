package report

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// MostAttempts is the number of attempts at one offer that a box should make.
const MostAttempts = 3

// How long a box should wait. The box does not have to remember a backoff: the row knows the attempt.
var (
	afterFailure  = []time.Duration{5 * time.Minute, time.Hour} // after the first and the second
	afterDeferral = time.Hour                                   // if the box names no end
	leastDeferral = time.Minute
	mostDeferral  = 24 * time.Hour
)

// spread is the share of a wait after a failure by which boxes differ, so that boxes that failed together do not come
// back together.
const spread = 0.25

// An Advice tells a box what to do after its report.
type Advice struct {
	// RetryAfter is how long the box waits before it goes on.
	RetryAfter time.Duration
	// GiveUp is set if the box should not try this version again.
	GiveUp bool
}

// Reply is the answer to an outcome, given the row that it led to. A repeated report gets the same answer.
func Reply(row Row, o Outcome) Advice {
	attempts := max(1, o.Attempt)
	if row.Offer != nil {
		attempts = max(attempts, row.Offer.Attempts)
	}
	switch o.State {
	case Failed:
		if attempts >= MostAttempts {
			return Advice{GiveUp: true}
		}
		wait := afterFailure[attempts-1]
		return Advice{RetryAfter: wait + time.Duration(float64(wait)*spread*Share("wait/"+row.EdgeID))}
	case Deferred:
		if o.Until == nil {
			return Advice{RetryAfter: afterDeferral}
		}
		return Advice{RetryAfter: min(max(o.Until.Sub(o.At), leastDeferral), mostDeferral)}
	}
	return Advice{}
}

// Share maps a text about a box to a number between 0 and 1.
func Share(of string) float64 {
	sum := sha256.Sum256([]byte(of))
	return float64(binary.BigEndian.Uint32(sum[:4])) / (1 << 32)
}
