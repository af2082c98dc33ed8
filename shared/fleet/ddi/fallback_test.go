package ddi

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// states is a box's statement of what it runs, a time after the beginning, under a policy that gives boxes an hour.
func states(running string, later time.Duration) func(report.Row) report.Input {
	return func(report.Row) report.Input {
		return Statement{Running: running, DecideWithin: time.Hour, At: begin.Add(later)}
	}
}

func TestFallback_NewStartAfterWritten_IsAFailedAttemptToBoot(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Beginning), reports(Proceeding), reports(Placed), reports(Beginning))
	o := row.Offer
	if o.State != report.Failed || o.Code != report.CodeBoot || o.Attempts != 1 || o.Detail != startedAgain || row.Written != "" || deployment(row, begin) != 0 {
		t.Errorf("%+v, the offer %+v", row, o)
	}
	if e := row.Entry(); e.Bad(begin.Add(59*time.Minute), time.Hour, time.Hour) || !e.Bad(begin.Add(time.Hour), time.Hour, time.Hour) {
		t.Error("it is not bad an hour later, or was before")
	}
	retry := begin.Add(10 * time.Minute)
	n := deployment(row, retry)
	expect.That(t, n != 0 && n == o.Action, "the next attempt has the action %d of %+v", n, o)
}

// TestFallback_MoreSaidOfAClosedAction_ChangesNothing: Hara polls while it closes an action, and then installs it
// again.
func TestFallback_MoreSaidOfAClosedAction_ChangesNothing(t *testing.T) {
	for _, more := range []ActionPhase{Proceeding, Beginning, PutOff, Placed} {
		row := after(enrolled(), poll("1.1.0"), reports(Proceeding), reports(Written), reports(more), reports(Written))
		expect.That(t, row.Offer.State == report.Working && row.Written == "1.1.0" && row.Offer.WrittenAt != nil,
			"%s: %+v, the offer %+v", more, row, row.Offer)
		if row = after(row, says("1.1.0")); row.Offer.State != report.Installed || row.Offer.Attempts != 0 {
			t.Errorf("%s, and it boots: the offer %+v", more, row.Offer)
		}
	}
}

// TestFallback_MoreSaidBeforeTheReboot_IsNoNewStart: SWUpdate sends its log in parts.
func TestFallback_MoreSaidBeforeTheReboot_IsNoNewStart(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Beginning), reports(Placed), reports(Proceeding), reports(Placed))
	expect.That(t, row.Offer.State == report.Working && deployment(row, begin) != 0, "the offer is %+v", row.Offer)
}

// TestFallback_NewStartOnTheNewVersion_IsInstalledOnceItSaysSo: the client has no boot state. It is asked immediately.
func TestFallback_NewStartOnTheNewVersion_IsInstalledOnceItSaysSo(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Beginning), reports(Placed), reports(Beginning), poll("1.1.0"))
	expect.That(t, asked(row, begin, time.Minute), "it is not asked: %+v", row)
	row = after(row, says("1.1.0"))
	expect.That(t, row.Offer.State == report.Installed && row.Offer.Code == "", "the offer is %+v", row.Offer)
}

func TestFallback_WrittenAndStillTheOldVersion_IsRevertedOnceTheBoxHadItsTime(t *testing.T) {
	for name, progress := range map[string]ActionPhase{"closed": Written, "left open until the reboot": Placed} {
		row := after(enrolled(), poll("1.1.0"), reports(progress), states("1.0.0", 59*time.Minute))
		expect.Must(t, row.Offer.State == report.Working, "%s: decided too early: %+v", name, row.Offer)
		row = after(row, states("1.0.0", time.Hour))
		o := row.Offer
		if o.State != report.Reverted || o.Code != report.CodeBoot || o.Detail != runsTheOld || o.From != "1.0.0" || row.Has() != "1.0.0" {
			t.Errorf("%s: %+v, the offer %+v", name, row, o)
		}
		expect.That(t, row.Entry().Bad(begin.Add(time.Hour), time.Hour, time.Hour), "%s: it is not bad", name)
		again := after(row, poll("1.1.0"))
		expect.That(t, deployment(again, begin.Add(48*time.Hour)) == 0, "%s: told again: %+v", name, again.Offer)
	}
}

func TestFallback_WrittenAndAThirdVersion_IsRevertedAtOnce(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Written), states("0.9.0", time.Minute))
	o := row.Offer
	expect.That(t, o.State == report.Reverted && o.Code == report.CodeBoot && o.From == "0.9.0", "the offer is %+v", o)
}

func TestFallback_ALaterAttempt_IsJudgedByItsOwnTime(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Placed), reports(Beginning))
	second := Feedback{Action: row.Offer.Action, Progress: Written, At: begin.Add(2 * time.Hour)}
	row, _ = report.Next(row, second)
	row = after(row, states("1.0.0", 2*time.Hour+time.Minute))
	expect.That(t, row.Offer.State == report.Failed, "a minute after it was written: %+v", row.Offer)
	row = after(row, states("1.0.0", 3*time.Hour))
	expect.That(t, row.Offer.State == report.Reverted, "an hour after it was written: %+v", row.Offer)
}

