package guard

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/value"
)

// A Duration is a length of time that policies write in ISO 8601. A day is 24 hours.
type Duration time.Duration

// Longest is the longest duration that a policy may name.
const Longest = Duration(30 * 24 * time.Hour)

// durationPattern takes days, hours, minutes and seconds, at least one of them, as whole numbers.
const durationPattern = `P(?:([0-9]{1,4})D)?(?:T(?:([0-9]{1,5})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,8})S)?)?`

var durationForm = regexp.MustCompile(`\A` + durationPattern + `\z`)

// parseDuration reads a duration in ISO 8601.
func parseDuration(text string) (Duration, bool) {
	parts := durationForm.FindStringSubmatch(text)
	if parts == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return 0, false
	}
	var sum time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi(parts[i+1]) // digits or nothing
		sum += time.Duration(n) * unit
	}
	return Duration(sum), true
}

// durationRule is that of a duration of at least some length.
func durationRule(shortest Duration) *value.Text {
	return &value.Text{
		Pattern: durationPattern, Max: 40,
		Says: fmt.Sprintf("a duration from %s to %s, in days, hours, minutes and seconds such as PT2H or P1DT12H (ISO 8601)", shortest, Longest),
		Check: func(text string) bool {
			d, ok := parseDuration(text)
			return ok && d >= shortest && d <= Longest
		},
	}
}

// String is the duration in ISO 8601, in whole seconds.
func (d Duration) String() string {
	seconds := int64(time.Duration(d) / time.Second)
	text := "P"
	if days := seconds / 86400; days > 0 {
		text += strconv.FormatInt(days, 10) + "D"
	}
	rest := seconds % 86400
	if rest == 0 && seconds > 0 {
		return text
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
	return text
}

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(text []byte) error {
	read, ok := parseDuration(string(text))
	if !ok {
		return fmt.Errorf("guard: %q is no duration", text)
	}
	*d = read
	return nil
}

// MarshalText writes the duration in ISO 8601.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
