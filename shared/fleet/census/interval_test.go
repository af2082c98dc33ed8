package census

import (
	"testing"
	"time"

	"wavegate/shared/fleet/rollout"
)

// TestInterval_OfBoxesThatListen_IsThatOfTheWatchedOnes_WhileTheyAreWatched: a box is silent after five intervals, so
// one that only polls at its heartbeat must not count as silent.
func TestInterval_OfBoxesThatListen_IsThatOfTheWatchedOnes_WhileTheyAreWatched(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	without := Settings{PollInterval: time.Minute}
	with := Settings{PollInterval: time.Minute, Watched: 5 * time.Minute, Heartbeat: 6 * time.Hour}
	for name, c := range map[string]struct {
		settings Settings
		status   rollout.Status
		ago      time.Duration
		want     time.Duration
	}{
		"no bell":                {without, rollout.Active, 0, time.Minute},
		"no bell, ended":         {without, rollout.Halted, 1000 * time.Hour, time.Minute},
		"active for weeks":       {with, rollout.Active, 1000 * time.Hour, 5 * time.Minute},
		"halted a moment ago":    {with, rollout.Halted, 0, 5 * time.Minute},
		"completed almost a day": {with, rollout.Completed, 24*time.Hour - 1, 5 * time.Minute},
		"completed a day ago":    {with, rollout.Completed, 24 * time.Hour, 6 * time.Hour},
	} {
		if got := c.settings.interval(rollout.Rollout{Status: c.status, UpdatedAt: now.Add(-c.ago)}, now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
