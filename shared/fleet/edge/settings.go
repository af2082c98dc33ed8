package edge

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// The settings of polls, as variables of a function's environment, in whole seconds.
const (
	// EnvPollInterval is how often a box is told to poll: 1 to 86,400; 60 if not set.
	EnvPollInterval = "POLL_INTERVAL_SECONDS"
	// EnvChannelCache is how long a container may answer from a channel's row that it has read: 0 to 2;
	// 2 if not set. A longer time would break the promise that a halt reaches every poll within 2 s.
	EnvChannelCache = "CHANNEL_CACHE_SECONDS"
)

// Settings of polls.
type Settings struct {
	PollInterval time.Duration
	ChannelCache time.Duration
}

// SettingsFromEnv reads the settings. The error names all that makes no sense; a function must not
// start with it.
func SettingsFromEnv() (Settings, error) {
	interval, err1 := seconds(EnvPollInterval, 60, 1, 86_400)
	cache, err2 := seconds(EnvChannelCache, 2, 0, 2)
	return Settings{PollInterval: interval, ChannelCache: cache}, errors.Join(err1, err2)
}

func seconds(name string, byDefault, least, most int) (time.Duration, error) {
	n := byDefault
	if text := os.Getenv(name); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < least || n > most {
			return 0, fmt.Errorf("%s is %q, not a whole number of seconds from %d to %d", name, text, least, most)
		}
	}
	return time.Duration(n) * time.Second, nil
}
