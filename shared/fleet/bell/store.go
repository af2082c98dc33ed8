package bell

import (
	"context"
	"log/slog"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// A Store keeps the rings of channels. A nil Store keeps none: the deployment has no bell.
type Store struct {
	db      *dynamo.DB
	lasting time.Duration
	log     *slog.Logger
}

// Settings lists the settings that Open reads.
var Settings = []setting.Name{setting.BellURL, setting.IdlePollIntervalSeconds}

// Open makes a store; nil if the deployment has no bell. Failures to ring are logged.
func Open(db *dynamo.DB, r *setting.Values, log *slog.Logger) *Store {
	idle := time.Duration(r.Number(setting.IdlePollIntervalSeconds)) * time.Second
	if r.Text(setting.BellURL) == "" {
		return nil
	}
	return NewStore(db, idle, log)
}

// NewStore makes a store for boxes that listen at an interval or more often.
func NewStore(db *dynamo.DB, interval time.Duration, log *slog.Logger) *Store {
	return &Store{db, Lasting(interval), log}
}

// Get reads the rings of a channel with a strongly consistent read.
func Get(ctx context.Context, db *dynamo.DB, edgeType, channel string) (Rings, error) {
	r := Rings{EdgeType: edgeType, Channel: channel}
	_, err := db.Get(ctx, dynamo.Bells, dynamo.Key{"edgeType": edgeType, "channel": channel}, &r)
	return r, err
}

// A Call is for a box that listens at a channel's address.
type Call struct {
	EdgeType, Channel, EdgeID string
	Organization              string // of the box; empty: it has none
	// Own is set if somebody of one organization changed the box, and not if a platform owner did.
	Own bool
}

// ringTime is how long a change may spend on calling its boxes.
const ringTime = 500 * time.Millisecond

// Ring calls boxes after a change was written, on a best-effort basis: the change stands even if the call fails, and a
// box that is not called notices at its heartbeat.
func (s *Store) Ring(ctx context.Context, list ...Call) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ringTime)
	defer cancel()
	boxes := map[[2]string][]Call{}
	for _, c := range list {
		at := [2]string{c.EdgeType, c.Channel}
		boxes[at] = append(boxes[at], c)
	}
	for at, called := range boxes {
		if err := s.ring(ctx, at[0], at[1], called); err != nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "boxes were not called",
				slog.String("edgeType", at[0]), slog.String("channel", at[1]), slog.Int("boxes", len(called)), slog.String("cause", err.Error()))
		}
	}
}

func (s *Store) ring(ctx context.Context, edgeType, channel string, boxes []Call) error {
	return dynamo.Decide(ctx, func() error {
		was, err := Get(ctx, s.db, edgeType, channel)
		if err != nil {
			return err
		}
		next, changed := was.Ring(boxes, s.db.Now(), s.lasting)
		if !changed {
			return nil
		}
		return s.db.Put(ctx, dynamo.Bells, was, next, dynamo.AtRevision("edgeType", was.Revision))
	})
}
