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
	Tenants          boxauth.Tenants
	Door             string // see setting.DoorURL
}

// ReadSettings reads the settings of polls.
func ReadSettings(r *setting.Values) Settings {
	return Settings{
		PollInterval: seconds(r, setting.PollIntervalSeconds), IdlePollInterval: seconds(r, setting.IdlePollIntervalSeconds),
		ChannelCache: seconds(r, setting.ChannelCacheSeconds), Shards: report.ReadShards(r), Issuers: boxauth.ReadIssuers(r),
		Tenants: boxauth.ReadTenants(r), Door: strings.TrimSuffix(r.Text(setting.DoorURL), "/"),
	}
}

func seconds(r *setting.Values, name setting.Name) time.Duration {
	return time.Duration(r.Number(name)) * time.Second
}

// attentive is how long after a change to its channel a box should poll often, without an active rollout.
const attentive = 10 * time.Minute

// Interval is how often a box should poll: often for a while after any change to its channel, otherwise less often. While
// a rollout is active, only those boxes poll often that it has reached, and those that the guard may compare with them
// (near), on the first day of a stage. After that, most boxes of the stage have the release, and the guard's samples do
// not need more sightings. So a halt reaches every box that was told within the short interval, and a promotion reaches a
// box within the long one.
func (s Settings) Interval(row release.ChannelRow, now time.Time, near func() bool) time.Duration {
	since := now.Sub(row.LastChange())
	often := since < attentive
	if row.Rollout != nil && row.Rollout.Active {
		often = since < bell.Busy && near()
	}
	if often {
		return s.PollInterval
	}
	return max(s.PollInterval, s.IdlePollInterval)
}

// Every is the shortest interval at which a box was told to poll while it made the calls that are known, if it is told to wait
// until next now.
func (s Settings) Every(row release.ChannelRow, next time.Duration, now time.Time, near func() bool) time.Duration {
	return min(next, s.Interval(row, now.Add(-report.CallsKnown), near))
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
