package census

import (
	"context"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/timestamp"
)

// A Snapshot is a rollout's progress at one minute: the sum of all stages, and the silent boxes.
type Snapshot struct {
	At            time.Time `json:"at" stored:"identity"`
	StagedPercent int       `json:"staged_percent"`
	guard.Counts
	Silent int `json:"silent"`
}

// An Hour holds the moments of one hour of a rollout, 60 at most. The table has one item per hour: an item per minute
// would cost as much to write and ten times as much to read.
type Hour struct {
	Subject  string     `json:"subject"` // the rollout's id
	Part     string     `json:"part"`    // see HourPart
	Moments  []Snapshot `json:"moments"`
	Revision int64      `json:"revision"`
	dynamo.Unknown
}

// hourPrefix begins the sort key of every hour.
const hourPrefix = "hour#"

// HourPart is the sort key of the hour that a time lies in.
func HourPart(at time.Time) string { return hourPrefix + at.UTC().Format("2006-01-02T15") }

// With adds a moment to the hour, and reports whether it is new: only the first moment of each minute is kept.
func (h Hour) With(m Snapshot) (Hour, bool) {
	minute := m.At.Truncate(time.Minute)
	at, found := slices.BinarySearchFunc(h.Moments, minute, func(x Snapshot, t time.Time) int {
		return x.At.Truncate(time.Minute).Compare(t)
	})
	if found {
		return h, false
	}
	h.Moments = slices.Insert(slices.Clone(h.Moments), at, m)
	h.Revision++
	return h, true
}

// hour reads the hour of a rollout's history that a time belongs to.
func (s *Store) hour(ctx context.Context, rolloutID string, at time.Time) (Hour, error) {
	hour := Hour{Subject: rolloutID, Part: HourPart(at)}
	_, err := s.db.Get(ctx, dynamo.Progress, dynamo.Key{"subject": hour.Subject, "part": hour.Part}, &hour)
	return hour, err
}

// remember adds what was counted to the rollout's history.
func (s *Store) remember(ctx context.Context, hour Hour, p Progress) error {
	next, changed := hour.With(Snapshot{At: p.AsOf, StagedPercent: p.StagedPercent, Counts: Total(p.Stages), Silent: p.Silent.Boxes})
	if !changed {
		return nil
	}
	err := s.db.Put(ctx, dynamo.Progress, hour, next, dynamo.AtRevision("subject", hour.Revision))
	if dynamo.Refused(err, "item") {
		return nil // another count has stored this minute
	}
	return err
}

// IsMoment reports whether a text is a position in a history.
func IsMoment(text string) bool {
	at, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && timestamp.Text(at) == text
}

// PositionOf is a moment's position in a history.
func PositionOf(m Snapshot) string { return timestamp.Text(m.At) }

// History returns a page of a rollout's history, newest first, before a position of it, or from the end.
// It returns NOT_FOUND.
func (s *Reader) History(ctx context.Context, id, before string, limit int) (dynamo.Page[Snapshot], error) {
	if _, err := s.rollouts.Get(ctx, id); err != nil {
		return dynamo.Page[Snapshot]{}, err
	}
	most := "hour$" // after every hour
	if before != "" {
		at, err := time.Parse(time.RFC3339Nano, before)
		if err != nil {
			return dynamo.Page[Snapshot]{}, err
		}
		most = HourPart(at)
	}
	var page dynamo.Page[Snapshot]
	of := dynamo.Selection{Table: dynamo.Progress, Partition: id, Least: hourPrefix, Most: most, Descending: true}
	err := dynamo.Walk(ctx, s.db, of, nil, limit/60+2, func(h Hour) error {
		for _, m := range slices.Backward(h.Moments) {
			switch {
			case before != "" && !earlier(m, before):
			case len(page.Items) == limit:
				page.More = true
				return dynamo.ErrEnough
			default:
				page.Items = append(page.Items, m)
			}
		}
		return nil
	})
	return page, err
}

func earlier(m Snapshot, position string) bool { return strings.Compare(PositionOf(m), position) < 0 }
