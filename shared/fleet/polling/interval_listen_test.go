package polling

import (
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestListeningInterval_WatchedBoxesPollAlike_WhateverTheyWereTold(t *testing.T) {
	settings := Settings{PollInterval: time.Minute, IdlePollInterval: 5 * time.Minute}
	offer := func(s report.State, ago time.Duration) *report.Offer {
		return &report.Offer{State: s, Since: noon.Add(-ago)}
	}
	for name, c := range map[string]struct {
		watched bool
		offer   *report.Offer
		want    time.Duration
	}{
		"quiet":                         {false, nil, 6 * time.Hour},
		"watched":                       {true, nil, 5 * time.Minute},
		"watched, offered a moment ago": {true, offer(report.Offered, 0), 5 * time.Minute},
		"watched, installed":            {true, offer(report.Installed, time.Hour), 5 * time.Minute},
		"offered a moment ago":          {false, offer(report.Offered, 0), time.Minute},
		"at work for almost an hour":    {false, offer(report.Working, time.Hour-1), time.Minute},
		"at work for an hour":           {false, offer(report.Working, time.Hour), 6 * time.Hour},
		"put off: it polls when a person asks for it": {false, offer(report.Deferred, 0), 6 * time.Hour},
		"installed": {false, offer(report.Installed, 0), 6 * time.Hour},
		"failed: it polls before its next attempt": {false, offer(report.Failed, 0), 6 * time.Hour},
		"fallen back": {false, offer(report.Reverted, 0), 6 * time.Hour},
		"offered, by the clock of another container": {false, offer(report.Offered, -time.Second), time.Minute},
	} {
		expect.Equal(t, settings.ListenInterval(6*time.Hour, c.watched, c.offer, noon), c.want, "%s:", name)
	}
	got := settings.ListenInterval(time.Second, false, nil, noon)
	expect.That(t, got == 5*time.Minute, "a heartbeat comes more often than a poll: %v", got)
}
