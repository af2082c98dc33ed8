package publication_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/expect"
)

// TestUntold_OfAnyCount_NamesEachReasonOnce: and only reasons that there are. It fits into a header.
func TestUntold_OfAnyCount_NamesEachReasonOnce(t *testing.T) {
	upTo := regexp.MustCompile(`up to (\d+) of (\d+) boxes`)
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string) int { return rapid.IntRange(0, 3).Draw(t, name) }
		m := publication.Made{Created: rapid.Bool().Draw(t, "new"), Urgent: rapid.Bool().Draw(t, "urgent"), Release: release.Release{Version: "2.0.0"}}
		m.SizeBytes, m.SHA1 = 1, "1"
		m.Requires = rapid.SampledFrom([]string{"", "1.0.0"}).Draw(t, "requires")
		c := &m.Count
		c.Pinned, c.AtClosedPlants = some("pinned"), some("closed")
		c.Versions = []publication.Running{{Version: "0.9.0", Boxes: some("older")}, {Version: "1.0.0", Boxes: some("stone")}, {Version: "2.0.0", Boxes: some("target")}}
		c.Boxes = c.Pinned + c.AtClosedPlants + some("others") + 9
		if rapid.Bool().Draw(t, "counted") {
			c.AsOf = time.Unix(1, 0)
		}
		text := m.Untold()
		has := func(words string, is bool) {
			expect.Must(t, strings.Count(text, words) == map[bool]int{true: 1}[is], "%q has %q: want %t", text, words, is)
		}
		counted := !m.Created && !c.AsOf.IsZero()
		older := m.Requires != "" && c.Versions[0].Boxes > 0
		has("Not counted: how many", !m.Created && c.AsOf.IsZero())
		has(strconv.Itoa(c.Pinned)+" pinned", counted && c.Pinned > 0)
		has(strconv.Itoa(c.AtClosedPlants)+" at plants", counted && c.AtClosedPlants > 0 && !m.Urgent)
		has(strconv.Itoa(c.Versions[0].Boxes)+" that are told 1.0.0 first", counted && older)
		if n := upTo.FindStringSubmatch(text); n != nil {
			untold, all := expect.Value(strconv.Atoi(n[1]))(t), expect.Value(strconv.Atoi(n[2]))(t)
			expect.Must(t, 0 < untold && untold <= all && all == c.Boxes, "%q", text)
		}
		expect.Must(t, !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }), "%q is no header", text)
	})
}
