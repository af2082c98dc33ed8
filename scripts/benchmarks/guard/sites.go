package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
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

// fileUpdates are the updates of a world as they are written.
type fileUpdates struct {
	Zones   []string
	Windows []struct {
		Plants   float64
		Days     []string
		From, To string
	}
	RandomHours []int
	Pauses      []struct {
		Plants     float64
		Start, For string
	}
}

func (r *reader) updates(f *fileUpdates) *updates {
	if f == nil {
		return nil
	}
	u := updates{Zones: f.Zones}
	r.must(len(f.Zones) > 0, "updates: zones must be one or more")
	for _, zone := range f.Zones {
		_, err := zones.Load(zone)
		r.must(err == nil, "%q is not a time zone", zone)
	}
	for _, w := range f.Windows {
		days := w.Days
		if days == nil {
			days = calendar.Days
		}
		r.shares(w.Plants)
		r.must(r.clock(w.From) != r.clock(w.To) && w.From != "24:00", "updates: from and to must be two times of day")
		for _, day := range days {
			r.must(slices.Contains(calendar.Days, day), "%q is not one of %v", day, calendar.Days)
		}
		u.Windows = append(u.Windows, hours{w.Plants, calendar.Hours{Days: days, From: w.From, To: w.To}})
	}
	if f.RandomHours != nil {
		r.must(len(f.RandomHours) == 2 && f.RandomHours[0] >= 1 && slices.IsSorted(f.RandomHours) && f.RandomHours[1] < 24, "randomHours must be two numbers from 1 to 23, the second not less than the first")
		copy(u.RandomHours[:], f.RandomHours)
	}
	for _, p := range f.Pauses {
		r.shares(p.Plants)
		u.Pauses = append(u.Pauses, pause{p.Plants, r.duration(p.Start), r.duration(p.For)})
	}
	return &u
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

// A goingBack is the halt of a rollout that a person raised to a stage at once, with the return of its boxes.
type goingBack struct {
	After  time.Duration
	Stage  int
	Urgent bool
}

type fileReturn struct {
	After  string
	Stage  int
	Urgent bool
}

func (r *reader) urgency(kind, deadline string) release.Urgency {
	u := release.Urgency{Kind: release.Purpose(kind), Deadline: deadline}
	r.must(kind == "" || u.Kind == release.Regular || u.Security(), "kind is %q, not regular or security", kind)
	r.must(deadline == "" || u.Until(time.Time{}) != nil, "deadline must be a number of days, as P3D")
	return u
}

func (r *reader) goingBack(f *fileReturn, p guard.Policy) *goingBack {
	if f == nil {
		return nil
	}
	r.must(f.Stage == 10 || f.Stage == 50, "return: stage must be 10 or 50")
	r.must(p.Mode == guard.Advise, "return: the policy's mode must be advise")
	return &goingBack{r.duration(f.After), f.Stage, f.Urgent}
}
