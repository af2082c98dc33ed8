package report

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
)

// A life is a box that lives, and what a model that keeps everything knows of it.
type life struct {
	*rapid.T
	row  Row
	at   time.Time
	kept []Spell
}

func (l *life) next(next Row) {
	l.kept = append(l.kept, l.row.past(next, l.at)...)
	l.row = next
}

func (l *life) poll(running, told, rollout string) {
	l.at = l.at.Add(time.Duration(rapid.IntRange(1, 48).Draw(l.T, "hours")) * time.Hour)
	next, changed := Next(l.row, Polled{Told: told, RolloutID: rollout, Running: running, Subject: "s", At: l.at})
	if changed {
		l.next(next)
	}
}

// TestPast_ABoxsLife_IsKeptWhole plays lives against the list of all that the box said and was told.
func TestPast_ABoxsLife_IsKeptWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &life{T: t, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		type stay struct{ version, organization string }
		var want []stay
		running, organization := "", "acme"
		register := func(g Registration) {
			l.at = l.at.Add(time.Minute)
			g.EdgeID, g.Channel, g.At = "box", "stable", l.at
			l.next(l.row.Registered(g))
		}
		register(Registration{EdgeType: "g", OrganizationID: organization})
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			version := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "version")
			switch event := rapid.SampledFrom([]string{"poll", "poll", "poll", "moved", "channel"}).Draw(t, "event"); event {
			case "poll":
				if running != version {
					if running != "" {
						want = append(want, stay{running, organization})
					}
					running = version
				}
				l.poll(version, rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "told"), rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "rollout"))
			case "moved":
				if running != "" {
					want = append(want, stay{running, organization})
				}
				running = ""
				organization = map[string]string{"acme": "rival", "rival": "acme"}[organization]
				register(Registration{EdgeType: "g", OrganizationID: organization})
			case "channel":
				register(Registration{EdgeType: "g", OrganizationID: organization, FactoryID: "munich"})
			}
		}
		var got []stay
		var last time.Time
		for _, p := range l.kept {
			expect.Must(t, p.ToldAt != nil || p.RanAt != nil, "neither told nor ran: %+v", p)
			if p.RanAt == nil {
				continue
			}
			got = append(got, stay{p.Version, p.OrganizationID})
			expect.Must(t, !p.RanAt.Before(last), "%+v begins before the stay before has ended at %v", p, last)
			expect.Must(t, p.EndedAt.After(*p.RanAt), "%+v ends before it begins", p)
			last = *p.EndedAt
		}
		expect.Must(t, fmt.Sprint(got) == fmt.Sprint(want), "kept %v, want %v", got, want)
		keys := map[string]bool{}
		for _, p := range l.kept {
			expect.Must(t, !keys[p.Began()], "two stays with the key %s", p.Began())
			keys[p.Began()] = true
		}
	})
}

func TestPast_SaysHowAStayCameAndWentAway(t *testing.T) {
	l := &life{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	l.next(Row{}.Registered(Registration{EdgeID: "box", EdgeType: "g", Channel: "stable", OrganizationID: "acme", At: l.at}))
	poll := func(hour int, running, told, rollout string) {
		l.at = time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
		next, _ := Next(l.row, Polled{Told: told, RolloutID: rollout, Running: running, At: l.at})
		l.next(next)
	}
	poll(1, "1", "2", "r")  // is told 2
	poll(2, "2", "2", "r")  // runs it
	poll(3, "1", "1", "")   // falls back, and is told 1
	poll(4, "1", "3", "")   // is told 3
	poll(5, "1", "4", "r2") // and 4 before it has installed 3
	l.at = l.at.Add(time.Hour)
	l.next(l.row.Registered(Registration{EdgeID: "box", Retired: true, At: l.at}))

	says := func(p Spell) string {
		hour := func(at *time.Time) string {
			if at == nil {
				return "-"
			}
			return fmt.Sprint(at.Hour())
		}
		return fmt.Sprintf("%s by %q told %s ran %s until %d: %s %s", p.Version, p.RolloutID, hour(p.ToldAt), hour(p.RanAt), p.EndedAt.Hour(), p.End, p.Code)
	}
	var got []string
	for _, p := range l.kept {
		got = append(got, says(p))
	}
	expect.Equal(t, fmt.Sprintf("%q", got), fmt.Sprintf("%q", []string{
		`1 by "" told - ran 1 until 2: replaced `,
		`2 by "r" told 1 ran 2 until 3: replaced reverted`,
		`3 by "" told 4 ran - until 5: replaced `,
		`1 by "" told - ran 3 until 6: retired `,
		`4 by "r2" told 5 ran - until 6: retired `,
	}), "the history")
}

// TestPast_ABoxThatChangesAllTheTime_KeepsADaysMost: what is beyond is counted, and the next one that is kept says so.
func TestPast_ABoxThatChangesAllTheTime_KeepsADaysMost(t *testing.T) {
	l := &life{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	l.next(Row{}.Registered(Registration{EdgeID: "box", EdgeType: "g", Channel: "stable", OrganizationID: "acme", At: l.at}))
	for i := range 101 { // 100 stays end
		l.at = l.at.Add(time.Minute)
		next, _ := Next(l.row, Polled{Running: fmt.Sprint(i), At: l.at})
		l.next(next)
	}
	expect.Equal(t, len(l.kept), mostStays, "kept on the first day")
	expect.Equal(t, *l.row.Kept, Kept{Day: "2026-01-01", N: mostStays, Lost: 100 - mostStays}, "counted")
	l.at = l.at.Add(24 * time.Hour)
	next, _ := Next(l.row, Polled{Running: "x", At: l.at})
	l.next(next)
	expect.Equal(t, l.kept[mostStays].Lost, 100-mostStays, "lost before the first one of the next day")
	expect.Equal(t, *l.row.Kept, Kept{Day: "2026-01-02", N: 1}, "counted the next day")
}
