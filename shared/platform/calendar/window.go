// Package calendar says when something is allowed: in windows of local time, and outside pauses.
package calendar

import (
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/zones"
)

// Hours are when a window is open, in local time. It begins on each of some days. If it ends at an earlier time of day
// than it begins, it ends on the next day.
//
// An hour that daylight saving skips does not exist, so a window inside it does not open on that day. A window inside
// an hour that occurs twice opens twice.
type Hours struct {
	Days []string `json:"days"` // of Days, on which it begins
	From string   `json:"from"` // 00:00 to 23:59
	To   string   `json:"to"`   // 00:01 to 24:00
}

// A Window is open at some hours of a time zone.
type Window struct {
	Days     []string `json:"days"`     // as in Hours
	From     string   `json:"from"`     // as in Hours
	To       string   `json:"to"`       // as in Hours
	TimeZone string   `json:"timeZone"` // a name of the IANA time zone database
}

// Days are the names of the days of the week.
var Days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // as time.Weekday counts

// Rules for the parts of a window.
var (
	dayRule  = &input.Text{Pattern: strings.Join(Days, "|"), Says: "mon, tue, wed, thu, fri, sat or sun"}
	fromRule = &input.Text{Pattern: `([01][0-9]|2[0-3]):[0-5][0-9]`, Says: "a time of day from 00:00 to 23:59"}
	toRule   = &input.Text{Pattern: `([01][0-9]|2[0-3]):[0-5][0-9]|24:00`, Says: "a time of day from 00:00 to 24:00"}
	ZoneRule = &input.Text{Min: 1, Max: 64, Check: isZone, Hint: zoneHint, Says: "a name of the IANA time zone database such as Europe/Berlin or UTC"}
)

func isZone(name string) bool {
	_, ok := zones.Data(name)
	return ok
}

func zoneHint(name string) string {
	if like := zones.Like(name); like != "" {
		return "did you mean " + like + "?"
	}
	return ""
}

// minutes converts a time of day to minutes since midnight.
func minutes(clock string) int {
	if len(clock) != len("00:00") {
		return 0 // not reached: a window without faults has a valid time
	}
	digit := func(i int) int { return int(clock[i] - '0') }
	return 60*(10*digit(0)+digit(1)) + 10*digit(3) + digit(4)
}

// open reports whether the window is open at a local time of its zone.
func (w Window) open(local time.Time) bool {
	from, to, now := minutes(w.From), minutes(w.To), 60*local.Hour()+local.Minute()
	today, yesterday := Days[local.Weekday()], Days[(local.Weekday()+6)%7]
	if from < to {
		return from <= now && now < to && slices.Contains(w.Days, today)
	}
	return now >= from && slices.Contains(w.Days, today) || now < to && slices.Contains(w.Days, yesterday)
}

// ReadHours reads the hours of a window.
func ReadHours(o *input.Object) Hours {
	w := read(o, func() string { return "" })
	return Hours{w.Days, w.From, w.To}
}

// ReadWindow reads a window with its time zone.
func ReadWindow(o *input.Object) Window {
	return read(o, func() string { return o.Text("timeZone", ZoneRule) })
}

func read(o *input.Object, zone func() string) Window {
	days, given := o.OptionalTexts("days", dayRule, 1, len(Days))
	if !given {
		days = slices.Clone(Days)
	}
	w := Window{Days: days, From: o.Text("from", fromRule), To: o.Text("to", toRule), TimeZone: zone()}
	if w.From != "" && w.From == w.To {
		o.Fault("to", "range", "must be another time of day than from; the whole day is 00:00 to 24:00")
	}
	return w
}

// In are the hours in a time zone.
func (h Hours) In(zone string) Window { return Window{h.Days, h.From, h.To, zone} }

// Windows are windows of which one must be open. Without any, it is always allowed.
type Windows []Window

// Open reports whether one of the windows is open.
func (ws Windows) Open(at time.Time) bool { return ws.open(ws.locations(), at) }

// locations loads the zones of the windows once, so that many times can be checked.
func (ws Windows) locations() []*time.Location {
	list := make([]*time.Location, len(ws))
	for i, w := range ws {
		zone, err := zones.Load(w.TimeZone)
		if err != nil {
			continue // not reached: a window without faults has a valid zone
		}
		list[i] = zone
	}
	return list
}

func (ws Windows) open(in []*time.Location, at time.Time) bool {
	for i, w := range ws {
		if in[i] != nil && w.open(at.In(in[i])) {
			return true
		}
	}
	return len(ws) == 0
}

// farthest is how far ahead Opens looks: a week, and one more for a window that daylight saving skips.
const farthest = 15

// Opens returns when a window is open next, at or after a time, or false if none opens within two weeks.
func (ws Windows) Opens(at time.Time) (time.Time, bool) { return ws.next(at, true) }

// Closes returns when no window is open any more, at or after a time, or false if that is not within two weeks.
func (ws Windows) Closes(at time.Time) (time.Time, bool) { return ws.next(at, false) }

// next returns when it is next so that one of the windows is open, or none.
func (ws Windows) next(at time.Time, is bool) (time.Time, bool) {
	in := ws.locations()
	if ws.open(in, at) == is {
		return at, true
	}
	var list []time.Time
	for day := -1; day <= farthest+2; day++ {
		list = append(list, ws.changes(in, at, day)...)
		slices.SortFunc(list, time.Time.Compare)
		complete := at.AddDate(0, 0, day-1).Add(-2 * time.Hour) // a later day of another zone may begin then
		for len(list) > 0 && list[0].Before(complete) {
			if t := list[0]; t.After(at) && ws.open(in, t) == is {
				return t, true
			}
			list = list[1:]
		}
	}
	return time.Time{}, false
}

// changes lists the times at which a window may open or close on a day of its zone, so many days after a time: at its own
// times of day, each as often as it occurs, at midnight, and when clocks are changed. The days are those of the zone: 24
// hours after the last hour of a day, a day of 23 hours is over.
func (ws Windows) changes(in []*time.Location, at time.Time, day int) (list []time.Time) {
	for i, w := range ws {
		if in[i] == nil {
			continue
		}
		y, m, d := at.In(in[i]).Date()
		midnight := time.Date(y, m, d+day, 0, 0, 0, 0, in[i])
		_, before := midnight.AddDate(0, 0, -1).Zone()
		_, after := midnight.AddDate(0, 0, 2).Zone()
		for _, offset := range []int{before, after} {
			for _, minute := range []int{0, minutes(w.From), minutes(w.To)} {
				list = append(list, time.Date(y, m, d+day, 0, minute, -offset, 0, time.UTC))
			}
		}
		if _, changed := midnight.ZoneBounds(); changed.Sub(midnight) < 48*time.Hour {
			list = append(list, changed)
		}
	}
	return list
}
