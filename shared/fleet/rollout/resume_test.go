package rollout_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// try makes a move that may be refused.
func (f *fleet) try(t *testing.T, id string, m rollout.Move) (rollout.Rollout, error) {
	t.Helper()
	return f.rollouts.Move(admission.Unlimited(t.Context()), origin, id, m, input.Preconditions{})
}

func (f *fleet) get(t *testing.T, id string) rollout.Rollout {
	t.Helper()
	r := expect.Value(f.rollouts.Get(t.Context(), id))(t)
	return r
}

func TestResume_HaltedRollout_GoesOnWhereItWas(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		id := f.start(t, "1.1.0")
		f.move(t, id, 10, "")
		before := f.row(t).Rollout
		f.move(t, id, 0, rollout.Halted)
		f.move(t, id, 0, rollout.Active)
		f.carries(t, id)
		r, now := f.get(t, id), f.row(t).Rollout
		expect.Must(t, r.Status == rollout.Active && r.StagedPercent == 10 && r.EndedAt == nil && r.Revision == 4,
			"the rollout is %+v", r)
		if now.TargetVersion != before.TargetVersion || now.StagedPercent != before.StagedPercent || !now.Active {
			t.Fatalf("the row carries %+v, before %+v", now, before)
		}
		f.move(t, id, 50, "")
		f.move(t, id, 100, rollout.Completed)
		if row := f.row(t); row.CurrentVersion != "1.1.0" || !f.get(t, id).Adopted {
			t.Fatalf("the channel is %+v, the rollout %+v", row, f.get(t, id))
		}
	})
}

func TestResume_WhatTheChannelLeftBehind_IsRefused(t *testing.T) {
	for name, meanwhile := range map[string]func(t *testing.T, f *fleet, id string){
		"published":            func(t *testing.T, f *fleet, _ string) { f.publish(t, "stable", "1.0.0", "a") },
		"another was started":  func(t *testing.T, f *fleet, _ string) { f.start(t, "1.2.0") },
		"another was and over": func(t *testing.T, f *fleet, _ string) { f.move(t, f.start(t, "1.2.0"), 0, rollout.Halted) },
		"completed once": func(t *testing.T, f *fleet, id string) {
			f.move(t, id, 0, rollout.Completed)
			f.move(t, id, 0, rollout.Halted)
		},
		"completed": func(t *testing.T, f *fleet, id string) { f.move(t, id, 0, rollout.Completed) },
	} {
		t.Run(name, func(t *testing.T) {
			eachFleet(t, func(t *testing.T, f *fleet) {
				f.publish(t, "canary", "1.2.0", "c")
				id := f.start(t, "1.1.0")
				f.move(t, id, 0, rollout.Halted)
				meanwhile(t, f, id)
				row, was := f.row(t), f.get(t, id)
				_, err := f.try(t, id, rollout.Move{Status: rollout.Active})
				expect.Must(t, problem.Has(err, problem.InvalidStateTransition), "got %v", err)
				if now := f.row(t); now.ETag() != row.ETag() || f.get(t, id).Revision != was.Revision {
					t.Errorf("the refusal changed %+v to %+v", row, now)
				}
			})
		})
	}
}

func TestResume_ActiveRollout_ChangesNothing(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		id := f.start(t, "1.1.0")
		f.move(t, id, 0, rollout.Active)
		r := f.get(t, id)
		expect.That(t, r.Revision == 1, "the rollout is %+v", r)
	})
}

func TestCompletion_TakesTheTargetFromWhereItIsNow(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		id := f.start(t, "1.1.0")
		f.publishAt(t, "canary", "1.1.0", "b", "https://new.example/1.1.0")
		for _, percent := range []int{10, 50} {
			f.move(t, id, percent, "")
		}
		f.move(t, id, 100, rollout.Completed)
		if row := f.row(t); row.ArtifactURL != "https://new.example/1.1.0" || row.SHA256 != strings.Repeat("b", 64) {
			t.Errorf("the channel is %+v", row)
		}
		r := f.get(t, id)
		expect.That(t, r.ArtifactURL == "https://a.example/1.1.0" && r.Adopted, "the rollout is %+v", r)
	})
}

// TestResume_CompletedBeforeThatTimeWasKept_IsRefused covers rollouts that were stored without completedAt.
func TestResume_CompletedBeforeThatTimeWasKept_IsRefused(t *testing.T) {
	was := rollout.Rollout{ID: "r", StagedPercent: 100, Status: rollout.Completed, Revision: 5}
	next, event, err := was.After(rollout.Move{Status: rollout.Active}, rollout.Moment{At: time.Now()})
	expect.That(t, problem.Has(err, problem.InvalidStateTransition), "got %+v, %q, %v", next, event, err)
}
