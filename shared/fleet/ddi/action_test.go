package ddi

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// told is a DDI poll with a version as its answer, decided on what the box has according to its row.
func told(row report.Row, version string) polled {
	return polled{report.Polled{Told: version, Subject: "s", At: begin}, row.Has()}
}

// after returns a row after events. Each event is made from the row before it.
func after(row report.Row, events ...func(report.Row) report.Input) report.Row {
	for _, e := range events {
		row, _ = report.Next(row, e(row))
	}
	return row
}

func poll(version string) func(report.Row) report.Input {
	return func(r report.Row) report.Input { return told(r, version) }
}

func says(running string) func(report.Row) report.Input {
	return func(report.Row) report.Input { return Statement{Running: running, At: begin} }
}

// reports is feedback about the row's present action.
func reports(p ActionPhase) func(report.Row) report.Input {
	return func(r report.Row) report.Input {
		f := Feedback{Action: r.Offer.Action, Progress: p, Detail: "its words", At: begin}
		if p == Broken {
			f.Code = report.CodeInstall
		}
		return f
	}
}

// enrolled is the row of a DDI box that has said that it runs 1.0.0.
func enrolled() report.Row {
	row := report.Row{}.Registered(report.Registration{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", At: begin})
	return after(row, func(report.Row) report.Input { return Contact{Subject: "s", At: begin} }, says("1.0.0"))
}

func TestAction_PollToldTheSame_HasTheSameNumber_AndChangesNothing(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"))
	number := deployment(row, begin)
	expect.Must(t, number != 0 && row.Offer.State == report.Offered, "the row is %+v, the offer %+v", row, row.Offer)
	for range 3 {
		next, changed := report.Next(row, told(row, "1.1.0"))
		if changed || deployment(next, begin) != number {
			t.Fatalf("changed: %v, action %d, want %d", changed, deployment(next, begin), number)
		}
	}
}

// TestAction_ClosedWithSuccess_IsNotInstalled: the version may only be on disk. The box is not told again, and says
// itself what it runs.
func TestAction_ClosedWithSuccess_IsNotInstalled(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Proceeding), reports(Written))
	if row.Offer.State != report.Working || row.Running != "1.0.0" || row.Has() != "1.1.0" || deployment(row, begin) != 0 {
		t.Fatalf("the row is %+v, the offer %+v", row, row.Offer)
	}
	before := after(row, says("1.0.0"), poll("1.1.0"))
	expect.That(t, before.Written == "1.1.0" && before.Offer.State == report.Working && deployment(before, begin) == 0,
		"before the reboot: %+v, the offer %+v", before, before.Offer)
	rebooted := after(row, says("1.1.0"))
	expect.That(t, rebooted.Offer.State == report.Installed && rebooted.Written == "" && rebooted.Has() == "1.1.0",
		"after the reboot: %+v, the offer %+v", rebooted, rebooted.Offer)
	back := after(rebooted, poll("1.1.0"), says("1.0.0"), poll("1.1.0"))
	expect.That(t, back.Offer.State == report.Reverted && deployment(back, begin) == 0,
		"after it fell back: %+v, the offer %+v", back, back.Offer)
}

func TestAction_Failed_IsAnotherActionAfterTheWait_AndEndsAfterThree(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"))
	numbers := map[int64]bool{}
	at := begin
	for attempt := 1; attempt <= report.MostAttempts; attempt++ {
		number := deployment(row, at)
		expect.Must(t, number != 0 && !numbers[number], "attempt %d has the action %d", attempt, number)
		numbers[number] = true
		row, _ = report.Next(row, Feedback{Action: number, Progress: Broken, Code: report.CodeInstall, Detail: "its words", At: at})
		if row.Offer.State != report.Failed || row.Offer.Attempts != attempt || row.Offer.Detail != "its words" || deployment(row, at) != 0 {
			t.Fatalf("attempt %d: %+v", attempt, row.Offer)
		}
		again, changed := report.Next(row, Feedback{Action: number, Progress: Broken, Code: report.CodeInstall, At: at})
		expect.Must(t, !changed, "the same failure counted twice: %+v", again.Offer)
		at = at.Add(2 * time.Hour)
	}
	expect.That(t, row.Offer.RetryAt == nil && deployment(row, at) == 0, "told a fourth time: %+v", row.Offer)
}

