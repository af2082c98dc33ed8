package report_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Hour)
)

// offered is a box that ran 1.0.0 and was offered 2.0.0 by rollout r, in a state.
func offered(state report.State) report.Row {
	o := &report.Offer{RolloutID: "r", Version: "2.0.0", From: "1.0.0", Stage: 10, State: state, Since: noon}
	row := report.Row{EdgeID: "box", EdgeType: "gateway-x", Channel: "stable", Told: "2.0.0", Running: "1.0.0", Subject: "s", Offer: o, Revision: 5}
	switch state {
	case report.Installed:
		row.Running = "2.0.0"
	case report.Failed:
		o.Code, o.Attempts, o.FailedAttempt = report.CodeBoot, 1, 1
	}
	return row
}

// Events that the table applies to each state. During the rollout r, polls are told 2.0.0. After a halt a box is told
// the channel's 1.0.0, or keeps what it runs.
var (
	pollsOld    = report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 10, Running: "1.0.0", Subject: "s", At: later}
	pollsNew    = report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 10, Running: "2.0.0", Subject: "s", At: later}
	pollsOther  = report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 10, Running: "0.9.0", Subject: "s", At: later}
	pollsSilent = report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 10, Subject: "s", At: later}
	haltedOld   = report.Polled{Told: "1.0.0", Running: "1.0.0", Subject: "s", At: later}
	haltedNew   = report.Polled{Told: "2.0.0", Running: "2.0.0", Subject: "s", At: later}
	restarted   = report.Polled{Told: "2.0.0", RolloutID: "r2", Stage: 10, Running: "1.0.0", Subject: "s", At: later}
	restartedOn = report.Polled{Told: "2.0.0", RolloutID: "r2", Stage: 10, Running: "2.0.0", Subject: "s", At: later}
	published   = report.Polled{Told: "3.0.0", Running: "1.0.0", Subject: "s", At: later}
	adopted     = report.Polled{Told: "2.0.0", Running: "1.0.0", Subject: "s", At: later}

	works     = report.Outcome{Version: "2.0.0", Attempt: 2, State: report.Working, At: later}
	defers    = report.Outcome{Version: "2.0.0", Attempt: 2, State: report.Deferred, At: later}
	breaks    = report.Outcome{Version: "2.0.0", Attempt: 2, State: report.Failed, Code: report.CodeInstall, At: later}
	cannotGet = report.Outcome{Version: "2.0.0", Attempt: 2, State: report.Failed, Code: report.CodeDownload, At: later}
	unhealthy = report.Outcome{Version: "2.0.0", Attempt: 2, State: report.Failed, Code: report.CodeHealth, At: later}
	late      = report.Outcome{Version: "2.0.0", Attempt: 0, State: report.Failed, Code: report.CodeInstall, At: later}
	ofAnother = report.Outcome{Version: "1.0.0", Attempt: 2, State: report.Failed, Code: report.CodeInstall, At: later}
)

// The columns of the table, and for each state what it is after the event. "r2 offered" is an offer by another rollout;
// "- offered" is an offer of the channel's own version.
var columns = []struct {
	name  string
	event report.Input
}{
	{"polls, still runs the old", pollsOld},
	{"polls, runs the new", pollsNew},
	{"polls, runs a third", pollsOther},
	{"polls, does not say", pollsSilent},
	{"halted, runs the old", haltedOld},
	{"halted, runs the new", haltedNew},
	{"offered by another rollout", restarted},
	{"has it, told by another rollout", restartedOn},
	{"another version published", published},
	{"the version adopted by the channel", adopted},
	{"reports working", works},
	{"reports deferred", defers},
	{"reports failed", breaks},
	{"reports failed, because of the factory", cannotGet},
	{"reports bad health", unhealthy},
	{"reports an older attempt", late},
	{"reports about another version", ofAnother},
}

