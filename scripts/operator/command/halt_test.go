package command_test

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

func TestHalt_ABoxesNextPollIsToldOtherwise(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	d.starts(0)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	// box-0027 is in the first tenth for 1.1.0.
	d.Owner(t).Put(t, "/api/edges/box-0027", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	told := func(version string) {
		t.Helper()
		d.Box(t, "box-0027").Get(t, "/api/edges/box-0027/update/manifest?installed=1.0.0").Has(t, `{"version":"`+version+`"}`)
	}
	told("1.1.0")
	d.does("halt", "gateway-x/stable", "--reason", "two boxes did not come back").is(run.Done)
	told("1.0.0")
	d.does("halt", "gateway-x/stable").is(run.Done).says("no rollout is active")
	d.does("log").is(run.Done).says("RolloutHalted", "two boxes did not come back")
}

// TestHalt_WithTheLimitUsedUp: only the halt itself is allowed then.
func TestHalt_WithTheLimitUsedUp(t *testing.T) {
	d := newDesk(t, settings("LIMIT_USER=40", "LIMIT_COPILOT_USER=40"))
	d.starts(0)
	d.usesUp()
	d.does("halt", "gateway-x/stable").is(run.Done).says("halted 1.1.0 on gateway-x/stable at 1 %")
	d.allow()
	d.stands("halted", 1)
}

// usesUp makes calls until the limit refuses one.
func (d *desk) usesUp() {
	d.Helper()
	for range 100 {
		if d.Owner(d.T).Get(d.T, "/api/rate-limits/me").Status == http.StatusTooManyRequests {
			return
		}
	}
	d.Fatal("the limit refuses nothing")
}

// allow gives olga a new limit.
func (d *desk) allow() {
	d.Helper()
	d.does("limit", "set", "olga", "--calls", "1000").is(run.Done)
	expect.Until(d, "no container remembers a refusal", func() bool {
		return d.Owner(d.T).Get(d.T, "/api/ota/rollouts?edgeType=gateway-x").Status == http.StatusOK
	})
}

func TestHalt_WithTheLimitUsedUp_AndARolloutThatMovedOn(t *testing.T) {
	d := newDesk(t, settings("LIMIT_USER=40", "LIMIT_COPILOT_USER=40"))
	d.starts(0)
	d.as("anna").does("promote", "gateway-x/stable", "--yes").is(run.Done)
	d.usesUp()
	// The rollout is halted, but the command cannot know that no other one is active.
	d.does("halt", "gateway-x/stable").is(run.Unknown).warns("is halted; it is unknown whether another one is active on gateway-x/stable")
	d.allow()
	d.stands("halted", 10)
}

// TestHalt_AnotherRolloutThanTheOneThatWasSeen_IsHalted: the channel cannot be read at first, and the rollout that was
// last seen there has ended since.
func TestHalt_AnotherRolloutThanTheOneThatWasSeen_IsHalted(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	anna := d.as("anna")
	anna.does("halt", "gateway-x/stable").is(run.Done)
	anna.publish("gateway-x/canary", "1.2.0").is(run.Done)
	anna.does("start", "gateway-x/stable", "1.2.0", "--no-guard", "--yes").is(run.Done)
	d.seen = func(*http.Request) error {
		d.seen = nil
		return io.ErrUnexpectedEOF
	}
	d.does("halt", "gateway-x/stable").is(run.Done).warns("checking whether another one is active")
	d.stands("halted", 1)
	expect.Equal(t, d.last()["targetVersion"], "1.2.0", "the last rollout is of")
}

func TestHaltAll_HaltsEveryActiveRollout(t *testing.T) {
	d := newDesk(t)
	d.does("halt", "--all").is(run.Done).says("no rollout is active")
	for _, edgeType := range []string{"a", "b", "c"} {
		d.publish(edgeType+"/stable", "1.0.0").is(run.Done)
		d.publish(edgeType+"/canary", "1.1.0").is(run.Done)
		d.does("start", edgeType+"/stable", "1.1.0", "--yes").is(run.Done)
	}
	d.does("halt", "--all", "--reason", "all of them").is(run.Done).says("a/stable", "b/stable", "c/stable")
	for _, edgeType := range []string{"a", "b", "c"} {
		d.does("resume", edgeType+"/stable", "--yes").is(run.Done)
	}
	type status struct{ Status string }
	var list struct{ Items []status }
	d.does("halt", "--all", "--json").is(run.Done).into(&list)
	expect.Equal(t, list.Items, slices.Repeat([]status{{"halted"}}, 3), "it prints")
	d.Owner(t).Get(t, "/api/ota/rollouts").Into(t, &list)
	expect.Equal(t, list.Items, slices.Repeat([]status{{"halted"}}, 3), "the rollouts are")
}