// TestAction_ErrorNamedBeforeTheFailure_IsItsReason in the same attempt. Without a failure it has no effect.
func TestAction_ErrorNamedBeforeTheFailure_IsItsReason(t *testing.T) {
	named := func(r report.Row) report.Input {
		return Feedback{Action: r.Offer.Action, Progress: Proceeding, Code: report.CodeSpace, Detail: "no space left", At: begin}
	}
	row := after(enrolled(), poll("1.1.0"), named)
	if o := row.Offer; o.State != report.Working || o.Code != "" || o.Detail != "" {
		t.Errorf("before it fails: %+v", o)
	}
	done := after(row, reports(Written), says("1.1.0"))
	expect.That(t, done.Offer.State == report.Installed && done.Offer.Code == "", "it succeeded: %+v", done.Offer)
	row = after(row, reports(Broken))
	if o := row.Offer; o.State != report.Failed || o.Code != report.CodeSpace || o.Detail != "no space left" {
		t.Errorf("it failed: %+v", o)
	}
	row = after(row, reports(Broken))
	if o := row.Offer; o.Code != report.CodeInstall || o.Detail != "its words" || o.Attempts != 2 {
		t.Errorf("the next attempt failed: %+v", o)
	}
}

func TestAction_Halted_IsCancelled_AndResumedIsAnotherAction(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Proceeding), poll("1.0.0"))
	number := row.Offer.Action
	expect.Must(t, cancellation(row, begin) == number && deployment(row, begin) == 0, "the row is %+v", row)
	_, changed := report.Next(row, told(row, "1.0.0"))
	expect.That(t, !changed, "the next poll is a write")
	going := after(row, reports(Refused))
	expect.That(t, cancellation(going, begin) == number, "a client that goes on is no longer asked: %+v", going)
	if failed := after(row, reports(Broken)); failed.Offer.State != report.Failed || cancellation(failed, begin) != 0 {
		t.Errorf("the failure after the halt is lost: %+v", failed.Offer)
	}
	if finished := after(row, reports(Written)); finished.Written != "1.1.0" || cancellation(finished, begin) != 0 || finished.Has() != "1.1.0" {
		t.Errorf("a version that is already on disk is cancelled: %+v", finished)
	}
	row = after(row, reports(GivenUp), poll("1.0.0"))
	expect.Must(t, row.Offer.Cancelled && cancellation(row, begin) == 0 && deployment(row, begin) == 0,
		"after it was given up: %+v, the offer %+v", row, row.Offer)
	row = after(row, poll("1.1.0"))
	expect.That(t, deployment(row, begin) != 0 && deployment(row, begin) != number && !row.Offer.Cancelled,
		"resumed: %+v", row.Offer)
}

func TestAction_AnotherVersion_IsToldOnceTheFirstIsGivenUp_OrAfterAnHour(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"))
	first := row.Offer.Action
	row = after(row, poll("1.2.0"))
	expect.Must(t, row.Offer.Version == "1.2.0" && cancellation(row, begin) == first,
		"the row is %+v, the offer %+v", row, row.Offer)
	if late := begin.Add(cancelPatience); cancellation(row, late) != 0 || deployment(row, late) != row.Offer.Action {
		t.Error("a client that never answers is told nothing")
	}
	stale, changed := report.Next(row, Feedback{Action: first, Progress: Proceeding, At: begin})
	expect.That(t, !changed, "a replaced offer is worked on: %+v", stale)
	row, _ = report.Next(row, Feedback{Action: first, Progress: GivenUp, At: begin})
	expect.That(t, cancellation(row, begin) == 0 && deployment(row, begin) == row.Offer.Action && !row.Offer.Cancelled,
		"after the first was given up: %+v, the offer %+v", row, row.Offer)
}

