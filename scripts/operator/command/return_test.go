package command_test

import (
	"testing"

	"wavegate/scripts/operator/run"
)

// TestReturn_AnActiveRollout_TellsTheBoxesOfTheRolloutTheEarlierVersion also checks that the channel keeps its version.
func TestReturn_AnActiveRollout_TellsTheBoxesOfTheRolloutTheEarlierVersion(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	said := append(publishing("gateway-x/stable", "1.0.0"), "--part", "os", "--http-url", "http://cache.example/1.0.0",
		"--confirm", "gateway-x/stable")
	d.starts(30)
	d.does(said...).is(run.Done)
	before := d.Owner(t).Get(t, "/api/ota/release-channels/gateway-x/stable").Object(t)
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	told := func(version string) {
		t.Helper()
		d.does("box", "manifest", "box-0027", "--installed", "1.1.0").is(run.Done).says("version              " + version)
	}
	told("1.1.0")
	d.does("return", "gateway-x/stable").is(run.Misused).
		warns("0 of 30 boxes run it and get 1.0.0 again", "--confirm gateway-x/stable")
	told("1.1.0")
	d.does("return", "gateway-x/stable", "--confirm", "gateway-x/stable", "--reason", "it hangs").is(run.Done).says("get 1.0.0 again")
	told("1.0.0")
	after := d.Owner(t).Get(t, "/api/ota/release-channels/gateway-x/stable").Object(t)
	for _, field := range []string{"currentVersion", "artifactUrl", "sha256", "part", "artifactHttpUrl"} {
		if after[field] != before[field] || after[field] == nil {
			t.Errorf("%s was %v and is %v", field, before[field], after[field])
		}
	}
	d.does("log", "gateway-x/stable").is(run.Done).says("it hangs")
	d.does("send-back", "gateway-x/stable").is(run.Done).says("was returned")
	d.does("start", "gateway-x/stable", "1.1.0").is(run.Misused).warns("It was returned on gateway-x/stable.")
}

func TestReturn_WhereThereIsNothingToReturn_IsRefused(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.does("return", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Refused).warns("has never been a rollout")
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
	d.does("halt", "gateway-x/stable").is(run.Done)
	d.publish("gateway-x/stable", "1.2.0").is(run.Done)
	d.does("return", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Refused).warns("a version was published")
}
