package census

import (
	"slices"
	"time"
)

// A Snapshot is a rollout's progress at one minute: the sum of all stages, and the silent boxes.
type Snapshot struct {
	At            time.Time `json:"at"`
	StagedPercent int       `json:"staged_percent"`
	Counts
	Silent int `json:"silent"`
}

// An Hour holds the moments of one hour of a rollout, 60 at most. It is what the table holds an item of:
// an item a minute would cost as much to write and ten times as much to read.
type Hour struct {
	Subject  string     `json:"subject"` // the rollout's id
	Part     string     `json:"part"`    // see HourPart
	Moments  []Snapshot `json:"moments"`
	Revision int64      `json:"revision"`
}

// hourPrefix begins the sort key of every hour.
const hourPrefix = "hour#"

// HourPart is the sort key of the hour that a time lies in.
func HourPart(at time.Time) string { return hourPrefix + at.UTC().Format("2006-01-02T15") }

// With is the hour with a moment of it, and whether that is new: there is one moment a minute, the first
// that came.
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