var table = map[report.State][]string{
	//                old         new         third       silent      halted old   halted new   other      has it          published    adopted     working      deferred     failed    factory   health    late        another
	report.Offered:   {"offered", "installed", "offered", "offered", "offered", "installed", "r2 offered", "r2 installed", "- offered", "offered", "working", "deferred", "failed", "failed", "failed", "failed", "offered"},
	report.Working:   {"working", "installed", "working", "working", "working", "installed", "r2 offered", "r2 installed", "- offered", "working", "working", "deferred", "failed", "failed", "failed", "failed", "working"},
	report.Deferred:  {"deferred", "installed", "deferred", "deferred", "deferred", "installed", "r2 offered", "r2 installed", "- offered", "deferred", "working", "deferred", "failed", "failed", "failed", "failed", "deferred"},
	report.Installed: {"reverted", "installed", "reverted", "installed", "reverted", "installed", "r2 offered", "r2 installed", "- offered", "reverted", "installed", "installed", "installed", "installed", "failed", "installed", "installed"},
	report.Failed:    {"failed", "installed", "failed", "failed", "failed", "installed", "r2 offered", "r2 installed", "- offered", "failed", "failed", "failed", "failed", "failed", "failed", "failed", "failed"},
	report.Reverted:  {"reverted", "installed", "reverted", "reverted", "reverted", "installed", "r2 offered", "r2 installed", "- offered", "reverted", "reverted", "reverted", "reverted", "reverted", "reverted", "reverted", "reverted"},
}

func TestNext_EveryStandAndEvent(t *testing.T) {
	for _, state := range report.States {
		if len(table[state]) != len(columns) {
			t.Fatalf("%s has %d columns of %d", state, len(table[state]), len(columns))
		}
		for i, c := range columns {
			was := offered(state)
			next, changed := report.Next(was, c.event)
			got := string(next.Offer.State)
			if id := next.Offer.RolloutID; id != "r" {
				got = map[string]string{"": "-", "r2": "r2"}[id] + " " + got
			}
			want := table[state][i]
			expect.That(t, got == want, "%s, %s: %s, want %s", state, c.name, got, want)
			if changed != (next.Revision == was.Revision+1) {
				t.Errorf("%s, %s: changed is %t and the revision went from %d to %d", state, c.name, changed, was.Revision, next.Revision)
			}
			moved := got != string(state)
			if since := next.Offer.Since; moved != since.Equal(later) || !moved != since.Equal(noon) {
				t.Errorf("%s, %s: at that state since %v", state, c.name, since)
			}
		}
	}
}

func TestNext_FirstPoll(t *testing.T) {
	for name, c := range map[string]struct {
		poll report.Polled
		want string
	}{
		"runs what it is told by the channel":       {report.Polled{Told: "1.0.0", Running: "1.0.0", At: noon}, "none"},
		"runs something else":                       {report.Polled{Told: "1.0.0", Running: "0.9.0", At: noon}, " 1.0.0 offered from 0.9.0"},
		"does not say what it runs":                 {report.Polled{Told: "1.0.0", At: noon}, " 1.0.0 offered from "},
		"is offered a rollout's target":             {report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 50, Running: "1.0.0", At: noon}, "r 2.0.0 offered from 1.0.0"},
		"already runs a rollout's target":           {report.Polled{Told: "2.0.0", RolloutID: "r", Stage: 50, Running: "2.0.0", At: noon}, "r 2.0.0 installed from "},
		"keeps what it runs, which changes nothing": {report.Polled{Told: "2.0.0", Running: "2.0.0", At: noon}, "none"},
	} {
		row, changed := report.Next(report.Row{EdgeID: "box"}, c.poll)
		got := "none"
		if o := row.Offer; o != nil {
			got = fmt.Sprintf("%s %s %s from %s", o.RolloutID, o.Version, o.State, o.From)
		}
		if got != c.want || !changed || row.Told != c.poll.Told || row.Running != c.poll.Running || row.Revision != 1 {
			t.Errorf("%s: %q, %+v", name, got, row)
		}
	}
}

