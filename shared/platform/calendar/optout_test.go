package calendar_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// anything draws windows, a pause and an opt-out, each of them or none, and what asks to pass them, around a time.
func anything(t *rapid.T) (*calendar.Updates, calendar.Haste, time.Time) {
	at := monday.Add(time.Duration(rapid.IntRange(0, 20*24*60).Draw(t, "minute")) * time.Minute)
	moment := func(label string) *time.Time {
		if rapid.Bool().Draw(t, label+" is") {
			return nil
		}
		return new(at.Add(time.Duration(rapid.IntRange(-72, 72).Draw(t, label)) * time.Hour))
	}
	u := &calendar.Updates{TimeZone: "Europe/Berlin", PausedUntil: moment("pause"), OpensAtDeadline: rapid.Bool().Draw(t, "opens at the deadline")}
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		u.Windows = append(u.Windows, calendar.Hours{Days: []string{rapid.SampledFrom(calendar.Days).Draw(t, "day")}, From: "04:00", To: "08:00"})
	}
	if rapid.Bool().Draw(t, "opts out") {
		u.OptOut = &calendar.OptOut{Of: rapid.SampledFrom([]calendar.Scope{calendar.OfOrdinary, calendar.OfAll}).Draw(t, "of"), Until: moment("until")}
	}
	h := calendar.Haste{Urgent: rapid.Bool().Draw(t, "urgent"), Security: rapid.Bool().Draw(t, "security"), Deadline: moment("deadline")}
	return u, h, at
}

// TestWait_OptedOut_NothingPassesButSecurity: not even what is urgent or past its deadline. Without the opt-out, all is as if there
// had been none.
func TestWait_OptedOut_NothingPassesButSecurity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, h, at := anything(t)
		without := *u
		without.OptOut = nil
		got, o := u.Wait(h, at), u.OptOut
		if o == nil || o.Until != nil && !o.Until.After(at) || o.Of == calendar.OfOrdinary && h.Security {
			expect.Equal(t, got, without.Wait(h, at), "what holds without it")
			return
		}
		expect.Equal(t, got.For, calendar.ForOptOut, "waits for")
		expect.That(t, !got.Overdue, "who opted out is overdue")
		if o.Until == nil {
			expect.That(t, got.Opens.IsZero(), "it opens at %s", got.Opens)
			return
		}
		if then := without.Wait(h, *o.Until); then.For == "" {
			expect.Equal(t, got.Opens, *o.Until, "opens")
		} else {
			expect.Equal(t, got.Opens, then.Opens, "opens")
		}
	})
}

// TestWait_ADeadlineBoundsPauses_AndWindowsWhereThePlantSaysSo: a security release that waits for a window after its deadline is
// overdue, and no other is.
func TestWait_ADeadlineBoundsPauses_AndWindowsWhereThePlantSaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, h, at := anything(t)
		u.OptOut = nil
		got := u.Wait(h, at)
		late := h.Deadline != nil && !h.Deadline.After(at)
		bounds := u.OpensAtDeadline && h.Security
		expect.That(t, !late || got.For != calendar.ForPause, "a pause counts after the deadline")
		expect.That(t, !late || !bounds || got.For == "", "it waits for a %s after the deadline", got.For)
		expect.Equal(t, got.Overdue, late && h.Security && got.For != "", "overdue")
		if bounds && h.Deadline != nil && got.For != "" {
			expect.That(t, !got.Opens.IsZero() && !got.Opens.After(*h.Deadline), "it opens at %s, after the deadline %s", got.Opens, h.Deadline)
		}
		if got.For != "" && !got.Opens.IsZero() {
			expect.Equal(t, u.Wait(h, got.Opens).For, "", "waits when it opens, for")
		}
	})
}

func TestWithin_NoMoreThanTheManufacturerAllows(t *testing.T) {
	for _, c := range [][3]calendar.Scope{
		{"all", "", "all"}, {"all", "all", "all"}, {"all", "ordinary", "ordinary"}, {"all", "none", ""},
		{"ordinary", "", "ordinary"}, {"ordinary", "all", "ordinary"}, {"ordinary", "ordinary", "ordinary"}, {"ordinary", "none", ""},
	} {
		u := &calendar.Updates{OptOut: &calendar.OptOut{Of: c[0]}}
		got := u.Within(c[1]).OptOut
		expect.That(t, got == nil && c[2] == "" || got != nil && got.Of == c[2], "%v: %+v", c, got)
		expect.Equal(t, u.OptOut.Of, c[0], "the plant's own")
	}
}

func TestWith_AnOptOut_IsSignedOnce(t *testing.T) {
	anna, ben := calendar.Signer{Issuer: "i", UserID: "anna"}, calendar.Signer{Issuer: "i", UserID: "ben"}
	says := func(text string, by calendar.Signer) calendar.UpdatesRequest {
		q, faults := read(text)
		expect.That(t, len(faults) == 0, "%s has %v", text, faults)
		q.By = by
		return q
	}
	const text = `{"optOut":{"of":"all","reason":"certified","until":"2026-04-01T00:00:00+02:00"}}`
	first := expect.Value((*calendar.Updates)(nil).With(says(text, anna), monday))(t)
	again := expect.Value(first.With(says(text, ben), monday.Add(day)))(t)
	expect.Equal(t, *again.OptOut, *first.OptOut, "said again")
	expect.That(t, first.OptOut.By == anna && first.OptOut.At.Equal(monday), "signed %+v", first.OptOut)
	other := expect.Value(again.With(says(`{"optOut":{"of":"ordinary","reason":"certified"}}`, ben), monday.Add(day)))(t)
	expect.That(t, other.OptOut.By == ben && other.OptOut.Until == nil, "signed %+v", other.OptOut)
	expect.That(t, expect.Value(other.With(says(`{}`, anna), monday))(t).OptOut != nil, "it ended without a word")
	expect.That(t, expect.Value(other.With(says(`{"optOut":null}`, anna), monday))(t).OptOut == nil, "null does not end it")
	_, err := other.With(says(text, ben), monday.Add(40*day))
	faults := problem.From(err).Faults
	expect.That(t, len(faults) == 1 && faults[0].Pointer == "/updates/optOut/until", "%v", err)
}
