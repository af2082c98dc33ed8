package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/problem"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a rollout in a state, as a start and moves could have led to it.
func at(percent int, status rollout.Status) rollout.Rollout {
	r := rollout.Start("0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a",
		release.Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0", Revision: 1},
		release.Release{EdgeType: "gateway-x", Version: "1.1.0", ArtifactURL: "https://a.example/1.1.0", SHA256: strings.Repeat("a", 64)},
		start)
	r.StagedPercent, r.Status, r.Revision = percent, status, 5
	if status != rollout.Active {
		r.EndedAt = &start
	}
	return r
}

func TestStart_ReachesTheFirstStageAtOnce(t *testing.T) {
	on := release.Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0", Revision: 7}
	target := release.Release{EdgeType: "gateway-x", Version: "1.1.0", ArtifactURL: "https://a.example/1", SHA256: "ab"}
	r := rollout.Start("id", on, target, start)
	want := rollout.Rollout{ID: "id", EdgeType: "gateway-x", Channel: "stable", TargetVersion: "1.1.0", ArtifactURL: "https://a.example/1",
		SHA256: "ab", PreviousVersion: "1.0.0", StagedPercent: 1, Status: rollout.Active, StartedAt: start, UpdatedAt: start, Revision: 1}
	if r != want {
		t.Fatalf("got  %+v\nwant %+v", r, want)
	}
}

// TestAfter_EveryStateAndMove walks every state of a rollout and every move, and holds the result
// against the decisions: what is applied, what changes nothing, what is refused.
func TestAfter_EveryStateAndMove(t *testing.T) {
	next := map[int]int{1: 10, 10: 50, 50: 100}
	asked := append([]int{0}, rollout.Stages...) // 0: not sent
	cases := 0
	for _, percent := range rollout.Stages {
		for _, status := range rollout.Statuses {
			for _, raise := range asked {
				for _, end := range []rollout.Status{"", rollout.Halted, rollout.Completed} {
					if raise == 0 && end == "" {
						continue
					}
					cases++
					wantPercent, wantStatus, refused := percent, status, false
					if end != "" {
						wantStatus = end
					}
					if raise != 0 && end != rollout.Halted && raise != percent {
						if status == rollout.Active && next[percent] == raise {
							wantPercent = raise
						} else {
							refused = true
						}
					}
					checkMove(t, at(percent, status), raise, end, wantPercent, wantStatus, refused)
				}
			}
		}
	}
	if cases != 4*3*(5*3-1) {
		t.Fatalf("%d cases", cases)
	}
}

func checkMove(t *testing.T, was rollout.Rollout, raise int, end rollout.Status, wantPercent int, wantStatus rollout.Status, refused bool) {
	t.Helper()
	name := fmt.Sprintf("%s at %d, raise %d, status %q", was.Status, was.StagedPercent, raise, end)
	m := rollout.Move{Status: end}
	if raise != 0 {
		m.StagedPercent = &raise
	}
	later := start.Add(time.Hour)
	got, event, err := was.After(m, later)
	if refused {
		if !problem.Has(err, problem.InvalidStateTransition) || event != "" || got != was {
			t.Errorf("%s: got %+v, %v, %v; want a refusal that changes nothing", name, got, event, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: refused: %v", name, err)
		return
	}
	want := was
	differs := wantPercent != was.StagedPercent || wantStatus != was.Status
	if differs {
		want.StagedPercent, want.Status, want.Revision, want.UpdatedAt = wantPercent, wantStatus, was.Revision+1, later
		if was.Status == rollout.Active && wantStatus != rollout.Active {
			want.EndedAt = got.EndedAt
			if got.EndedAt == nil || !got.EndedAt.Equal(later) {
				t.Errorf("%s: ended at %v", name, got.EndedAt)
			}
		}
	}
	if got != want || (event != "") != differs {
		t.Errorf("%s: got %+v, %q\nwant %+v, changed %v", name, got, event, want, differs)
	}
}

func TestAfter_SkippedStage_NamesTheOneThatIsNext(t *testing.T) {
	for percent, want := range map[int]string{1: "next is 10", 10: "next is 50", 50: "next is 100", 100: "last stage"} {
		asked := 100
		if percent >= 50 {
			asked = 1
		}
		_, _, err := at(percent, rollout.Active).After(rollout.Move{StagedPercent: &asked}, start)
		if err == nil || !strings.Contains(problem.From(err).Detail, want) {
			t.Errorf("at %d asked for %d: %v, want it to say %q", percent, asked, err, want)
		}
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
			next, event, err := r.After(m, now)
			if err != nil && m.Status == rollout.Halted {
				t.Fatalf("a halt was refused: %v", err)
			}
			if (err != nil || event == "") && next != r {
				t.Fatalf("refused or without effect, but changed: %+v", next)
			}
			if event != "" && next.Revision != r.Revision+1 {
				t.Fatalf("revision went from %d to %d", r.Revision, next.Revision)
			}
			i, j := slices.Index(rollout.Stages, r.StagedPercent), slices.Index(rollout.Stages, next.StagedPercent)
			if j < i || j > i+1 {
				t.Fatalf("the share went from %d to %d", r.StagedPercent, next.StagedPercent)
			}
			if r.Status != rollout.Active && (next.StagedPercent != r.StagedPercent || next.Status == rollout.Active) {
				t.Fatalf("a rollout that had ended went on: %+v", next)
			}
			if r.EndedAt != nil && next.EndedAt != r.EndedAt || (next.Status == rollout.Active) != (next.EndedAt == nil) {
				t.Fatalf("ended at %v, then %v, %s", r.EndedAt, next.EndedAt, next.Status)
			}
			again, event, err := next.After(m, now)
			if err == nil && (event != "" || again != next) {
				t.Fatalf("the same move twice did more than once: %+v", again)
			}
			r = next
		}
	})
}

func drawMove(t *rapid.T) rollout.Move {
	m := rollout.Move{Status: rapid.SampledFrom([]rollout.Status{"", rollout.Halted, rollout.Completed}).Draw(t, "status")}
	if m.Status == "" || rapid.Bool().Draw(t, "raises") {
		m.StagedPercent = new(rapid.SampledFrom(rollout.Stages).Draw(t, "percent"))
	}
	return m
}

func TestWave_CarriesWhatAPollNeeds(t *testing.T) {
	r := at(50, rollout.Halted)
	want := release.Wave{ID: r.ID, TargetVersion: "1.1.0", ArtifactURL: "https://a.example/1.1.0", SHA256: strings.Repeat("a", 64),
		StagedPercent: 50, Active: false, Revision: 5}
	if got := r.Wave(); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}
