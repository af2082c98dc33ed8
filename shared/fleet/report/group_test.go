package report

import (
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

func TestBlocks_UntilABoxRanWhatItWasToldForTenMinutes(t *testing.T) {
	patience := Patience{Proof: 10 * time.Minute, DecideWithin: time.Hour}
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, c := range map[string]struct {
		state  State
		code   FailureCode
		since  time.Duration
		seen   time.Duration
		told   string // the version of its offer
		blocks bool
	}{
		"told a moment ago":                 {Offered, "", time.Minute, 0, "2", true},
		"installs":                          {Working, "", 59 * time.Minute, 0, "2", true},
		"undecided for an hour":             {Offered, "", time.Hour, 0, "2", false},
		"runs it for nine minutes":          {Installed, "", 9 * time.Minute, 0, "2", true},
		"runs it, not seen for ten minutes": {Installed, "", 20 * time.Minute, 11 * time.Minute, "2", true},
		"ran it for ten minutes":            {Installed, "", 20 * time.Minute, 10 * time.Minute, "2", false},
		"silent":                            {Installed, "", time.Hour, 30 * time.Minute, "2", true},
		"silent for a month":                {Installed, "", time.Hour, 720 * time.Hour, "2", true},
		"silent, told something else":       {Installed, "", time.Hour, 30 * time.Minute, "1", true},
		"silent for a day, and before that": {Installed, "", 48 * time.Hour, 24*time.Hour - time.Second, "1", true},
		"silent for longer than a day":      {Installed, "", 48 * time.Hour, 24 * time.Hour, "1", false},
		"could not download":                {Failed, CodeDownload, time.Minute, 0, "2", false},
		"could not boot":                    {Failed, CodeBoot, time.Minute, 0, "2", true},
		"fell back":                         {Reverted, CodeReverted, time.Hour, 0, "2", true},
		"fell back from an earlier version": {Reverted, CodeReverted, time.Hour, 0, "1", false},
		"put off":                           {Deferred, "", time.Minute, 0, "2", false},
	} {
		t.Run(name, func(t *testing.T) {
			row := Row{Offer: &Offer{Version: c.told, State: c.state, Code: c.code, Since: ago(c.since)}}
			expect.Equal(t, row.Blocks("2", patience, ago(c.seen), now), c.blocks, "blocks")
		})
	}
	for name, c := range map[string]struct {
		state       State
		since, turn time.Duration
		blocks      bool
	}{
		"told again after its plant was closed": {Offered, 20 * time.Hour, time.Minute, true},
		"told again an hour ago":                {Offered, 20 * time.Hour, time.Hour, false},
		"installs, with a turn before that":     {Working, time.Minute, 20 * time.Hour, true},
		"tries again":                           {Failed, time.Hour, time.Minute, true},
		"failed since its turn":                 {Failed, time.Minute, time.Hour, false},
		"put off":                               {Deferred, time.Hour, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			at := ago(c.turn)
			row := Row{TurnAt: &at, Offer: &Offer{Version: "2", State: c.state, Code: CodeDownload, Since: ago(c.since)}}
			expect.Equal(t, row.Blocks("2", patience, now, now), c.blocks, "blocks")
		})
	}
	expect.Equal(t, Row{}.Blocks("2", patience, time.Time{}, now), false, "a box that was never told anything blocks")
}
