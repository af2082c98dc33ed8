package polling

import (
	"testing"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestInterval_ShortWhileSomethingGoesOn_LongOtherwise(t *testing.T) {
	settings := Settings{PollInterval: time.Minute, IdlePollInterval: 5 * time.Minute}
	carried := func(active bool, ago time.Duration) *release.Carried {
		return &release.Carried{Active: active, ChangedAt: noon.Add(-ago)}
	}
	for name, c := range map[string]struct {
		published time.Duration
		carried   *release.Carried
		near      bool
		want      time.Duration
	}{
		"published long ago":               {time.Hour, nil, false, 5 * time.Minute},
		"published just under ten minutes": {10*time.Minute - 1, nil, false, time.Minute},
		"published ten minutes ago":        {10 * time.Minute, nil, false, 5 * time.Minute},
		"a stage on its first day":         {48 * time.Hour, carried(true, 24*time.Hour-1), true, time.Minute},
		"a stage on its second day":        {48 * time.Hour, carried(true, 24*time.Hour), true, 5 * time.Minute},
		"a stage that did not reach it":    {48 * time.Hour, carried(true, time.Minute), false, 5 * time.Minute},
		"a rollout ended a moment ago":     {time.Hour, carried(false, time.Minute), false, time.Minute},
		"a rollout ended ten minutes ago":  {time.Hour, carried(false, 10*time.Minute), true, 5 * time.Minute},
		"a publication after a rollout":    {time.Minute, carried(false, time.Hour), false, time.Minute},
		"by a clock that is behind":        {-time.Second, nil, false, time.Minute},
		"a rollout with an unknown time":   {time.Hour, &release.Carried{}, true, 5 * time.Minute},
	} {
		row := release.ChannelRow{Channel: release.Channel{UpdatedAt: noon.Add(-c.published)}, Rollout: c.carried}
		expect.Equal(t, settings.Interval(row, noon, func() bool { return c.near }), c.want, "%s:", name)
	}
	settings.IdlePollInterval = time.Second
	got := settings.Interval(release.ChannelRow{}, noon, nil)
	expect.That(t, got == time.Minute, "idle boxes are told to poll more often: %v", got)
}