// TestNext_OfferOutlivesAHalt plays boxes that were in flight when their rollout was halted.
func TestNext_OfferOutlivesAHalt(t *testing.T) {
	row, _ := report.Next(offered(report.Offered), haltedOld)
	expect.Must(t, row.Told == "1.0.0" && row.Accepts("2.0.0") && !row.Accepts("1.0.0"), "after the halt: %+v", row)
	failed, _ := report.Next(row, breaks)
	if o := failed.Offer; o.RolloutID != "r" || o.State != report.Failed || o.Code != report.CodeInstall {
		t.Errorf("its failure belongs to %+v", o)
	}
	installed, _ := report.Next(row, haltedNew)
	o := installed.Offer
	expect.That(t, o.RolloutID == "r" && o.State == report.Installed, "its success belongs to %+v", o)
}

func TestNext_HealthCheckFailsAfterTheStart_StaysFailedUntilAnotherTry(t *testing.T) {
	row, _ := report.Next(offered(report.Installed), report.Outcome{Version: "2.0.0", Attempt: 1, State: report.Failed, Code: report.CodeHealth, At: later})
	row, _ = report.Next(row, pollsNew)
	expect.Must(t, row.Offer.State == report.Failed && row.Offer.Code == report.CodeHealth,
		"a poll of a box that still runs it made it %+v", row.Offer)
	row, _ = report.Next(row, pollsOld)
	row, _ = report.Next(row, pollsNew)
	expect.Must(t, row.Offer.State == report.Installed && row.Offer.Code == report.CodeHealth,
		"after it fell back and installed it again: %+v", row.Offer)
}

func TestNext_FallsBackTwice_IsKnownEachTime(t *testing.T) {
	row := offered(report.Installed)
	row.Offer.From = "0.9.0"
	for range 2 {
		row, _ = report.Next(row, pollsOld)
		expect.Must(t, row.Offer.State == report.Reverted && row.Offer.Code == report.CodeReverted,
			"fell back: %+v", row.Offer)
		row, _ = report.Next(row, pollsNew)
		expect.Must(t, row.Offer.State == report.Installed && row.Offer.Code == report.CodeReverted,
			"runs it again: %+v", row.Offer)
	}
	// The box is told the version that it fell back to, and already runs it.
	row, _ = report.Next(row, haltedOld)
	expect.That(t, row.Offer.State == report.Reverted, "fell back as it was told: %+v", row.Offer)
}

func TestNext_FellBackAndSaysWhy_IsStillOneThatFellBack(t *testing.T) {
	row, _ := report.Next(offered(report.Installed), pollsOld)
	row, _ = report.Next(row, breaks)
	o := row.Offer
	expect.That(t, o.State == report.Reverted && o.Code == report.CodeInstall, "got %+v", o)
}

func TestNext_AnotherOfferOfAVersion_InheritsWhatWentWrongAfterItRan(t *testing.T) {
	fell, _ := report.Next(offered(report.Installed), pollsOld)
	again, _ := report.Next(fell, restarted)
	if o := again.Offer; o.RolloutID != "r2" || o.State != report.Offered || o.Code != report.CodeReverted || !again.Entry().Bad(later, time.Hour, time.Hour) {
		t.Errorf("offered again: %+v", o)
	}
	runs, _ := report.Next(again, restartedOn)
	if o := runs.Offer; o.State != report.Installed || o.Code != report.CodeReverted {
		t.Errorf("installed again: %+v", o)
	}
	failed, _ := report.Next(offered(report.Failed), restarted)
	if o := failed.Offer; o.State != report.Offered || o.Code != "" || o.Attempts != 0 {
		t.Errorf("a failed installation counts against the next rollout: %+v", o)
	}
}

func TestNext_RepeatedAttempt_DoesNotCountTwice(t *testing.T) {
	once, _ := report.Next(offered(report.Offered), breaks)
	twice, changed := report.Next(once, breaks)
	expect.That(t, !changed && twice.Offer.Attempts == 2, "a repeat made %+v", twice.Offer)
	worked, _ := report.Next(once, pollsNew)
	again, changed := report.Next(worked, breaks)
	expect.That(t, !changed && again.Offer.State == report.Installed,
		"the report of a failure, sent again after the success, made %+v", again.Offer)
}

func TestNext_WhatSpeaksAgainstARelease_StaysThroughFailuresThatDoNot(t *testing.T) {
	row, _ := report.Next(offered(report.Offered), breaks)
	again := cannotGet
	again.Attempt = 3
	row, _ = report.Next(row, again)
	o := row.Offer
	expect.That(t, o.Code == report.CodeInstall && o.Attempts == 3, "after a failed download: %+v", o)
}

