package box_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/bell"
)

// TestYear_EachBoxInstallsEachRelease_AndPollsOnlyIfSomethingAsksForIt: the watched ones each 300 s while a rollout is
// active, and all at their heartbeats.
func TestYear_EachBoxInstallsEachRelease_AndPollsOnlyIfSomethingAsksForIt(t *testing.T) {
	s := newYear(begin, 2, idleInterval, heartbeat)
	heartbeats := float64(year / heartbeat)
	rollouts := 2 * float64((4*soaks+bell.AfterEnd(heartbeat))/idleInterval)
	for _, c := range []struct{ boxes, least, most float64 }{
		{100, heartbeats*0.9 + rollouts*0.9, heartbeats*1.1 + rollouts*1.1 + 60},
		{1_000_000, heartbeats * 0.9, heartbeats*1.1 + 60},
	} {
		got := newFleet(c.boxes).play(s, 10)
		if got.Installed != 2 || got.Unneeded > 0 || got.Polls < c.least || got.Polls > c.most {
			t.Errorf("%.0f boxes: %+v, want from %.0f to %.0f polls", c.boxes, got, c.least, c.most)
		}
		if bells := year.Seconds() / idleInterval.Seconds(); got.Bells < bells || got.Bells > bells*1.02 {
			t.Errorf("%.0f boxes: %.0f calls of the bell", c.boxes, got.Bells)
		}
	}
}

func TestHalt_NobodyIsToldTheReleaseTwoSecondsLater_AndNobodyActivatesItThen(t *testing.T) {
	for _, after := range []time.Duration{2 * time.Minute, 8 * time.Minute} {
		h := playHalt(1500, after)
		if h.told == 0 || h.lastTold >= kept || h.lastActivated >= kept {
			t.Errorf("halted after %v: %+v", after, h)
		}
		if h.downloaded == 0 || after > 5*time.Minute && h.activated == 0 {
			t.Errorf("halted after %v, and no box was in the middle: %+v", after, h)
		}
	}
}

func TestIdle_NoPollButHeartbeats(t *testing.T) {
	c := idle(100)
	if want := 100 * float64(24*time.Hour/heartbeat); c.Unneeded > 0 || c.Polls < want*0.8 || c.Polls > want*1.1 || c.Reports > 0 {
		t.Errorf("a day of 100 boxes: %+v", c)
	}
}
