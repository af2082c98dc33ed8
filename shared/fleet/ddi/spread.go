package ddi

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// widest is the share of the polling interval by which boxes differ in either direction.
const widest = 0.2

// spread is a box's own polling interval, in whole seconds. It is derived from the box's name.
func spread(edgeID string, interval time.Duration) time.Duration {
	sum := sha256.Sum256([]byte("sleep/" + edgeID))
	place := float64(binary.BigEndian.Uint32(sum[:4])) / (1 << 32) // from 0 to 1
	own := time.Duration(float64(interval) * (1 - widest + 2*widest*place))
	return max(own.Round(time.Second), time.Second)
}
