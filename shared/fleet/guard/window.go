package guard

import (
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // so that zones are known wherever the service runs

	"wavegate/shared/platform/input"
)

// A Window is when a rollout may be promoted, in the local time of a time zone. It begins on each of some days. If it
// ends at an earlier time of day than it begins, it ends on the next day.
//
// An hour that daylight saving skips does not exist, so a window inside it does not open on that day. A window inside
// an hour that occurs twice opens twice.
type Window struct {
	Days     []string `json:"days"`     // of Days, on which it begins
	From     string   `json:"from"`     // 00:00 to 23:59
	To       string   `json:"to"`       // 00:01 to 24:00
	TimeZone string   `json:"timeZone"` // a name of the IANA time zone database
}

// Days are the names of the days of the week.
var Days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // as time.Weekday counts

// Rules for the parts of a window.
var (
	dayRule  = &input.Text{Pattern: strings.Join(Days, "|"), Says: "mon, tue, wed, thu, fri, sat or sun"}
	fromRule = &input.Text{Pattern: `([01][0-9]|2[0-3]):[0-5][0-9]`, Says: "a time of day from 00:00 to 23:59"}
	toRule   = &input.Text{Pattern: `([01][0-9]|2[0-3]):[0-5][0-9]|24:00`, Says: "a time of day from 00:00 to 24:00"}
	zoneRule = &input.Text{Min: 1, Max: 64, Check: isZone, Says: "a name of the IANA time zone database such as Europe/Berlin or UTC"}
)

func isZone(name string) bool {
	if name == "Local" {
		return false // the machine's own zone
	}
	_, err := time.LoadLocation(name)
	return err == nil
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

// Windows are the windows of a policy. Without any, promotion is always allowed.
type Windows []Window

// Open reports whether one of the windows is open.
func (ws Windows) Open(at time.Time) bool { return ws.open()(at) }

// open loads the zones once, so that many times can be checked.
func (ws Windows) open() func(time.Time) bool {
	zones := make([]*time.Location, len(ws))
	for i, w := range ws {
		zone, err := time.LoadLocation(w.TimeZone)
		if err != nil {
			continue // not reached: a window without faults has a valid zone
		}
		zones[i] = zone
	}
	return func(at time.Time) bool {
		for i, w := range ws {
			if zones[i] != nil && w.open(at.In(zones[i])) {
				return true
			}
		}
		return len(ws) == 0
	}
}

// farthest is how far ahead Opens looks: a week, and one more for a window that daylight saving skips.
const farthest = 15 * 24 * time.Hour

// Opens returns when a window is open next, at or after a time, to the minute, or false if none opens within two weeks.
func (ws Windows) Opens(at time.Time) (time.Time, bool) {
	open := ws.open()
	if open(at) {
		return at, true
	}
	// Zones differ from UTC by whole minutes, so windows open at the beginning of one.
	for t := at.Truncate(time.Minute).Add(time.Minute); t.Sub(at) < farthest; t = t.Add(time.Minute) {
		if open(t) {
			return t, true
		}
	}
	return time.Time{}, false
}
