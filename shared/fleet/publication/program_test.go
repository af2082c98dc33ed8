package publication_test

import (
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// byProgram is the origin of a program's call. A program with olga's name started her rollout.
func byProgram(user, overrideReason string) audit.Origin {
	o := from("publish")
	o.Actor.UserID, o.Actor.Roles = user, []auth.Role{auth.Program}
	return o.For(audit.Grounds{OverrideReason: overrideReason})
}

func (f *fleet) publishBy(t *testing.T, by audit.Origin) error {
	t.Helper()
	_, err := f.publications.Publish(admission.Unlimited(t.Context()), by, release.Publication{EdgeType: f.edgeType, Channel: "stable",
		CurrentVersion: "1.2.0", ArtifactURL: "https://a.example/1.2.0", SHA256: strings.Repeat("a", 64)}, input.Preconditions{})
	return err
}

// TestPublish_ProgramOverARolloutOfSomebodyElse_IsRefused: whoever steals its token must not end a person's rollout.
func TestPublish_ProgramOverARolloutOfSomebodyElse_IsRefused(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		before := f.row(t)
		if err := f.publishBy(t, byProgram("ci", "")); !problem.Has(err, problem.RolloutActive) {
			t.Fatalf("got %v", err)
		}
		if after := f.row(t); after.Revision != before.Revision || after.CurrentVersion != before.CurrentVersion || !after.Rollout.Active {
			t.Errorf("the channel is %+v", after)
		}
		r, err := f.rollouts.Get(t.Context(), f.id)
		expect.That(t, err == nil && r.Status == rollout.Active, "the rollout is %+v, %v", r, err)
	})
}

func TestPublish_ProgramThatMayEndTheRollout_EndsIt(t *testing.T) {
	for name, c := range map[string]struct {
		by   audit.Origin
		halt bool
	}{
		"its own":                      {byProgram("olga", ""), false},
		"with a reason":                {byProgram("ci", "the canaries burn"), false},
		"one that a person has halted": {byProgram("ci", ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			eachFleet(t, func(t *testing.T, f *fleet) {
				if c.halt {
					f.move(t, rollout.Move{Status: rollout.Halted})
				}
				expect.OK(t, f.publishBy(t, c.by))
				row := f.row(t)
				expect.That(t, row.CurrentVersion == "1.2.0", "the channel is %+v", row)
				r, err := f.rollouts.Get(t.Context(), f.id)
				expect.That(t, err == nil && r.Status == rollout.Halted, "the rollout is %+v, %v", r, err)
				page, err := f.log.List(t.Context(), audit.Platform, audit.Filter{ResourceType: rollout.ResourceType, ResourceID: f.id}, "", 1)
				if err != nil || !c.halt && page.Items[0].OverrideReason != c.by.OverrideReason {
					t.Errorf("the trail has %+v, %v", page.Items, err)
				}
			})
		})
	}
}