// TestNext_PollThatWasNotRecorded_IsNoRevert: an answer could not be recorded, but the box followed it.
func TestNext_PollThatWasNotRecorded_IsNoRevert(t *testing.T) {
	row, _ := report.Next(offered(report.Installed), report.Polled{Told: "3.0.0", Running: "3.0.0", Subject: "s", At: later})
	expect.That(t, row.Offer.State == report.Installed && row.Running == "3.0.0", "got %+v", row.Offer)
}

// drawEvent draws an event with few versions and rollouts.
func drawEvent(t *rapid.T) report.Input {
	version := rapid.SampledFrom([]string{"1.0.0", "2.0.0", "3.0.0"})
	if rapid.Bool().Draw(t, "poll") {
		p := report.Polled{Told: version.Draw(t, "told"), Subject: "s", At: later}
		p.Running = rapid.SampledFrom([]string{"", "1.0.0", "2.0.0", "3.0.0"}).Draw(t, "running")
		if p.RolloutID = rapid.SampledFrom([]string{"", "r", "r2"}).Draw(t, "rollout"); p.RolloutID != "" {
			p.Stage = 10
		}
		return p
	}
	o := report.Outcome{Version: version.Draw(t, "version"), Attempt: rapid.IntRange(1, 4).Draw(t, "attempt"), At: later}
	o.State = rapid.SampledFrom([]report.State{report.Working, report.Deferred, report.Failed}).Draw(t, "state")
	if o.State == report.Failed {
		o.Code = rapid.SampledFrom(report.Codes).Draw(t, "code")
	}
	return o
}

func TestNext_AnySequence_KeepsWhatIsPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := report.Row{EdgeID: "box"}
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			e := drawEvent(t)
			next, changed := report.Next(row, e)
			if again, twice := report.Next(next, e); twice || again.Revision != next.Revision {
				t.Fatalf("%+v, put twice, changed %+v into %+v", e, next.Offer, again.Offer)
			}
			if changed != (next.Revision == row.Revision+1) || !changed && next.Revision != row.Revision {
				t.Fatalf("changed is %t, the revision went from %d to %d", changed, row.Revision, next.Revision)
			}
			checkEvidence(t, row, next, e)
			row = next
		}
	})
}

// checkEvidence checks that evidence against a release goes away only if the box runs the release after all, or is
// offered something else.
func checkEvidence(t *rapid.T, was, next report.Row, e report.Input) {
	if was.Offer == nil || next.Offer == nil {
		expect.Must(t, was.Offer == nil, "%+v took the offer away", e)
		return
	}
	sameOffer := was.Offer.Version == next.Offer.Version && was.Offer.RolloutID == next.Offer.RolloutID
	if sameOffer && was.Offer.Code.BlamesRelease() && !next.Offer.Code.BlamesRelease() && next.Running != next.Offer.Version {
		t.Fatalf("%+v made %+v of %+v", e, next.Offer, was.Offer)
	}
	if _, poll := e.(report.Polled); !poll && (!sameOffer || next.Told != was.Told || next.Running != was.Running) {
		t.Fatalf("an outcome changed more than the offer: %+v", next)
	}
	if next.Offer.State == report.Installed && next.Offer.Version != next.Running && next.Running != next.Told {
		t.Fatalf("installed is %s, and %s runs", next.Offer.Version, next.Running)
	}
	switch next.Offer.State {
	case report.Failed, report.Reverted:
		if next.Offer.Code == "" {
			t.Fatalf("%s without a code", next.Offer.State)
		}
	case report.Installed:
		if sameOffer && was.Offer.State == report.Reverted && next.Offer.Code != was.Offer.Code {
			t.Fatalf("it fell back by %q, runs the version again and has the code %q", was.Offer.Code, next.Offer.Code)
		}
	default:
		if sameOffer && next.Offer.Code != was.Offer.Code {
			t.Fatalf("state %s with the code %q", next.Offer.State, next.Offer.Code)
		}
	}
}
