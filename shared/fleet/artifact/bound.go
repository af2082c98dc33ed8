package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A program may ask for so many new artifacts and bytes a day, so that a stolen token cannot fill the store.
const (
	mostAsked = 100
	mostBytes = 100 << 30
)

// A bounded is what a program has asked for on a day, an item in the table of rate counters.
type bounded struct {
	Subject string `json:"subject"`
	N       int    `json:"n"`
	Bytes   int64  `json:"bytes"`
	TTL     int64  `json:"ttl"`
}

// A wishes counts the new artifacts of one call, which may try its change several times.
type wishes struct {
	by      auth.Principal
	counted bool
}

// enter counts a new artifact of a program, and returns RATE_LIMITED if it has asked for too many today. What cannot be
// written afterwards counts, too.
func (s *Store) enter(ctx context.Context, asked *wishes, size int64) error {
	if asked.by.Has(auth.PlatformOwner) || asked.counted {
		return nil
	}
	now := s.db.Now()
	sum := sha256.Sum256([]byte(asked.by.User()))
	key := dynamo.Key{"subject": "uploads#" + hex.EncodeToString(sum[:8]) + "#" + now.Format(time.DateOnly)}
	counted, err := s.db.Tally(ctx, dynamo.RateCounters, key, "SET #ttl = :ttl ADD #n :one, #bytes :size",
		map[string]any{":ttl": now.Add(48 * time.Hour).Unix(), ":one": 1, ":size": size},
		dynamo.Condition{Expr: "attribute_not_exists(#n) OR (#n < :most AND #bytes <= :room)", Values: map[string]any{":most": mostAsked, ":room": mostBytes - size}},
		&bounded{})
	if asked.counted = counted; err != nil || counted {
		return err
	}
	return problem.Daily(now, "uploads", "Exceeded: uploads (%d artifacts and %d GiB a day of a program, until midnight UTC). Let a platform owner upload it.",
		mostAsked, mostBytes>>30)
}
