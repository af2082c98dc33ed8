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

// TestWrapped_NoLineIsWiderThanTheScreen_AndNothingIsLost but the blanks at which a text was broken.
func TestWrapped_NoLineIsWiderThanTheScreen_AndNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := terminal.Line{Label: rapid.SampledFrom([]string{"", "guard", "approval"}).Draw(t, "label"), Text: text.Draw(t, "text")}
		columns := rapid.IntRange(2, 160).Draw(t, "columns")
		var shown strings.Builder
		for _, part := range terminal.Wrapped([]terminal.Line{l}, columns) {
			shown.WriteString(part.Text)
			if n := runewidth.StringWidth(part.Text); n > columns || strings.ContainsFunc(part.Text, unicode.IsControl) {
				t.Fatalf("%q takes %d of %d columns", part.Text, n, columns)
			}
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
