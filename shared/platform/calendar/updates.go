package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/zones"
)

// Updates say when the boxes of a plant may be told a version that they do not run. The zero Updates allow it always.
type Updates struct {
	TimeZone string  `json:"timeZone,omitempty"`
	Windows  []Hours `json:"windows,omitempty"`
	// PausedUntil is the end of the last pause, and Reason why there is one.
	PausedUntil *time.Time `json:"pausedUntil,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	// Pauses are those of the last 30 days, the last one included.
	Pauses []Pause `json:"pauses,omitempty"`
	// OptOut keeps releases from the boxes, whatever their haste; nil: none.
	OptOut *OptOut `json:"optOut,omitempty"`
	// OpensAtDeadline is set if windows do not count for a security release after its deadline.
	OpensAtDeadline bool `json:"opensAtDeadline,omitempty"`
}

// A Pause is a time in which a plant takes no updates.
type Pause struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// Limits of windows and pauses.
const (
	mostHours    = 14
	longestPause = 14 * 24 * time.Hour
	pauseWindow  = 30 * 24 * time.Hour // of which at most longestPause may be paused
	mostPauses   = 30                  // in a pauseWindow, because a factory and its events hold all of them
	minutesADay  = 24 * 60
)

// An UpdatesRequest is what a caller wants of a plant's updates; nil keeps a value.
type UpdatesRequest struct {
	TimeZone    *string
	Windows     *[]Hours
	PausedUntil *string // empty ends the pause
	Reason      string
	OptOut      *OptOut // with no Of: it ends
	AtDeadline  *bool
	By          Signer // whoever asks
}

// ReadUpdates reads what a body wants of a plant's updates. reasons is the rule for the reason of a pause.
func ReadUpdates(o *input.Object, reasons *input.Text) UpdatesRequest {
	var q UpdatesRequest
	if zone, given := o.OptionalText("timeZone", ZoneRule); given {
		q.TimeZone = &zone
	}
	hours := []Hours{}
	if o.OptionalObjects("windows", 0, mostHours, func(w *input.Object) { hours = append(hours, ReadHours(w)) }) {
		q.Windows = &hours
		for i := range hours {
			if slices.ContainsFunc(hours[:i], hours[i].overlaps) {
				o.FaultIn("windows", i, "overlap", "must not overlap an earlier window")
			}
		}
	}
	q.PausedUntil = o.ClearableText("pausedUntil", input.Time)
	reason, given := o.OptionalText("reason", reasons)
	q.Reason = reason
	switch {
	case q.PausedUntil == nil && given:
		o.Fault("reason", "exclusive", "is only allowed with pausedUntil")
	case q.PausedUntil != nil && *q.PausedUntil != "" && !given:
		o.Fault("reason", "required", "is required with pausedUntil")
	}
	if deadline, given := o.OptionalBoolean("opensAtDeadline"); given {
		q.AtDeadline = &deadline
	}
	q.OptOut = readOptOut(o, reasons)
	return q
}

// spans are the minutes of a week, from Sunday on, in which the hours are, without regard to changes of clocks.
func (h Hours) spans() (list [][2]int) {
	from, to := minutes(h.From), minutes(h.To)
	if from == to {
		return nil // faulty
	}
	if to <= from {
		to += minutesADay
	}
	for _, day := range h.Days {
		begin := slices.Index(Days, day) * minutesADay
		list = append(list, [2]int{begin + from, begin + to})
	}
	return list
}

// overlaps reports whether two windows are open at the same time, also from one week to the next.
func (h Hours) overlaps(other Hours) bool {
	for _, a := range h.spans() {
		for _, b := range other.spans() {
			for _, week := range []int{-7 * minutesADay, 0, 7 * minutesADay} {
				if a[0] < b[1]+week && b[0]+week < a[1] {
					return true
				}
			}
		}
	}
	return false
}

// With returns the updates after a request at a time, or VALIDATION_FAILED with all faults that depend on the present ones.
// Nil updates are none.
func (u *Updates) With(q UpdatesRequest, at time.Time) (*Updates, error) {
	next := Updates{}
	if u != nil {
		next = *u
	}
	var faults []problem.Fault
	if q.TimeZone != nil {
		next.TimeZone = *q.TimeZone
	}
	if q.Windows != nil {
		next.Windows = nil
		if len(*q.Windows) > 0 { // omit an empty list: the embedded store cannot store one
			next.Windows = *q.Windows
		}
	}
	if len(next.Windows) > 0 && next.TimeZone == "" {
		faults = append(faults, problem.Fault{Pointer: "/updates/timeZone", Code: "required", Detail: "is required with windows"})
	}
	if q.PausedUntil != nil {
		if fault := next.pause(*q.PausedUntil, q.Reason, at); fault != "" {
			faults = append(faults, problem.Fault{Pointer: "/updates/pausedUntil", Code: "range", Detail: fault})
		}
	}
	if q.AtDeadline != nil {
		next.OpensAtDeadline = *q.AtDeadline
	}
	if q.OptOut != nil {
		var fault string
		if next.OptOut, fault = next.OptOut.with(*q.OptOut, q.By, at); fault != "" {
			faults = append(faults, problem.Fault{Pointer: "/updates/optOut/until", Code: "range", Detail: fault})
		}
	}
	if len(faults) > 0 {
		return u, problem.Invalid(faults)
	}
	return &next, nil
}

// pause sets or ends the pause. It returns what is wrong with its end; empty: nothing.
func (u *Updates) pause(until, reason string, at time.Time) (fault string) {
	var past []Pause
	began := at
	for _, p := range u.Pauses {
		switch {
		case p.Until.After(at): // the present one, which is replaced
			began = p.From
		case p.Until.After(at.Add(-pauseWindow)):
			past = append(past, p)
		}
	}
	u.PausedUntil, u.Reason, u.Pauses = nil, "", past
	if until == "" {
		if at.After(began) {
			u.Pauses = append(past, Pause{began, at})
		}
		return ""
	}
	end := input.ParseTime(until).Truncate(time.Millisecond)
	switch {
	case !end.After(at):
		return "must be in the future; null ends a pause"
	case end.Sub(at) > longestPause:
		return "must be at most 14 days ahead"
	case len(past) >= mostPauses:
		return fmt.Sprintf("must be the end of one of at most %d pauses in 30 days", mostPauses)
	}
	now := Pause{began, end}
	used := time.Duration(0)
	for _, p := range append(slices.Clone(past), now) {
		inside := min(p.Until.Sub(p.From), p.Until.Sub(end.Add(-pauseWindow)))
		used += max(0, inside)
	}
	if used > longestPause {
		return fmt.Sprintf("must leave at most 14 paused days in 30; with this pause there would be %.1f", used.Hours()/24)
	}
	u.PausedUntil, u.Reason, u.Pauses = &end, reason, append(past, now)
	return ""
}

// A Haste is what a release may pass by.
type Haste struct {
	Urgent   bool       `json:"urgent,omitempty"`   // windows and pauses
	Deadline *time.Time `json:"deadline,omitempty"` // pauses, from then on; nil: none
	Security bool       `json:"security,omitempty"` // an opt-out of ordinary releases
}

// late reports whether a release with a deadline is past it.
func (h Haste) late(at time.Time) bool { return h.Deadline != nil && !h.Deadline.After(at) }

// What a box waits for.
const (
	ForWindow = "window"
	ForPause  = "pause"
	ForGroup  = "group"
	ForOptOut = "opt-out"
)

// A Wait says why the boxes of a plant are told nothing new now, and until when; the zero Wait: they are told.
type Wait struct {
	For string
	// Opens is when the plant opens next, and Closes when it closes again; zero: not within two weeks, or nobody has said.
	Opens, Closes time.Time
	// Overdue is set if a security release is past its deadline and waits for a window.
	Overdue bool
}

// OpensAt is Opens as answers show it; nil: not within two weeks.
func (w Wait) OpensAt() *time.Time {
	if w.Opens.IsZero() {
		return nil
	}
	return &w.Opens
}

// TimeZones is the release of the time zone database by which OpensAt is computed; empty without it.
func (w Wait) TimeZones() string {
	if w.Opens.IsZero() {
		return ""
	}
	return zones.Release()
}

// Wait is for how long a release waits for a plant.
func (u *Updates) Wait(h Haste, at time.Time) (w Wait) {
	if u == nil {
		return w
	}
	if o := u.OptOut; o.keeps(h, at) {
		if o.Until != nil {
			if w = u.Wait(h, *o.Until); w.For == "" {
				w.Opens = *o.Until
			}
		}
		return Wait{For: ForOptOut, Opens: w.Opens, Closes: w.Closes}
	}
	ends := u.OpensAtDeadline && h.Security && h.Deadline != nil
	if h.Urgent || ends && h.late(at) {
		return w
	}
	ready := at
	if u.PausedUntil != nil && u.PausedUntil.After(at) && !h.late(at) {
		w.For, ready = ForPause, *u.PausedUntil
		if h.Deadline != nil && h.Deadline.Before(ready) {
			ready = *h.Deadline
		}
	}
	windows := u.windows()
	if w.For == "" && windows.Open(at) {
		return w
	}
	w.For = cmp.Or(w.For, ForWindow)
	w.Overdue = h.Security && h.late(at)
	if opens, ok := windows.Opens(ready); ok {
		w.Opens = opens
		w.Closes, _ = windows.Closes(opens)
	}
	if ends && (w.Opens.IsZero() || h.Deadline.Before(w.Opens)) {
		w.Opens, w.Closes = *h.Deadline, time.Time{}
	}
	return w
}

func (u *Updates) windows() (ws Windows) {
	for _, h := range u.Windows {
		ws = append(ws, h.In(u.TimeZone))
	}
	return ws
}

// Windowed reports whether there are windows.
func (u *Updates) Windowed() bool { return u != nil && len(u.Windows) > 0 }

// A plant without windows opens for an hour, as far as its boxes spread.
const usualWindow = time.Hour

// Until is how long a box waits for the opening: the boxes of a plant come one after another in the first tenth of its
// window. place is the box's, of 2^32. It is at most an interval.
func (w Wait) Until(interval time.Duration, place uint32, at time.Time) time.Duration {
	if w.Opens.IsZero() {
		return interval
	}
	length := usualWindow
	if !w.Closes.IsZero() {
		length = w.Closes.Sub(w.Opens)
	}
	own := w.Opens.Add(time.Duration(float64(length/10) * (float64(place) / (1 << 32))))
	return min(interval, max(own.Sub(at), time.Second))
}
