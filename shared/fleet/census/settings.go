package census

import (
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/setting"
)

// Settings holds the settings of counts.
type Settings struct {
	Shards       report.Shards
	PollInterval time.Duration
	// IdlePollInterval is the time between polls from the second day of a stage on.
	IdlePollInterval time.Duration
	// GuardInterval is the time between two ticks.
	GuardInterval time.Duration
	// Heartbeat and Watched are set if the deployment has a bell: how often a listening box polls, and how often a watched
	// one does.
	Heartbeat, Watched time.Duration
}

// SettingNames lists the settings that ReadSettings reads.
var SettingNames = []setting.Name{setting.ReportShards, setting.PollIntervalSeconds, setting.GuardIntervalSeconds,
	setting.BellURL, setting.IdlePollIntervalSeconds, setting.HeartbeatSeconds}

// ReadSettings reads the settings.
func ReadSettings(r *setting.Values) Settings {
	seconds := func(name setting.Name) time.Duration { return time.Duration(r.Number(name)) * time.Second }
	s := Settings{
		Shards:       report.ReadShards(r),
		PollInterval: seconds(setting.PollIntervalSeconds), IdlePollInterval: seconds(setting.IdlePollIntervalSeconds),
		GuardInterval: guard.Interval(r),
	}
	if r.Text(setting.BellURL) != "" {
		s.Watched, s.Heartbeat = s.IdlePollInterval, seconds(setting.HeartbeatSeconds)
	}
	return s
}

// interval is the time between two polls of the boxes that a count checks for silence.
func (s Settings) interval(r rollout.Rollout, now time.Time) time.Duration {
	switch {
	case s.Heartbeat == 0 && r.Status == rollout.Active && now.Sub(r.UpdatedAt) < bell.Busy:
		return s.PollInterval
	case s.Heartbeat == 0:
		return max(s.PollInterval, s.IdlePollInterval)
	case r.Status == rollout.Active || now.Sub(r.UpdatedAt) < bell.AfterEnd(s.Heartbeat):
		return max(s.PollInterval, s.Watched)
	}
	return max(s.PollInterval, s.Watched, s.Heartbeat)
}

// paced returns a rollout as it is judged: by how often its boxes poll. The boxes that the guard compares poll at the idle
// interval at the least, whether they listen and are watched or do not listen, and whatever they were told.
func (s Settings) paced(r rollout.Rollout) rollout.Rollout {
	if r.Terms != nil {
		terms := *r.Terms
		terms.Policy = terms.Policy.Polled(max(s.PollInterval, s.IdlePollInterval))
		r.Terms = &terms
	}
	return r
}

// recent is the least age of a rollout's last count at which a tick counts again. It is less than the time between two
// ticks, so that a tick that comes a little early counts, too.
func (s Settings) recent() time.Duration { return s.GuardInterval / 2 }

// samplesEvery is how many ticks apart the samples of a rollout are looked up, if the guard does not need them earlier: with
// 200 rollouts, a look at each tick would cost more than all else.
const samplesEvery = 10

// sampleDue reports whether a tick looks up a rollout's samples again, given the last count, or nil. It does after each
// change, and in the rollout's own minute of ten, so that not all are due at once.
func (s Settings) sampleDue(r rollout.Rollout, last *Progress, now time.Time) bool {
	if r.Status != rollout.Active || last == nil || last.StagedPercent != r.StagedPercent || last.Guard != nil && last.Guard.Revision != r.Revision {
		return true
	}
	every := samplesEvery * s.GuardInterval
	turn := time.Duration(report.Share("samples/"+r.ID) * float64(every))
	return !now.Add(-turn).Truncate(every).Equal(last.AsOf.Add(-turn).Truncate(every))
}

// fresh is the least age of a count at which a caller who wants a new one gets a new one.
func (s Settings) fresh() time.Duration { return min(freshAge, s.recent()) }
