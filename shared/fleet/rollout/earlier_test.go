package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/idempotency"
)

// earlier lists the versions that the row remembers from earlier rollouts.
func (f *fleet) earlier(t *testing.T) []string {
	t.Helper()
	versions := []string{}
	for _, target := range f.row(t).Earlier {
		expect.Must(t, target.ArtifactURL == "https://a.example/"+target.Version && len(target.SHA256) == 64,
			"remembered without its artifact: %+v", target)
		versions = append(versions, target.Version)
	}
	return versions
}

func TestStart_RemembersTheTargetsThatBoxesMayHold_UntilAllMoveOn(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		remembers := func(versions ...string) {
			t.Helper()
			got := f.earlier(t)
			expect.Must(t, slices.Equal(got, versions), "remembers %v, want %v", got, versions)
		}
		f.publish(t, "canary", "1.2.0", "c")
		f.publish(t, "canary", "1.3.0", "d")
		f.move(t, f.start(t, "1.1.0"), 0, rollout.Halted)
		remembers()
		f.move(t, f.start(t, "1.2.0"), 10, rollout.Completed) // early: the channel keeps its version
		remembers("1.1.0")
		third := f.start(t, "1.3.0")
		remembers("1.2.0", "1.1.0")
		for _, percent := range []int{10, 50} {
			f.move(t, third, percent, "")
		}
		remembers("1.2.0", "1.1.0")
		f.move(t, third, 100, rollout.Completed)
		remembers() // everyone was offered 1.3.0
		f.move(t, f.start(t, "1.1.0"), 0, rollout.Halted)
		remembers() // 1.3.0 is the channel's own by now
		f.move(t, f.start(t, "1.2.0"), 0, rollout.Halted)
		remembers("1.1.0")
		f.publish(t, "stable", "1.3.0", "d")
		remembers()
	})
}

func TestStart_MoreTargetsThanAreRemembered_IsRefusedUntilAPublication(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		for i := range release.MostEarlier + 1 {
			version := fmt.Sprintf("2.0.%d", i)
			f.publish(t, "canary", version, "e")
			f.move(t, f.start(t, version), 0, rollout.Halted)
		}
		n := len(f.earlier(t))
		expect.Must(t, n == release.MostEarlier, "remembers %d targets, want %d", n, release.MostEarlier)
		_, err := f.rollouts.Start(admission.Unlimited(t.Context()), origin, rollout.Plan{EdgeType: f.edgeType, Channel: "stable", TargetVersion: "1.1.0"}, idempotency.Claim{})
		expect.Must(t, problem.Has(err, problem.Conflict) && strings.Contains(err.Error(), "publish"), "got %v", err)
		f.publish(t, "stable", "1.0.0", "a")
		f.start(t, "1.1.0")
	})
}
