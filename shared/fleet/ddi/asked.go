package ddi

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// askedEvery is how often a box is asked what it runs while nothing is new. A client of RAUC says it only when it is
// asked. Without this, nobody would notice a box that fell back to another version by itself.
const askedEvery = time.Hour

// asked tells whether a poll is the one in its hour that asks. Nothing is stored for that: the moment follows from the
// box's name, and lasts for one polling interval.
func asked(edgeID string, now time.Time, interval time.Duration) bool {
	sum := sha256.Sum256([]byte("identify/" + edgeID))
	phase := int64(binary.BigEndian.Uint32(sum[:4]))
	return (now.Unix()+phase)%int64(askedEvery/time.Second) < int64(interval/time.Second)
}
