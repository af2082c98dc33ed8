package ddi

import (
	"time"

	"wavegate/shared/fleet/report"
)

// widest is the share of the polling interval by which boxes differ in either direction.
const widest = 0.2

// spread is a box's own polling interval, in whole seconds. It is derived from the box's name.
func spread(edgeID string, interval time.Duration) time.Duration {
	own := time.Duration(float64(interval) * (1 - widest + 2*widest*report.Share("sleep/"+edgeID)))
	return max(own.Round(time.Second), time.Second)
}
