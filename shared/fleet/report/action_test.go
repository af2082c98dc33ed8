package report

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// told is a DDI poll with a version as its answer, decided on what the box has according to its row.
func told(row Row, version string) Polled {
	return Polled{Told: version, RolloutID: "", Subject: "s", DDI: true, Had: row.Has(), At: begin}
}

// after returns a row after events. Each event is made from the row before it.
func after(row Row, events ...func(Row) Input) Row {
	for _, e := range events {
		row, _ = Next(row, e(row))
	}
	return row
}

func poll(version string) func(Row) Input { return func(r Row) Input { return told(r, version) } }

func says(running string) func(Row) Input {
	return func(Row) Input { return Statement{Running: running, At: begin} }
}

// reports is feedback about the row's present action.
func reports(p ActionPhase) func(Row) Input {
	return func(r Row) Input {
		f := Feedback{Action: r.Offer.Action, Progress: p, Detail: "its words", At: begin}
		if p == Broken {
			f.Code = CodeInstall
		}
		return f
	}
}

// enrolled is the row of a DDI box that has said that it runs 1.0.0.
func enrolled() Row {
	row := Row{}.Registered(Registration{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", At: begin})
	return after(row, func(Row) Input { return Contact{Subject: "s", At: begin} }, says("1.0.0"))
}

func TestAction_PollToldTheSame_HasTheSameNumber_AndChangesNothing(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"))
	number := row.Deployment(begin)
	if number == 0 || row.Offer.State != Offered {
		t.Fatalf("the row is %+v, the offer %+v", row, row.Offer)
	}
	for range 3 {
		next, changed := Next(row, told(row, "1.1.0"))
		if changed || next.Deployment(begin) != number {
			t.Fatalf("changed: %v, action %d, want %d", changed, next.Deployment(begin), number)
		}
	}
}

// TestAction_ClosedWithSuccess_IsNotInstalled: the version may only be on disk. The box is not told again, and says
// itself what it runs.
func TestAction_ClosedWithSuccess_IsNotInstalled(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Proceeding), reports(Written))
	if row.Offer.State != Working || row.Running != "1.0.0" || row.Has() != "1.1.0" || row.Deployment(begin) != 0 {
		t.Fatalf("the row is %+v, the offer %+v", row, row.Offer)
	}
	before := after(row, says("1.0.0"), poll("1.1.0"))
	if before.Written != "1.1.0" || before.Offer.State != Working || before.Deployment(begin) != 0 {
		t.Errorf("before the reboot: %+v, the offer %+v", before, before.Offer)
	}
	rebooted := after(row, says("1.1.0"))
	if rebooted.Offer.State != Installed || rebooted.Written != "" || rebooted.Has() != "1.1.0" {
		t.Errorf("after the reboot: %+v, the offer %+v", rebooted, rebooted.Offer)
	}
	back := after(rebooted, poll("1.1.0"), says("1.0.0"), poll("1.1.0"))
	if back.Offer.State != Reverted || back.Deployment(begin) != 0 {
		t.Errorf("after it fell back: %+v, the offer %+v", back, back.Offer)
	}
}

func TestAction_Failed_IsAnotherActionAfterTheWait_AndEndsAfterThree(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"))
	numbers := map[int64]bool{}
	at := begin
	for attempt := 1; attempt <= MostAttempts; attempt++ {
		number := row.Deployment(at)
		if number == 0 || numbers[number] {
			t.Fatalf("attempt %d has the action %d", attempt, number)
		}
		numbers[number] = true
		row, _ = Next(row, Feedback{Action: number, Progress: Broken, Code: CodeInstall, Detail: "its words", At: at})
		if row.Offer.State != Failed || row.Offer.Attempts != attempt || row.Offer.Detail != "its words" || row.Deployment(at) != 0 {
			t.Fatalf("attempt %d: %+v", attempt, row.Offer)
		}
		if again, changed := Next(row, Feedback{Action: number, Progress: Broken, Code: CodeInstall, At: at}); changed {
			t.Fatalf("the same failure counted twice: %+v", again.Offer)
		}
		at = at.Add(2 * time.Hour)
	}
	if row.Offer.RetryAt != nil || row.Deployment(at) != 0 {
		t.Errorf("told a fourth time: %+v", row.Offer)
	}
}

// TestAction_ErrorNamedBeforeTheFailure_IsItsReason in the same attempt. Without a failure it has no effect.
func TestAction_ErrorNamedBeforeTheFailure_IsItsReason(t *testing.T) {
	named := func(r Row) Input {
		return Feedback{Action: r.Offer.Action, Progress: Proceeding, Code: CodeSpace, Detail: "no space left", At: begin}
	}
	row := after(enrolled(), poll("1.1.0"), named)
	if o := row.Offer; o.State != Working || o.Code != "" || o.Detail != "" {
		t.Errorf("before it fails: %+v", o)
	}
	if done := after(row, reports(Written), says("1.1.0")); done.Offer.State != Installed || done.Offer.Code != "" {
		t.Errorf("it succeeded: %+v", done.Offer)
	}
	row = after(row, reports(Broken))
	if o := row.Offer; o.State != Failed || o.Code != CodeSpace || o.Detail != "no space left" {
		t.Errorf("it failed: %+v", o)
	}
	row = after(row, reports(Broken))
	if o := row.Offer; o.Code != CodeInstall || o.Detail != "its words" || o.Attempts != 2 {
		t.Errorf("the next attempt failed: %+v", o)
	}
}

