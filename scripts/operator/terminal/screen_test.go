package terminal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"wavegate/scripts/operator/terminal"
	"wavegate/shared/testing/expect"
)

// text generates what people, boxes and the guard write: words with letters of any width and terminal controls.
var text = rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune("abcé  ;:→日本\u0301\x1b\n\t\u202e")), rapid.Rune()), 0, 200, -1)

// someLines generates lines like those of a view.
var someLines = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) terminal.Line {
	return terminal.Line{
		Mark:  rapid.SampledFrom([]terminal.Mark{"", terminal.Strong, terminal.Red}).Draw(t, "mark"),
		Label: rapid.SampledFrom([]string{"", "guard", "approval"}).Draw(t, "label"),
		Text:  text.Draw(t, "text"),
	}
}), 0, 40)

func TestFit_NoLineIsWiderThanTheScreen_AndNoMoreThanItsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := rapid.IntRange(2, 160).Draw(t, "columns"), rapid.IntRange(1, 50).Draw(t, "rows")
		list := terminal.Fit(someLines.Draw(t, "lines"), someLines.Draw(t, "last"), columns, rows)
		expect.Must(t, len(list) <= rows, "%d lines on %d rows", len(list), rows)
		for _, l := range list {
			if n := runewidth.StringWidth(l.Text); n > columns || strings.ContainsFunc(l.Text, unicode.IsControl) || l.Label != "" {
				t.Fatalf("%q takes %d of %d columns", l.Text, n, columns)
			}
		}
	})
}

// TestWrapped_LosesNothing: a text only loses the blanks at which it was broken.
func TestWrapped_LosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := terminal.Line{Label: "guard", Text: text.Draw(t, "text")}
		var shown strings.Builder
		for _, part := range terminal.Wrapped([]terminal.Line{l}, rapid.IntRange(2, 160).Draw(t, "columns")) {
			shown.WriteString(part.Text)
		}
		dense := func(s string) string { return strings.Join(strings.Fields(terminal.Printable(s)), "") }
		diff := cmp.Diff(dense(l.Label+l.Text), dense(shown.String()))
		expect.Must(t, diff == "", "%v", diff)
	})
}

func TestWrapped_BreaksBetweenWords_AndIndentsPastTheLabel(t *testing.T) {
	for name, c := range map[string]struct {
		line    terminal.Line
		columns int
		want    []string
	}{
		"a label": {terminal.Line{Label: "guard", Text: "wavegate send-back gateway-x/stable"}, 34,
			[]string{"guard     wavegate send-back", "          gateway-x/stable"}},
		"a narrow screen":       {terminal.Line{Label: "guard", Text: "Hold: too few boxes"}, 14, []string{"guard Hold:", "too few boxes"}},
		"a word that is longer": {terminal.Line{Text: "a abcdefghij"}, 8, []string{"a", "abcdefgh", "ij"}},
		"no limit": {terminal.Line{Label: "why", Text: strings.Repeat("x ", 200) + "\n."}, 0,
			[]string{"why       " + strings.Repeat("x ", 200) + " ."}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range terminal.Wrapped([]terminal.Line{c.line}, c.columns) {
				got = append(got, l.Text)
			}
			diff := cmp.Diff(c.want, got)
			expect.That(t, diff == "", "%v", diff)
		})
	}
}

// TestFit_WhatHasToBeSeen_IsOnTheSmallestScreens: the beginning and the keys.
func TestFit_WhatHasToBeSeen_IsOnTheSmallestScreens(t *testing.T) {
	lines, keys := []terminal.Line{{Text: "gateway-x/stable"}}, []terminal.Line{{Text: "H H halt   q quit"}}
	for range 20 {
		lines = append(lines, terminal.Line{Text: "more"})
	}
	for _, rows := range []int{2, 5, 24} {
		list := terminal.Fit(lines, keys, 40, rows)
		expect.That(t, list[0].Text == "gateway-x/stable" && list[len(list)-1].Text == "H H halt   q quit",
			"%d rows show %v", rows, list)
	}
}

func TestCount_AndLength(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1203: "1,203", 1234567: "1,234,567", -1203: "-1,203", -203: "-203"} {
		expect.Equal(t, terminal.Count(n), want, "%d is", n)
	}
	for d, want := range map[time.Duration]string{-time.Second: "0 s", 89 * time.Second: "89 s",
		90 * time.Second: "2 min", 3 * time.Hour: "3 h", 50 * time.Hour: "2 days"} {
		expect.Equal(t, terminal.Length(d), want, "%s is", d)
	}
}

func TestNear_OffersWhatIsSpelledAlike_TheNearestFirst(t *testing.T) {
	channels := []string{"gateway-x/canary", "gateway-x/stable", "gateway-y/stable", "scanner/beta"}
	for wrong, want := range map[string][]string{
		"gateway-x/stabel": {"gateway-x/stable", "gateway-y/stable"},
		"gateway-x/sta":    {"gateway-x/stable"},
		"Gateway-X/Canary": {"gateway-x/canary"},
		"scaner/beta":      {"scanner/beta"},
		"gateway-x/stable": {"gateway-x/stable", "gateway-y/stable"},
		"something/else":   nil,
		"":                 nil,
	} {
		t.Run(fmt.Sprintf("%q", wrong), func(t *testing.T) {
			diff := cmp.Diff(want, terminal.Near(wrong, channels))
			expect.That(t, diff == "", "%v", diff)
		})
	}
}
