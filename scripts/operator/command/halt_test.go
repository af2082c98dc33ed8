package command_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"wavegate/scripts/operator/run"
)

func TestHalt_ABoxesNextPollIsToldOtherwise(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	d.starts(0)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	// box-0027 is in the first tenth for 1.1.0.
	d.Owner(t).Put(t, "/api/edges/box-0027", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	poll := func() any {
		return d.Box(t, "box-0027").Get(t, "/api/edges/box-0027/update/manifest?installed=1.0.0").Is(t, http.StatusOK).Object(t)["version"]
	}
	if v := poll(); v != "1.1.0" {
		t.Fatalf("before the halt it is told %v", v)
	}
	began := time.Now()
	d.does("halt", "gateway-x/stable", "--reason", "two boxes did not come back").is(run.Done)
	if v := poll(); v != "1.0.0" {
		t.Fatalf("after the halt it is told %v", v)
	}
	t.Logf("from the start of the command to the poll that is told otherwise: %s", time.Since(began).Round(time.Millisecond))
	d.does("halt", "gateway-x/stable").is(run.Done).says("no rollout is active")
	d.does("log").is(run.Done).says("RolloutHalted", "two boxes did not come back")
}

// TestHalt_WithTheLimitUsedUp: only the halt itself is allowed then.
func TestHalt_WithTheLimitUsedUp(t *testing.T) {
	d := newDesk(t, settings("LIMIT_USER=40", "LIMIT_COPILOT_USER=40"))
	d.starts(0)
	d.usesUp()
	began := time.Now()
	d.does("halt", "gateway-x/stable").is(run.Done).says("halted 1.1.0 on gateway-x/stable at 1 %")
	t.Logf("halted in %s", time.Since(began).Round(time.Millisecond))
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
	time.Sleep(5 * time.Second) // a container may remember a refusal for so long
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

func TestHaltAll_HaltsEveryActiveRollout(t *testing.T) {
	d := newDesk(t)
	d.does("halt", "--all").is(run.Done).says("no rollout is active")
	for _, edgeType := range []string{"a", "b", "c"} {
		for channel, version := range map[string]string{"stable": "1.0.0", "canary": "1.1.0"} {
			name := edgeType + "/" + channel
			d.publish(name, version).is(run.Done)
		}
		d.does("start", edgeType+"/stable", "1.1.0", "--yes").is(run.Done)
	}
	d.does("halt", "--all", "--reason", "all of them").is(run.Done).says("a/stable", "b/stable", "c/stable")
	for _, edgeType := range []string{"a", "b", "c"} {
		d.does("resume", edgeType+"/stable", "--yes").is(run.Done)
	}
	var list struct {
		Items []struct{ Status string }
	}
	if d.does("halt", "--all", "--json").is(run.Done).into(&list); len(list.Items) != 3 || list.Items[0].Status != "halted" {
		t.Errorf("it prints %v", list)
	}
	for _, edgeType := range []string{"a", "b", "c"} {
		list := d.Owner(t).Get(t, fmt.Sprintf("/api/ota/rollouts?edgeType=%s", edgeType)).Object(t)["items"].([]any)
		if r := list[0].(map[string]any); r["status"] != "halted" {
			t.Errorf("%s is %v", edgeType, r["status"])
		}
	}
}