// TestFallback_RebootedLate_IsInstalled, but keeps counting as fallen back until it has run the version for a soak.
func TestFallback_RebootedLate_IsInstalled(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Written), states("1.0.0", time.Hour), states("1.1.0", 2*time.Hour))
	o := row.Offer
	expect.That(t, o.State == report.Installed && o.Code == report.CodeBoot, "the offer is %+v", o)
	if e := row.Entry(); !e.Bad(begin.Add(3*time.Hour), time.Hour, 24*time.Hour) || e.Bad(begin.Add(27*time.Hour), time.Hour, 24*time.Hour) {
		t.Error("it is bad after the soak, or is not before")
	}
}

func TestFallback_FailureAfterWritten_IsOneToBoot(t *testing.T) {
	failed := func(r report.Row) report.Input {
		return Feedback{Action: r.Offer.Action, Progress: Broken, Code: report.CodeOther, Detail: "Update Failed.", At: begin}
	}
	row := after(enrolled(), poll("1.1.0"), reports(Placed), failed)
	if o := row.Offer; o.State != report.Failed || o.Code != report.CodeBoot || o.Detail != "Update Failed." {
		t.Errorf("the offer is %+v", o)
	}
}

// TestAsked_BetweenTellings: a client that leaves its action open is alternately asked and told.
func TestAsked_BetweenTellings(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Placed))
	for _, c := range []struct {
		said, at time.Duration
		asked    bool
	}{{-1, 0, true}, {0, time.Minute, false}, {0, 2 * time.Minute, true}, {2 * time.Minute, 3 * time.Minute, false}} {
		now := row
		if c.said >= 0 {
			now = after(row, states("1.0.0", c.said))
		}
		expect.Equal(t, asked(now, begin.Add(c.at), time.Minute), c.asked, "said at %v, asked at %v:", c.said, c.at)
	}
}

// asks counts, at one poll a minute, the polls that ask a box what it runs while it is told a version.
func asks(row report.Row, version string, from, until time.Duration) (n int) {
	for at := from; at < until; at += time.Minute {
		p := told(row, version)
		p.At = begin.Add(at)
		if row, _ = report.Next(row, p); asked(row, p.At, time.Minute) {
			n++
		}
	}
	return n
}

func TestAsked_OnceADayAtMost_WithoutTheAttribute(t *testing.T) {
	row := report.Row{}.Registered(report.Registration{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", At: begin})
	row = after(row, func(report.Row) report.Input { return Contact{Subject: "s", At: begin} }, poll("1.1.0"), reports(Written))
	n := asks(row, "1.1.0", time.Minute, 72*time.Hour+time.Minute)
	expect.That(t, n == 3, "asked %d times in three days", n)
}

func TestAsked_OnceADay_WhileNothingIsNew(t *testing.T) {
	n := asks(enrolled(), "1.0.0", time.Minute, 72*time.Hour+time.Minute)
	expect.That(t, n == 3, "asked %d times in three days", n)
}

// TestAsked_OnceAnHour_ForADayAfterAnInstallation: the box may fall back.
func TestAsked_OnceAnHour_ForADayAfterAnInstallation(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Written), says("1.1.0"))
	n := asks(row, "1.1.0", time.Minute, 25*time.Hour)
	expect.That(t, n == 23, "asked %d times in 24 hours", n)
}

// TestFallback_AnyHistory: a box can only be bad because of its boot if it said that it had the version on disk.
func TestFallback_AnyHistory(t *testing.T) {
	progress := []ActionPhase{Proceeding, Beginning, Placed, Written, GivenUp, Refused}
	rapid.Check(t, func(t *rapid.T) {
		row, at, placed := after(enrolled(), poll("1.1.0")), begin, false
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				p := told(row, "1.1.0")
				p.At = at
				row, _ = report.Next(row, p)
			case 1:
				f := Feedback{Action: row.Offer.Action, Progress: rapid.SampledFrom(progress).Draw(t, "progress"), At: at}
				placed = placed || f.Progress == Placed || f.Progress == Written
				row, _ = report.Next(row, f)
			case 2:
				row, _ = report.Next(row, Statement{Running: "1.0.0", DecideWithin: time.Hour, At: at})
			}
			o := row.Offer
			if (o.State == report.Failed || o.State == report.Reverted) != (o.Code == report.CodeBoot) || o.Code == report.CodeBoot && !placed {
				t.Fatalf("on disk: %v, the offer %+v", placed, o)
			}
			if o.State == report.Reverted && deployment(row, at) != 0 {
				t.Fatalf("told again: %+v", o)
			}
		}
	})
}