func TestAction_Halted_IsCancelled_AndResumedIsAnotherAction(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"), reports(Proceeding), poll("1.0.0"))
	number := row.Offer.Action
	if row.Cancellation(begin) != number || row.Deployment(begin) != 0 {
		t.Fatalf("the row is %+v", row)
	}
	if _, changed := Next(row, told(row, "1.0.0")); changed {
		t.Error("the next poll is a write")
	}
	if going := after(row, reports(Refused)); going.Cancellation(begin) != number {
		t.Errorf("a client that goes on is no longer asked: %+v", going)
	}
	if failed := after(row, reports(Broken)); failed.Offer.State != Failed || failed.Cancellation(begin) != 0 {
		t.Errorf("the failure after the halt is lost: %+v", failed.Offer)
	}
	if finished := after(row, reports(Written)); finished.Written != "1.1.0" || finished.Cancellation(begin) != 0 || finished.Has() != "1.1.0" {
		t.Errorf("a version that is already on disk is cancelled: %+v", finished)
	}
	row = after(row, reports(GivenUp), poll("1.0.0"))
	if !row.Offer.Cancelled || row.Cancellation(begin) != 0 || row.Deployment(begin) != 0 {
		t.Fatalf("after it was given up: %+v, the offer %+v", row, row.Offer)
	}
	row = after(row, poll("1.1.0"))
	if row.Deployment(begin) == 0 || row.Deployment(begin) == number || row.Offer.Cancelled {
		t.Errorf("resumed: %+v", row.Offer)
	}
}

func TestAction_AnotherVersion_IsToldOnceTheFirstIsGivenUp_OrAfterAnHour(t *testing.T) {
	row := after(enrolled(), poll("1.1.0"))
	first := row.Offer.Action
	row = after(row, poll("1.2.0"))
	if row.Offer.Version != "1.2.0" || row.Cancellation(begin) != first {
		t.Fatalf("the row is %+v, the offer %+v", row, row.Offer)
	}
	if late := begin.Add(cancelPatience); row.Cancellation(late) != 0 || row.Deployment(late) != row.Offer.Action {
		t.Error("a client that never answers is told nothing")
	}
	if stale, changed := Next(row, Feedback{Action: first, Progress: Proceeding, At: begin}); changed {
		t.Errorf("a replaced offer is worked on: %+v", stale)
	}
	row, _ = Next(row, Feedback{Action: first, Progress: GivenUp, At: begin})
	if row.Cancellation(begin) != 0 || row.Deployment(begin) != row.Offer.Action || row.Offer.Cancelled {
		t.Errorf("after the first was given up: %+v, the offer %+v", row, row.Offer)
	}
}

// TestAction_PollDecidedOnAnOldRow_ChangesNothing: a box that has meanwhile said what it runs is not sent back.
func TestAction_PollDecidedOnAnOldRow_ChangesNothing(t *testing.T) {
	old := enrolled()
	row := after(old, says("1.1.0"))
	if next, changed := Next(row, told(old, "1.0.0")); changed {
		t.Errorf("changed to %+v", next)
	}
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
				row, _ = Next(row, p)
				if again, changed := Next(row, p); changed {
					t.Fatalf("the same poll changed %+v to %+v", row, again)
				}
			case 2:
				f := Feedback{Action: rapid.Int64Range(1, row.Revision+1).Draw(t, "action"), At: at,
					Progress: rapid.SampledFrom(progress).Draw(t, "progress")}
				if f.Progress == Broken {
					f.Code = CodeInstall
				}
				row, _ = Next(row, f)
			case 3:
				said = rapid.SampledFrom(versions).Draw(t, "runs")
				row, _ = Next(row, Statement{Running: said, DecideWithin: time.Hour, At: at})
			}
			if row.Offer == nil {
				continue
			}
			what := row.Offer.RolloutID + "/" + row.Offer.Version
			if number := row.Deployment(at); number != 0 {
				if was, used := meant[number]; used && was != what {
					t.Fatalf("the action %d was %s and is %s", number, was, what)
				}
				meant[number] = what
			}
			if row.Offer.State == Installed && said != row.Offer.Version {
				t.Fatalf("installed, and the box said it runs %s: %+v", said, row.Offer)
			}
			if n := row.Deployment(at); n != 0 && (row.Offer.Version == said || n == row.Cancellation(at)) {
				t.Fatalf("told to install what it runs or gives up: %+v", row)
			}
		}
	})
}
