package command

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"wavegate/scripts/operator/api"
)

// text generates what people, boxes and the guard write: words with letters of any width and terminal controls.
var text = rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune("abcé  ;:→日本\u0301\x1b\n\t\u202e")), rapid.Rune()), 0, 200, -1)

// someLines generates lines like those of a view.
var someLines = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) line {
	return line{
		mark:  rapid.SampledFrom([]mark{"", strong, red}).Draw(t, "mark"),
		label: rapid.SampledFrom([]string{"", "guard", "approval"}).Draw(t, "label"),
		text:  text.Draw(t, "text"),
	}
}), 0, 40)

func TestFit_NoLineIsWiderThanTheScreen_AndNoMoreThanItsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := rapid.IntRange(2, 160).Draw(t, "columns"), rapid.IntRange(1, 50).Draw(t, "rows")
		list := fit(someLines.Draw(t, "lines"), someLines.Draw(t, "last"), columns, rows)
		if len(list) > rows {
			t.Fatalf("%d lines on %d rows", len(list), rows)
		}
		for _, l := range list {
			if widthOf(l.text) > columns || strings.ContainsFunc(l.text, unicode.IsControl) || l.label != "" {
				t.Fatalf("%q takes %d of %d columns", l.text, widthOf(l.text), columns)
			}
		}
	})
}

// TestWrapped_LosesNothing: a text only loses the blanks at which it was broken.
func TestWrapped_LosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := line{label: "guard", text: text.Draw(t, "text")}
		var shown strings.Builder
		for _, part := range wrapped([]line{l}, rapid.IntRange(2, 160).Draw(t, "columns")) {
			shown.WriteString(part.text)
		}
		dense := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(printable(s), "\n", ""), " ", "") }
		if got, want := dense(shown.String()), dense(l.label+l.text); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

// TestFit_WhatHasToBeSeen_IsOnTheSmallestScreens: the channel and the keys.
func TestFit_WhatHasToBeSeen_IsOnTheSmallestScreens(t *testing.T) {
	keys := []line{{"", "", "H H halt   q quit"}}
	for _, rows := range []int{2, 5, 24} {
		list := fit(judged("hold", "SOAKING").lines(40, time.Now()), keys, 40, rows)
		if !strings.HasPrefix(list[0].text, "gateway-x/stable") || list[len(list)-1].text != "H H halt   q quit" {
			t.Errorf("%d rows show %v", rows, list)
		}
	}
}

// TestTable_EachCountIsOnce: the stages add up to the total, on a wide screen and on a narrow one.
func TestTable_EachCountIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := judged("hold", "SOAKING")
		some := rapid.IntRange(0, 200_000)
		for i := range v.progress.Stages {
			s := &v.progress.Stages[i]
			*s = api.StageProgress{Percent: s.Percent, NotYetPolled: some.Draw(t, "waiting"), Offered: some.Draw(t, "offered"), Working: some.Draw(t, "working"),
				Deferred: some.Draw(t, "deferred"), Installed: some.Draw(t, "installed"), Failed: some.Draw(t, "failed"), Reverted: some.Draw(t, "reverted")}
			s.Expected = s.NotYetPolled + s.OnItsWay() + s.Installed + s.Failed + s.Reverted
			if s.Told() != s.OnItsWay()+s.Installed+s.Failed+s.Reverted {
				t.Fatalf("%d were told of %+v", s.Told(), s)
			}
		}
		sum := v.progress.Total()
		for _, columns := range []int{40, 140} {
			table := v.table(columns)
			if len(table) != 6 || !strings.HasPrefix(table[3], "so far") {
				t.Fatalf("the table is %q", table)
			}
			for _, n := range []int{sum.Expected, sum.Installed, sum.Failed, sum.Reverted} {
				if !strings.Contains(table[3], count(n)) {
					t.Fatalf("%d is not in %q", n, table[3])
				}
			}
		}
	})
}

func TestCount_AndLength(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1203: "1,203", 1234567: "1,234,567", -1203: "-1,203", -203: "-203"} {
		if got := count(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-time.Second: "0 s", 89 * time.Second: "89 s", 90 * time.Second: "2 min", 3 * time.Hour: "3 h", 50 * time.Hour: "2 days"} {
		if got := length(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
