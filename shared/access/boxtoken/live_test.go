package boxtoken_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A model keeps every token that was ever given, with its whole history, and derives which are valid.
type model struct {
	given []given // in order; the last one is the current one
}

type given struct {
	sha256 string
	used   time.Time // of the first call with it while it was the current one
	ended  time.Time // when it was replaced
	void   bool
}

func (m *model) replace(sha256 string, at time.Time) {
	if n := len(m.given); n > 0 && m.given[n-1].sha256 == sha256 {
		return
	} else if n > 0 {
		last := &m.given[n-1]
		last.ended = at
		if last.used.IsZero() {
			m.given = m.given[:n-1] // as if it had never been
		} else {
			for i := range m.given[:n-1] {
				m.given[i].void = true
			}
		}
	}
	for i := range m.given {
		if m.given[i].sha256 == sha256 {
			m.given[i].void = true
		}
	}
	m.given = append(m.given, given{sha256: sha256})
	m.lapse(at)
}

// lapse removes tokens that are over: a replaced token never becomes valid again.
func (m *model) lapse(at time.Time) {
	for i := range m.given {
		m.given[i].void = m.given[i].void || !m.live(i, at)
	}
}

func (m *model) live(i int, at time.Time) bool {
	last := len(m.given) - 1
	if i == last {
		return true
	}
	g, current := m.given[i], m.given[last]
	return !g.void && at.Sub(g.ended) < 30*24*time.Hour && (current.used.IsZero() || at.Sub(current.used) < 24*time.Hour)
}

func (m *model) valid(sha256 string, at time.Time) bool {
	for i := range m.given {
		if m.given[i].sha256 == sha256 && m.live(i, at) {
			return true
		}
	}
	return false
}

func (m *model) call(sha256 string, at time.Time) {
	if n := len(m.given); n > 0 && m.given[n-1].sha256 == sha256 && m.given[n-1].used.IsZero() {
		m.given[n-1].used = at
	}
}

// TestLive_AnyHistory_AcceptsWhatTheRuleSays: a new token is valid immediately. The previous one is valid until 24
// hours after the first call with the new one, and for 30 days at most. At most two are valid, and use is noted once a
// day.
func TestLive_AnyHistory_AcceptsWhatTheRuleSays(t *testing.T) {
	hashes := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		var live boxtoken.Live
		var m model
		now, noted := noon, time.Time{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 15*24).Draw(t, "hours")) * time.Hour)
			sha256 := rapid.SampledFrom(hashes).Draw(t, "hash")
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				live, _ = live.Replace(sha256, now)
				m.replace(sha256, now)
			case 1, 2, 3:
				next, changed := live.Used(sha256, now)
				if !m.valid(sha256, now) && changed {
					t.Fatal("a call with an invalid token was noted")
				}
				if m.valid(sha256, now) {
					if first := live.FirstUsedAt == nil && sha256 == live.Current; changed && !first && now.Sub(noted) < 24*time.Hour {
						t.Fatalf("noted at %s and at %s", noted, now)
					}
					if changed {
						noted = now
					}
					expect.Must(t, now.Sub(*next.LastUsedAt) < 24*time.Hour,
						"a call at %s is known as one at %s", now, next.LastUsedAt)
					m.call(sha256, now)
				}
				live = next
			default:
				if rapid.IntRange(0, 5).Draw(t, "ends") == 0 {
					live, m = boxtoken.Live{}, model{}
				}
			}
			accepted := 0
			for _, h := range hashes {
				if live.Accepts(h, now) {
					accepted++
				}
				if live.Accepts(h, now) != m.valid(h, now) {
					t.Fatalf("%s: accepted %v, and the model says %v: %+v", h, live.Accepts(h, now), m.valid(h, now), m.given)
				}
			}
			expect.Must(t, accepted <= 2 && live.Exists() == (accepted > 0), "%d tokens are valid", accepted)
		}
	})
}

func TestLive_NewToken_IsValidAtOnce_AndTheOldOneUntilADayAfterItsFirstUse(t *testing.T) {
	live, _ := boxtoken.Live{}.Replace("old", noon)
	live, _ = live.Used("old", noon)
	live, _ = live.Replace("new", noon)
	if !live.Accepts("new", noon) || !live.Accepts("old", noon.Add(30*24*time.Hour-1)) || live.Accepts("old", noon.Add(30*24*time.Hour)) {
		t.Fatal("before the first use both are valid, and the old one for 30 days")
	}
	live, _ = live.Used("new", noon.Add(time.Hour))
	expect.That(t, live.Accepts("old", noon.Add(25*time.Hour-1)) && !live.Accepts("old", noon.Add(25*time.Hour)),
		"after the first use the old one is valid for 24 hours")
}

func TestLive_NewTokenThatWasNotUsed_IsReplaced_AndTheOldOneStays(t *testing.T) {
	live, _ := boxtoken.Live{}.Replace("old", noon)
	live, _ = live.Used("old", noon)
	live, _ = live.Replace("lost", noon)
	live, _ = live.Replace("new", noon.Add(time.Hour))
	if live.Accepts("lost", noon.Add(time.Hour)) || !live.Accepts("old", noon.Add(time.Hour)) || !live.Accepts("new", noon.Add(time.Hour)) {
		t.Errorf("accepted by %+v", live)
	}
	expect.That(t, !live.Accepts("old", noon.Add(30*24*time.Hour)), "a further replacement prolongs the old token")
	_, changed := live.Replace("new", noon.Add(2*time.Hour))
	expect.That(t, !changed, "the same hash again changes something")
}

func TestLive_NoToken_AcceptsNothing(t *testing.T) {
	expect.That(t, !(boxtoken.Live{}).Accepts("", noon), "an empty hash is accepted")
}
