package decide

import (
	"testing"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestPatience_BelowTheLastStage_AndByThePolicy_IsLonger(t *testing.T) {
	reached := func(percent int) Decision {
		row := release.ChannelRow{Rollout: &release.Carried{ID: "r", StagedPercent: percent, Active: true}}
		return Decision{Reason: Rollout, RolloutID: "r", Channel: row}
	}
	expect.Equal(t, patience(reached(50)), report.Patience{Proof: 4 * time.Hour, DecideWithin: time.Hour}, "at 50 percent")
	expect.Equal(t, patience(reached(100)), report.Patience{Proof: 10 * time.Minute, DecideWithin: time.Hour}, "at 100 percent")
	expect.Equal(t, patience(Decision{Reason: Channel}), report.Patience{Proof: 10 * time.Minute, DecideWithin: time.Hour}, "after a publication")
	slow := reached(100)
	slow.Channel.Rollout.DecideWithin = 21600
	expect.Equal(t, patience(slow).DecideWithin, 6*time.Hour, "by a policy of six hours")
}
