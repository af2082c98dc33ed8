package polling

import (
	"time"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
)

// Settings of polls.
type Settings struct {
	PollInterval     time.Duration
	IdlePollInterval time.Duration
	ChannelCache     time.Duration
	Shards           report.Shards
	Issuers          boxauth.Issuers
}

// ReadSettings reads the settings of polls.
func ReadSettings(r *setting.Values) Settings {
	return Settings{
		PollInterval: seconds(r, setting.PollIntervalSeconds), IdlePollInterval: seconds(r, setting.IdlePollIntervalSeconds),
		ChannelCache: seconds(r, setting.ChannelCacheSeconds), Shards: report.ReadShards(r), Issuers: boxauth.ReadIssuers(r),
	}
}

func seconds(r *setting.Values, name setting.Name) time.Duration {
	return time.Duration(r.Number(name)) * time.Second
}

// attentive is how long after a change to its channel a box should poll often.
const attentive = 10 * time.Minute

// Interval is how often the boxes of a channel should poll: often while a rollout is active there and for a while after
// any change, otherwise less often.
func (s Settings) Interval(row release.ChannelRow, now time.Time) time.Duration {
	busy := row.Rollout != nil && row.Rollout.Active || now.Sub(row.LastChange()) < attentive
	if busy {
		return s.PollInterval
	}
	return max(s.PollInterval, s.IdlePollInterval)
}
