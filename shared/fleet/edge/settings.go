package edge

import (
	"time"

	"wavegate/shared/platform/setting"
)

// Settings of polls.
type Settings struct {
	PollInterval time.Duration
	ChannelCache time.Duration
}

// ReadSettings reads the settings of polls.
func ReadSettings(r *setting.Reader) Settings {
	seconds := func(name setting.Name) time.Duration { return time.Duration(r.Number(name)) * time.Second }
	return Settings{PollInterval: seconds(setting.PollIntervalSeconds), ChannelCache: seconds(setting.ChannelCacheSeconds)}
}
