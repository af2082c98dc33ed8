package polling

import (
	"strings"
	"time"

	"wavegate/shared/fleet/bell"
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
	Door             string // see setting.DoorURL
}

// ReadSettings reads the settings of polls.
func ReadSettings(r *setting.Values) Settings {
	return Settings{
		PollInterval: seconds(r, setting.PollIntervalSeconds), IdlePollInterval: seconds(r, setting.IdlePollIntervalSeconds),
		ChannelCache: seconds(r, setting.ChannelCacheSeconds), Shards: report.ReadShards(r), Issuers: boxauth.ReadIssuers(r),
		Door: strings.TrimSuffix(r.Text(setting.DoorURL), "/"),
	}
}

func seconds(r *setting.Values, name setting.Name) time.Duration {
	return time.Duration(r.Number(name)) * time.Second
}

// attentive is how long after a change to its channel a box should poll often, without an active rollout.
const attentive = 10 * time.Minute

// Interval is how often the boxes of a channel should poll: often for a while after any change, otherwise less often. On
// the first day of a stage it is still often. After that, most boxes of the stage have the release, and the guard's
// samples do not need more sightings. All boxes of a channel poll alike, because the guard compares those that the
// rollout reached with the others.
func (s Settings) Interval(row release.ChannelRow, now time.Time) time.Duration {
	lasts := attentive
	if row.Rollout != nil && row.Rollout.Active {
		lasts = bell.Busy
	}
	if now.Sub(row.LastChange()) < lasts {
		return s.PollInterval
	}
	return max(s.PollInterval, s.IdlePollInterval)
}

// UntilEnd is the time until a box's next poll: an interval, or the rest of its pin if that is shorter. No bell rings
// when a pin ends.
func UntilEnd(pin *report.Pin, interval time.Duration, now time.Time) time.Duration {
	if pin.Holds(now) {
		return min(interval, pin.Until.Sub(now))
	}
	return interval
}

// wholeSeconds rounds up, so that the poll comes after what it waits for.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
