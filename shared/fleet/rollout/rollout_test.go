package rollout_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// People who move rollouts.
var (
	otto = audit.Person{Issuer: "https://login.example", UserID: "otto"}
	olga = audit.Person{Issuer: "https://login.example", UserID: "olga"}
)

// starts returns the stage starts of a target that reached all stages up to one at the same time.
func starts(percent int) (s rollout.StageStarts) {
	for stage, at := range map[int]**time.Time{1: &s.At1, 10: &s.At10, 50: &s.At50, 100: &s.At100} {
		if stage <= percent {
			*at = &start
		}
	}
	return s
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns a rollout in a state, as if after a start and moves.
func at(percent int, status rollout.Status) rollout.Rollout {
	r := rollout.Start("0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a",
		release.Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0", Revision: 1},
		release.Release{EdgeType: "gateway-x", Version: "1.1.0", ArtifactURL: "https://a.example/1.1.0", Bound: release.Bound{SHA256: strings.Repeat("a", 64)}},
		nil, otto, start)
	r.StagedPercent, r.Status, r.Revision = percent, status, 5
	r.StageSince, r.StartedBy, r.StageStarts = start, otto, starts(percent)
	if status != rollout.Active {
		r.EndedAt = &start
	}
	if status == rollout.Completed {
		r.CompletedAt = &start
	}
	return r
}

// states returns the states that a rollout at a stage can be in.
func states(percent int) map[string]rollout.Rollout {
	completedOnce, outlived := at(percent, rollout.Halted), at(percent, rollout.Halted)
	completedOnce.CompletedAt = &start
	outlived.EndedBy = rollout.ByPublication
	return map[string]rollout.Rollout{
		"active": at(percent, rollout.Active), "halted": at(percent, rollout.Halted), "completed": at(percent, rollout.Completed),
		"halted after a completion": completedOnce, "halted by a publication": outlived,
	}
}

func TestStart_ReachesTheFirstStageAtOnce(t *testing.T) {
	on := release.Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0", Revision: 7}
	target := release.Release{EdgeType: "gateway-x", Version: "1.1.0", ArtifactURL: "https://a.example/1", Bound: release.Bound{SHA256: "ab"}}
	r := rollout.Start("id", on, target, nil, otto, start)
	want := rollout.Rollout{ID: "id", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "1.1.0", ArtifactURL: "https://a.example/1",
		SHA256: "ab", PreviousVersion: "1.0.0", StagedPercent: 1, Status: rollout.Active, StartedAt: start, UpdatedAt: start, StageSince: r.StageSince, StageStarts: r.StageStarts, StartedBy: r.StartedBy, Revision: 1}
	reached, ok := r.Reached(1)
	expect.That(t, ok && reached.Equal(start), "reached the first stage at %v, %t", reached, ok)
	expect.Must(t, reflect.DeepEqual(r, want) && r.StageSince.Equal(start) && r.StartedBy == otto,
		"got  %+v\nwant %+v", r, want)
}

// TestAfter_EveryStateAndMove tries every move in every state, and compares the result with the rules: which moves are
// applied, change nothing, or are refused.
func TestAfter_EveryStateAndMove(t *testing.T) {
	next := map[int]int{1: 10, 10: 50, 50: 100}
	asked := append([]int{0}, cohort.Stages...) // 0: not sent
	cases := 0
	for _, percent := range cohort.Stages {
		for state, was := range states(percent) {
			for _, raise := range asked {
				for _, status := range append([]rollout.Status{""}, rollout.Statuses...) {
					if raise == 0 && status == "" || raise != 0 && status == rollout.Active {
						continue
					}
					cases++
					want, refused := was, false
					if raise != 0 && status != rollout.Halted && raise != percent {
						want.StagedPercent = raise
						refused = was.Status != rollout.Active || next[percent] != raise
					}
					if status != "" {
						want.Status = status
					}
					if status == rollout.Active && state != "halted" && state != "active" {
						refused = true
					}
					checkMove(t, state, was, want, raise, status, refused)
				}
			}
		}
	}
	expect.Must(t, cases == 4*5*(5*3-1+1), "%d cases", cases)
}

func checkMove(t *testing.T, state string, was, want rollout.Rollout, raise int, status rollout.Status, refused bool) {
	t.Helper()
	name := fmt.Sprintf("%s at %d, raise %d, status %q", state, was.StagedPercent, raise, status)
	m := rollout.Move{Status: status}
	if raise != 0 {
		m.StagedPercent = &raise
	}
	later := start.Add(time.Hour)
	got, event, err := was.After(m, rollout.Moment{At: later, By: olga})
	if refused {
		expect.That(t, problem.Has(err, problem.InvalidStateTransition) && event == "" && reflect.DeepEqual(got, was),
			"%s: got %+v, %v, %v; want a refusal that changes nothing", name, got, event, err)
		return
	}
	if err != nil {
		t.Errorf("%s: refused: %v", name, err)
		return
	}
	differs := !reflect.DeepEqual(want, was)
	if differs {
		want.Revision, want.UpdatedAt = was.Revision+1, later
		want.Adopted = was.Status == rollout.Active && want.Status == rollout.Completed && want.StagedPercent == 100
	}
	moment := func(what string, at, before *time.Time, changes, there bool) {
		t.Helper()
		switch {
		case changes && (at == nil || !at.Equal(later)), !changes && there && at != before, !there && at != nil:
			t.Errorf("%s: %s at %v", name, what, at)
		}
	}
	moment("ended", got.EndedAt, was.EndedAt, was.Status == rollout.Active && want.Status != rollout.Active, want.Status != rollout.Active)
	moment("completed", got.CompletedAt, was.CompletedAt, was.CompletedAt == nil && want.Status == rollout.Completed,
		was.CompletedAt != nil || want.Status == rollout.Completed)
	raised := want.StagedPercent != was.StagedPercent
	since := was.StageSince
	if raised || was.Status != rollout.Active && want.Status == rollout.Active {
		since = later
	}
	expect.That(t, got.StageSince.Equal(since), "%s: at the stage since %v", name, got.StageSince)
	if by := got.PromotedBy; raised != (by != nil) || raised && *by != olga {
		t.Errorf("%s: promoted by %v", name, by)
	}
	want.EndedAt, want.CompletedAt, want.StageSince, want.PromotedBy = got.EndedAt, got.CompletedAt, got.StageSince, got.PromotedBy
	if want.ResumedAt = was.ResumedAt; was.Status != rollout.Active && want.Status == rollout.Active {
		want.ResumedAt = &later
	}
	checkStarts(t, name, was, got)
	want.StageStarts = got.StageStarts
	expect.That(t, reflect.DeepEqual(got, want) && (event != "") == differs,
		"%s: got %+v, %q\nwant %+v, changed %v", name, got, event, want, differs)
}

// checkStarts checks that a move keeps the stage starts, and adds one if it reaches a stage for the first time.
func checkStarts(t *testing.T, name string, was, got rollout.Rollout) {
	t.Helper()
	for _, percent := range cohort.Stages {
		before, known := was.Reached(percent)
		if at, reached := got.Reached(percent); reached != (percent <= got.StagedPercent) || known && !at.Equal(before) || !known && reached && !at.Equal(start.Add(time.Hour)) {
			t.Errorf("%s: reached %d at %v, %t; before that at %v", name, percent, at, reached, before)
		}
	}
}

func TestFollows_InheritsWhatAnEarlierRolloutOfTheVersionReached(t *testing.T) {
	earlier := at(1, rollout.Active)
	ten := 10
	earlier, _, err := earlier.After(rollout.Move{StagedPercent: &ten}, rollout.Moment{By: olga, At: start.Add(time.Hour)})
	expect.OK(t, err)
	later := at(1, rollout.Active)
	later.StageStarts = rollout.StageStarts{}
	r := later.Follows(earlier)
	for percent, want := range map[int]time.Time{1: start, 10: start.Add(time.Hour), 50: {}, 100: {}} {
		if got, reached := r.Reached(percent); !got.Equal(want) || reached == want.IsZero() {
			t.Errorf("reached %d at %v, %t; want %v", percent, got, reached, want)
		}
	}
}

func TestSuperseded_EndsWhatIsActive_AndNamesThePublication(t *testing.T) {
	later := start.Add(time.Hour)
	next, event := at(10, rollout.Active).Superseded(5, later)
	want := at(10, rollout.Halted)
	want.EndedBy, want.EndedAt, want.UpdatedAt, want.Revision = rollout.ByPublication, next.EndedAt, later, 6
	if event != "RolloutHalted" || !reflect.DeepEqual(next, want) || next.EndedAt == nil || !next.EndedAt.Equal(later) {
		t.Errorf("got %+v, %q", next, event)
	}
	if next, _ := at(10, rollout.Active).Superseded(9, later); next.Revision != 10 {
		t.Errorf("the row carried revision 9, the next stage is %d", next.Revision)
	}
	for _, status := range []rollout.Status{rollout.Halted, rollout.Completed} {
		next, event := at(10, status).Superseded(5, later)
		expect.That(t, event == "" && reflect.DeepEqual(next, at(10, status)), "%s: got %+v, %q", status, next, event)
	}
}

func TestAfter_SkippedStage_NamesTheOneThatIsNext(t *testing.T) {
	for percent, want := range map[int]string{1: "next stage is 10", 10: "next stage is 50", 50: "next stage is 100", 100: "last stage"} {
		asked := 100
		if percent >= 50 {
			asked = 1
		}
		_, _, err := at(percent, rollout.Active).After(rollout.Move{StagedPercent: &asked}, rollout.Moment{At: start})
		expect.That(t, err != nil && strings.Contains(problem.From(err).Detail, want),
			"at %d asked for %d: %v, want it to say %q", percent, asked, err, want)
	}
}

// TestAfter_AnySequence_KeepsWhatIsPromised plays random moves.
func TestAfter_AnySequence_KeepsWhatIsPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := at(1, rollout.Active)
		r.Revision = 1
		now := start
		for range rapid.IntRange(1, 30).Draw(t, "moves") {
			m := rapid.Custom(drawMove).Draw(t, "move")
			now = now.Add(time.Second)
			next, event, err := r.After(m, rollout.Moment{At: now, By: olga})
			if err != nil && m.Status == rollout.Halted {
				t.Fatalf("a halt was refused: %v", err)
			}
			if (err != nil || event == "") && !reflect.DeepEqual(next, r) {
				t.Fatalf("refused or without effect, but changed: %+v", next)
			}
			if event != "" && next.Revision != r.Revision+1 {
				t.Fatalf("revision went from %d to %d", r.Revision, next.Revision)
			}
			i, j := slices.Index(cohort.Stages, r.StagedPercent), slices.Index(cohort.Stages, next.StagedPercent)
			expect.Must(t, j >= i && j <= i+1, "the share went from %d to %d", r.StagedPercent, next.StagedPercent)
			if r.Status != rollout.Active && next.StagedPercent != r.StagedPercent {
				t.Fatalf("a rollout that had ended was raised: %+v", next)
			}
			if next.Status == rollout.Active && next.CompletedAt != nil {
				t.Fatalf("a rollout that was completed went on: %+v", next)
			}
			if next.Status != rollout.Active && r.EndedAt != nil && next.EndedAt != r.EndedAt || (next.Status == rollout.Active) != (next.EndedAt == nil) {
				t.Fatalf("ended at %v, then %v, %s", r.EndedAt, next.EndedAt, next.Status)
			}
			if r.Adopted && !next.Adopted || next.Adopted && next.CompletedAt == nil {
				t.Fatalf("adopted, but is %+v", next)
			}
			again, event, err := next.After(m, rollout.Moment{At: now, By: olga})
			if err == nil && (event != "" || !reflect.DeepEqual(again, next)) {
				t.Fatalf("a repeated move changed it again: %+v", again)
			}
			r = next
		}
	})
}

func drawMove(t *rapid.T) rollout.Move {
	m := rollout.Move{Status: rapid.SampledFrom([]rollout.Status{"", rollout.Halted, rollout.Active, rollout.Completed}).Draw(t, "status")}
	if m.Status == "" || m.Status != rollout.Active && rapid.Bool().Draw(t, "raises") {
		m.StagedPercent = new(rapid.SampledFrom(cohort.Stages).Draw(t, "percent"))
	}
	return m
}

func TestCarried_IsWhatAPollNeeds(t *testing.T) {
	r := at(50, rollout.Halted)
	want := release.Carried{ID: r.ID, TargetVersion: "1.1.0", ArtifactURL: "https://a.example/1.1.0", SHA256: strings.Repeat("a", 64),
		StagedPercent: 50, Active: false, Revision: 5, Guard: string(rollout.NoGuard), ChangedAt: r.UpdatedAt, StartedAt: r.StartedAt}
	expect.Equal(t, r.Carried(), want, "the copy")
}
