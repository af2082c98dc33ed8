package terminal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agext/levenshtein"
)

// Count formats a number with separators: 1,203.
func Count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Noun returns the noun for a number of things.
func Noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Boxes is a number of boxes.
func Boxes(n int) string { return fmt.Sprint(n, Noun(n, " box", " boxes")) }

// Length formats a duration in the largest unit of which it has at least a few.
func Length(d time.Duration) string {
	switch d = max(d, 0).Round(time.Second); {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 36*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

const minutes = "2006-01-02 15:04"

// Clock formats a time of today, and adds the date to any other.
func Clock(at time.Time) string {
	if text := Dated(at); !strings.HasPrefix(text, time.Now().Format(time.DateOnly)) {
		return text
	}
	return at.Local().Format("15:04")
}

// Dated formats a time with its date.
func Dated(at time.Time) string { return at.Local().Format(minutes) }

// OrDash is a text, or a dash if it is empty.
func OrDash[T ~string](text T) string {
	if text == "" {
		return "-"
	}
	return string(text)
}

// ByCount lists the keys with the highest numbers first.
func ByCount[K cmp.Ordered](counts map[K]int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
}

// mostNear is the most names that are offered instead of one that does not exist.
const mostNear = 3

// DidYouMean offers the names that are most similar to one that does not exist; empty if there are none.
func DidYouMean(wrong string, names []string) string {
	list := Near(wrong, names)
	if len(list) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(list, " or ") + "?"
}

// Near returns the names that are most similar to another one, the most similar first. At most a third of their
// letters differ, and hardly more than in the most similar one. A name with the other one as its beginning is also
// similar.
func Near(wrong string, names []string) (list []string) {
	away := map[string]int{}
	for _, name := range names {
		n := levenshtein.Distance(strings.ToLower(wrong), strings.ToLower(name), nil)
		if wrong != "" && strings.HasPrefix(name, wrong) {
			n = 1
		}
		if _, twice := away[name]; !twice && n <= max(2, len(wrong)/3) && n < len(wrong) {
			away[name], list = n, append(list, name)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return away[a] - away[b] })
	list = list[:min(len(list), mostNear)]
	return slices.DeleteFunc(list, func(name string) bool { return away[name] > away[list[0]]+1 })
}
