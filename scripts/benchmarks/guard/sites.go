package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/zones"
)

// Updates say when the plants of a world take updates.
type updates struct {
	Zones   []string // each plant is in one of them, in turn
	Windows []hours  // each of a share of the plants that have none yet
	// RandomHours are the least and the most hours of a window of every other plant, at a random time of day; 0: they take
	// updates always.
	RandomHours [2]int
	Pauses      []pause
}

type hours struct {
	Plants float64
	calendar.Hours
}

// A pause of a share of the plants.
type pause struct {
	Plants     float64
	Start, For time.Duration
}

// A site is when a plant takes updates. Its updates change when a pause begins.
type site struct {
	updates calendar.Updates
	pauses  []calendar.Pause
	zone    *time.Location
	// shut are known results of first.
	shut []shutTime
}

// A shutTime is a time in which a plant takes no release, up to its end.
type shutTime struct {
	from, to time.Time
	deadline bool // of those with one
}

// quarters are the quarters of an hour of a day.
const quarters = 24 * 4

// sites draws when each plant takes updates.
func (w world) sites(r *rand.Rand) []site {
	list := make([]site, w.Plants)
	u := w.Updates
	if u == nil {
		return list
	}
	clock := func(quarter int) string { return fmt.Sprintf("%02d:%02d", quarter%quarters/4, quarter%4*15) }
	order := r.Perm(w.Plants)
	for i := range list {
		s := &list[i]
		s.updates.TimeZone = u.Zones[i%len(u.Zones)]
		s.zone, _ = zones.Load(s.updates.TimeZone)
		if least := u.RandomHours[0]; least > 0 {
			from, long := r.IntN(quarters), 4*least+r.IntN(4*(u.RandomHours[1]-least)+1)
			s.updates.Windows = []calendar.Hours{{Days: calendar.Days, From: clock(from), To: clock(from + long)}}
		}
	}
	for _, h := range u.Windows {
		n := chosen(h.Plants, w.Plants)
		for _, plant := range order[:min(n, len(order))] {
			list[plant].updates.Windows = []calendar.Hours{h.Hours}
		}
		order = order[min(n, len(order)):]
	}
	for _, p := range u.Pauses {
		from := w.Start.Add(p.Start)
		for _, plant := range r.Perm(w.Plants)[:chosen(p.Plants, w.Plants)] {
			list[plant].pauses = append(list[plant].pauses, calendar.Pause{From: from, Until: from.Add(p.For)})
		}
	}
	return list
}

// at returns the updates as the service knows them at a time; nil if the plant never said anything.
func (s *site) at(at time.Time) *calendar.Updates {
	if s.zone == nil {
		return nil
	}
	u := s.updates
	for _, p := range s.pauses {
		if !p.From.After(at) && p.Until.After(at) {
			u.PausedUntil = &p.Until
		}
	}
	return &u
}

// open reports whether the plant takes a release at a time. It is not the service's rule, but a plain one to check that by:
// what a clock on the wall shows.
func (s *site) open(at time.Time, h calendar.Haste) bool {
	if s.zone == nil || h.Urgent {
		return true
	}
	for _, p := range s.pauses {
		if !at.Before(p.From) && at.Before(p.Until) && (h.Deadline == nil || at.Before(*h.Deadline)) {
			return false
		}
	}
	local := at.In(s.zone)
	clock, today, yesterday := local.Format("15:04"), calendar.Days[local.Weekday()], calendar.Days[(local.Weekday()+6)%7]
	for _, w := range s.updates.Windows {
		began, ends := w.From <= clock && slices.Contains(w.Days, today), clock < w.To
		if w.From < w.To && began && ends || w.From > w.To && (began || ends && slices.Contains(w.Days, yesterday)) {
			return true
		}
	}
	return len(s.updates.Windows) == 0
}

// first returns the first time from a given one on at which the plant takes a release, minute by minute; false: not within
// four weeks.
func (s *site) first(from time.Time, h calendar.Haste) (time.Time, bool) {
	if s.open(from, h) {
		return from, true
	}
	for _, known := range s.shut {
		if known.deadline == (h.Deadline != nil) && !from.Before(known.from) && from.Before(known.to) {
			return known.to, true
		}
	}
	at := from.Truncate(time.Minute)
	for end := from.AddDate(0, 0, 28); at.Before(end); {
		if at = at.Add(time.Minute); s.open(at, h) {
			s.shut = append(s.shut, shutTime{from, at, h.Deadline != nil})
			return at, true
		}
	}
	return time.Time{}, false
}

// usualUpdates are what -windows gives the plants of a world.
func usualUpdates() *updates {
	return &updates{RandomHours: [2]int{2, 8}, Zones: []string{"Europe/Berlin", "America/New_York", "Asia/Tokyo", "America/Los_Angeles", "Asia/Kolkata", "Australia/Sydney",
		"Europe/London", "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Auckland", "Africa/Casablanca"}}
}

// A goingBack is the halt of a rollout that a person raised to a stage at once, with the return of its boxes. Some time after that,
// the version is rolled out again with another policy.
type goingBack struct {
	After  time.Duration
	Stage  int
	Urgent bool
	Again  time.Duration // 0: never
	Policy guard.Policy
}

// ends reports whether nothing follows a rollout that has ended.
func (g *goingBack) ends(now time.Duration) bool {
	return g == nil || g.Again == 0 || now > g.After+g.Again
}