// TestAction_PollDecidedOnAnOldRow_ChangesNothing: a box that has meanwhile said what it runs is not sent back.
func TestAction_PollDecidedOnAnOldRow_ChangesNothing(t *testing.T) {
	old := enrolled()
	row := after(old, says("1.1.0"))
	next, changed := report.Next(row, told(old, "1.0.0"))
	expect.That(t, !changed, "changed to %+v", next)
}

// TestAction_AnyHistory: an action's number is never reused, no box counts as installed unless it said so, and a poll
// with the same answer changes nothing.
func TestAction_AnyHistory(t *testing.T) {
	versions := []string{"1.0.0", "1.1.0", "1.2.0"}
	progress := []ActionPhase{Proceeding, Beginning, Placed, Written, Broken, GivenUp, Refused}
	rapid.Check(t, func(t *rapid.T) {
		row, said, meant := enrolled(), "1.0.0", map[int64]string{}
		at := begin
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "seconds")) * time.Second)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0, 1:
				p := told(row, rapid.SampledFrom(versions).Draw(t, "told"))
				p.At, p.RolloutID = at, rapid.SampledFrom([]string{"", "r-" + p.Told}).Draw(t, "rollout")
				row, _ = report.Next(row, p)
				again, changed := report.Next(row, p)
				expect.Must(t, !changed, "the same poll changed %+v to %+v", row, again)
			case 2:
				f := Feedback{Action: rapid.Int64Range(1, row.Revision+1).Draw(t, "action"), At: at,
					Progress: rapid.SampledFrom(progress).Draw(t, "progress")}
				if f.Progress == Broken {
					f.Code = report.CodeInstall
				}
				row, _ = report.Next(row, f)
			case 3:
				said = rapid.SampledFrom(versions).Draw(t, "runs")
				row, _ = report.Next(row, Statement{Running: said, DecideWithin: time.Hour, At: at})
			}
			if row.Offer == nil {
				continue
			}
			what := row.Offer.RolloutID + "/" + row.Offer.Version
			if number := deployment(row, at); number != 0 {
				if was, used := meant[number]; used && was != what {
					t.Fatalf("the action %d was %s and is %s", number, was, what)
				}
				meant[number] = what
			}
			if row.Offer.State == report.Installed && said != row.Offer.Version {
				t.Fatalf("installed, and the box said it runs %s: %+v", said, row.Offer)
			}
			if n := deployment(row, at); n != 0 && (row.Offer.Version == said || n == cancellation(row, at)) {
				t.Fatalf("told to install what it runs or gives up: %+v", row)
			}
		}
	})
}

// TestAction_OfABoxThatIsImportedMeanwhile_GoesOn: its number is as low as those of the other server, whose actions are only noted.
func TestAction_OfABoxThatIsImportedMeanwhile_GoesOn(t *testing.T) {
	imported := func(row report.Row) report.Row {
		is := &report.Imported{ActionsAbove: report.LeastAction}
		return row.Registered(report.Registration{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", At: begin, Imported: is.After(nil, begin)})
	}
	row := imported(after(enrolled(), poll("1.1.0"), reports(Proceeding)))
	finished := after(row, reports(Written))
	expect.That(t, finished.Written == "1.1.0" && deployment(finished, begin) == 0, "its own action is not closed: %+v", finished)
	other, _ := report.Next(row, Feedback{Action: row.Offer.Action + 1, Progress: Broken, At: begin})
	expect.That(t, other.Offer.State == row.Offer.State && len(other.Heard) == 1, "an action of the other server is %+v", other.Offer)
	halted := imported(after(enrolled(), poll("1.1.0"), reports(Proceeding), poll("1.2.0")))
	expect.Must(t, halted.Cancel != 0 && halted.Cancel != halted.Offer.Action, "the row is %+v", halted)
	halted, _ = report.Next(halted, Feedback{Action: halted.Cancel, Progress: GivenUp, At: begin})
	expect.That(t, halted.Cancel == 0, "it is still asked to give up %d", halted.Cancel)
}
