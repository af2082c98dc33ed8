package command_test

import (
	"testing"

	"wavegate/scripts/operator/run"
)

// TestSendBack_AfterAHalt_TellsTheBoxesOfTheRolloutTheEarlierVersion, as the page does, with all fields of the
// artifact.
func TestSendBack_AfterAHalt_TellsTheBoxesOfTheRolloutTheEarlierVersion(t *testing.T) {
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
	d.does("send-back", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Refused).
		warns("halt it first: wavegate halt gateway-x/stable")
	d.does("halt", "gateway-x/stable").is(run.Done)
	told("1.1.0")
	d.does("send-back", "gateway-x/stable").is(run.Misused).
		warns("publish 1.0.0 again, so that all 30 boxes get it, including those that run 1.1.0",
			"--confirm gateway-x/stable")
	d.does("send-back", "gateway-x/stable", "--confirm", "gateway-x/stable", "--reason", "it hangs").is(run.Done).says("sent back to 1.0.0")
	told("1.0.0")
	after := d.Owner(t).Get(t, "/api/ota/release-channels/gateway-x/stable").Object(t)
	for _, field := range []string{"currentVersion", "artifactUrl", "sha256", "part", "artifactHttpUrl"} {
		if after[field] != before[field] || after[field] == nil {
			t.Errorf("%s was %v and is %v", field, before[field], after[field])
		}
	}
	d.does("log", "gateway-x/stable").is(run.Done).says("it hangs")
	d.does("send-back", "gateway-x/stable").is(run.Done).says("1.0.0 was published again")
}

func TestSendBack_WhereThereIsNothingToSendBackTo_IsRefused(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.does("send-back", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Refused).warns("has never been a rollout")
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
	d.does("halt", "gateway-x/stable").is(run.Done)
	d.publish("gateway-x/stable", "1.2.0").is(run.Done)
	d.does("send-back", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Refused).warns("has 1.2.0 by now")
}
