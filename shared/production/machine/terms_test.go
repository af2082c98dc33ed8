package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A life is a machine, and the hour.
type life struct {
	*testing.T
	machine Machine
	number  int64
	at      time.Time
}

func newLife(t *testing.T) *life {
	return &life{T: t, at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

// gets lets hours pass and changes the classes.
func (l *life) gets(hours int, classes ...string) {
	l.put(hours, Registration{Name: "Press", Classes: append([]string{}, classes...)})
}

func (l *life) put(hours int, r Registration) {
	l.Helper()
	l.at = l.at.Add(time.Duration(hours) * time.Hour)
	l.number++
	next, _, err := l.machine.register("munich-1", "press-1", r, signing{Person{UserID: "eric"}, l.number}, l.at)
	if err != nil {
		l.Fatal(err)
	}
	l.machine = next
}

func (l *life) terms() string {
	var all []string
	for _, t := range l.machine.ClassTerms {
		all = append(all, fmt.Sprint(t.Class, " ", t.From, "-", t.To))
	}
	return strings.Join(all, ", ")
}

func TestTerms_ClassesComeAndGo_AreAllKept(t *testing.T) {
	l := newLife(t)
	l.gets(0, "press", "saw")
	l.gets(1, "pres", "saw")
	l.gets(1, "press", "saw")
	l.put(1, Registration{Name: "Press 1"})
	if got, want := l.terms(), "press 1-2, saw 1-0, pres 2-3, press 3-0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for number, want := range map[int64]string{0: "", 1: "press saw", 2: "saw pres", 3: "saw press"} {
		expect.Equal(t, strings.Join(l.machine.AsOf(number).Classes, " "), want, "at %d:", number)
	}
	expect.That(t, l.machine.Had("press", 0, 1) && !l.machine.Had("press", 2, 2) && l.machine.Had("press", 2, 3),
		"the class is not found when the machine had it")
}

func TestKeeps_ByTheMoment(t *testing.T) {
	days := func(n int) int { return 24 * n }
	for name, c := range map[string]struct {
		live func(*life)
		from int64
		want bool
	}{
		"had it":                     {func(l *life) { l.gets(0, "press") }, 1, true},
		"got it later":               {func(l *life) { l.gets(0, "press") }, 0, false},
		"lost it":                    {func(l *life) { l.gets(0, "press"); l.gets(1) }, 1, false},
		"a typo, corrected":          {func(l *life) { l.gets(0, "press"); l.gets(1, "pres"); l.gets(days(6), "press") }, 1, true},
		"a typo, corrected too late": {func(l *life) { l.gets(0, "press"); l.gets(1, "pres"); l.gets(days(8), "press") }, 1, false},
		"approved during the typo":   {func(l *life) { l.gets(0, "press"); l.gets(1, "pres"); l.gets(1, "press") }, 2, false},
		"two typos, each corrected": {func(l *life) {
			l.gets(0, "press")
			l.gets(1)
			l.gets(days(6), "press")
			l.gets(1)
			l.gets(days(6), "press")
		}, 1, true},
		"two typos, the first too late":  {func(l *life) { l.gets(0, "press"); l.gets(1); l.gets(days(9), "press"); l.gets(1); l.gets(1, "press") }, 1, false},
		"approved between the two typos": {func(l *life) { l.gets(0, "press"); l.gets(1); l.gets(days(9), "press"); l.gets(1); l.gets(1, "press") }, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			c.live(l)
			expect.Equal(t, l.machine.Keeps("press", c.from), c.want, "got")
		})
	}
}

func TestAdmission_CountsForEarlierDecisions(t *testing.T) {
	l := newLife(t)
	l.gets(0, "press")
	l.put(1, Registration{Name: "Press", Admission: "inspected"})
	expect.That(t, l.machine.Admitted("press", 1) && !l.machine.Admitted("press", 2) && !l.machine.Admitted("saw", 1),
		"got %+v", l.machine.Admissions)
	for range maxAdmissions - 1 {
		l.put(1, Registration{Name: "Press", Admission: "again"})
	}
	_, _, err := l.machine.register("munich-1", "press-1", Registration{Name: "Press", Admission: "once more"}, signing{}, l.at)
	expect.That(t, problem.Has(err, problem.Conflict), "got %v", err)
}

// TestTerms_TooMany_AreJoined: no class is forgotten, and a machine that lost a class between counts as if it had kept it.
func TestTerms_TooMany_AreJoined(t *testing.T) {
	l := newLife(t)
	for range 2 * maxTerms {
		l.gets(1, "press")
		l.gets(1, "saw")
	}
	n := len(l.machine.ClassTerms)
	expect.That(t, n <= maxTerms+1, "%d terms", n)
	for number := int64(1); number <= l.number; number++ {
		class := []string{"saw", "press"}[number%2]
		expect.Must(t, l.machine.Had(class, number, number), "%s at %d is forgotten", class, number)
	}
	got := l.machine.EverClasses()
	expect.That(t, slices.Equal(got, []string{"press", "saw"}), "got %v", got)
}
