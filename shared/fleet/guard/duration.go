package guard

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"wavegate/shared/platform/input"
)

// A Duration is a length of time as policies write it, in ISO 8601 and whole seconds. A day is 24 hours. It is stored
// in the form in which it is shown. The empty one has no length.
type Duration string

// Longest is the longest duration that a policy may contain.
const Longest = 30 * 24 * time.Hour

// durationPattern takes days, hours, minutes and seconds, at least one of them, as whole numbers.
const durationPattern = `P(?:([0-9]{1,4})D)?(?:T(?:([0-9]{1,5})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,8})S)?)?`

// durationForm is compiled at its first use, to keep every function's start-up short.
var durationForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A` + durationPattern + `\z`) })

// ParseDuration reads a duration in ISO 8601, and reports whether it is one.
func ParseDuration(text string) (time.Duration, bool) {
	parts := durationForm().FindStringSubmatch(text)
	if parts == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return 0, false
	}
	var sum time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi(parts[i+1]) // digits or nothing
		sum += time.Duration(n) * unit
	}
	return sum, true
}

// durationRule accepts durations of at least some length.
func durationRule(shortest time.Duration) *input.Text {
	return &input.Text{
		Pattern: durationPattern, Max: 40,
		Says: fmt.Sprintf("a duration from %s to %s, in days, hours, minutes and seconds such as PT2H or P1DT12H (ISO 8601)", Lasting(shortest), Lasting(Longest)),
		Check: func(text string) bool {
			d, ok := ParseDuration(text)
			return ok && d >= shortest && d <= Longest
		},
	}
}

// Length converts the duration to Go's type.
func (d Duration) Length() time.Duration {
	length, _ := ParseDuration(string(d))
	return length
}

// Lasting makes a duration of a length, in whole seconds.
func Lasting(length time.Duration) Duration {
	seconds := int64(length / time.Second)
	text := "P"
	if days := seconds / 86400; days > 0 {
		text += strconv.FormatInt(days, 10) + "D"
	}
	rest := seconds % 86400
	if rest == 0 && seconds > 0 {
		return Duration(text)
	}
	text += "T"
	for _, part := range []struct {
		n    int64
		unit string
	}{{rest / 3600, "H"}, {rest / 60 % 60, "M"}, {rest % 60, "S"}} {
		if part.n > 0 {
			text += strconv.FormatInt(part.n, 10) + part.unit
		}
	}
	if seconds == 0 {
		text += "0S"
	}
	return Duration(text)
}
