package report

import (
	"context"
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
)

// A Group is boxes of one plant of which one at a time is told something: a pair, a cell, a line. It lies in the table of rows.
// A registration writes the members. Whoever tells one of them something new writes the revision in the same transaction, so
// that no two are told at once.
type Group struct {
	EdgeID  string   `json:"edgeId"` // see NewGroup
	Members []string `json:"members,omitempty"`
	// OpenedBy is the installer whose boxes these are, as a hash; empty once somebody else has added one.
	OpenedBy string `json:"openedBy,omitempty"`
	Revision int64  `json:"revision"`
	dynamo.Unknown
}

// LastSeen returns when the subject of a box made its last call, to half a second; zero: unknown.
type LastSeen func(ctx context.Context, subject string) (time.Time, error)

const (
	groupPrefix = "group" + separator
	// MostInGroup limits the boxes of a group.
	MostInGroup = 8
	// groupSilent is how long a box of a group may be unheard from. Such boxes poll at the idle interval at least.
	groupSilent = 30 * time.Minute
	// groupGone is how long a group waits for a box that is silent and was never told the version: it fell silent before, so
	// the version is not why.
	groupGone = 24 * time.Hour
)

// A Patience is for how long a box keeps its group waiting.
type Patience struct {
	Proof        time.Duration // how long it must have run what it was told
	DecideWithin time.Duration // how long it may take to install that
}

// IsBox reports whether an item with a key is a box's row, and no trace or group.
func IsBox(key string) bool { return !strings.Contains(key, separator) }

// newGroup is an empty group of a plant.
func newGroup(factoryID, name string) Group {
	return Group{EdgeID: groupPrefix + factoryID + separator + name}
}

// With is the group with another box, and Without without one.
func (g Group) With(edgeID string) Group {
	if !slices.Contains(g.Members, edgeID) {
		g.Members = append(slices.Clone(g.Members), edgeID)
	}
	return g
}

// Without is the group without a box.
func (g Group) Without(edgeID string) Group {
	g.Members = slices.DeleteFunc(slices.Clone(g.Members), func(id string) bool { return id == edgeID })
	if len(g.Members) == 0 {
		g.Members = nil // omit an empty list: the embedded store cannot store one
	}
	return g
}

// Group reads a group of a plant, strongly consistent; it is empty if there is none.
func (s *Store) Group(ctx context.Context, factoryID, name string) (Group, error) {
	g := newGroup(factoryID, name)
	_, err := s.db.Get(ctx, dynamo.Reports, key(g.EdgeID), &g)
	return g, err
}

// GroupPart is the part of a transaction that writes a group as it is now, if nobody has written it since it was read.
func (s *Store) GroupPart(g Group) dynamo.TransactItem {
	was := g.Revision
	g.Revision++
	return dynamo.TransactPut("group", dynamo.Reports, nil, g, dynamo.AtRevision("edgeId", was))
}

// Blocks reports whether a box keeps the others of its group from being told a version: from when it was told something
// until it has run that for a time, while nobody hears from it, and after it fell back from that version. A box that
// says why it did not install, or does not decide in time, is up. seen is when it made its last call; zero: unknown.
//
// A box that is silent since it was told the version blocks until somebody takes it out of the group, since else a version
// that stops one of a pair for good would stop the other. If it was told another one, its group waits for a day.
func (r Row) Blocks(version string, p Patience, seen, now time.Time) bool {
	o := r.Offer
	switch {
	case o == nil || r.Retired:
		return false
	case Silent(seen, now):
		until := r.WaitedFor(version, seen)
		return until.IsZero() || now.Before(until)
	case o.State == Installed:
		return seen.Sub(o.Since) < p.Proof
	case o.State == Reverted, o.State == Failed && o.Code.BlamesRelease():
		return o.Version == version
	case o.State == Deferred:
		return false
	case r.TurnAt != nil && r.TurnAt.After(o.Since): // it waited meanwhile, or tries again
		return now.Sub(*r.TurnAt) < p.DecideWithin
	}
	return o.State != Failed && now.Sub(o.Since) < p.DecideWithin
}

// Silent reports whether a box of a group that was heard last at a time is silent.
func Silent(seen, now time.Time) bool { return now.Sub(seen) >= groupSilent }

// WaitedFor is until when the group of a silent box waits for it; zero: until somebody takes it out of the group.
func (r Row) WaitedFor(version string, seen time.Time) time.Time {
	if r.Offer.Version == version {
		return time.Time{}
	}
	return seen.Add(groupGone)
}

// Turn notes what a poll does to the turn of a box in its group. told is set if the box is told to install.
func (r *Row) Turn(p Polled, told bool) {
	switch {
	case p.Waits:
		r.TurnAt = nil
	case p.Turn && told:
		r.TurnAt = &p.At
	}
}
