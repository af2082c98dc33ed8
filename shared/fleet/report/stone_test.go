package report_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestStone_WhatABoxDoesOnIt_CountsForTheRollout: 3 requires 2 and 1. Told is what a poll is answered with, and the rest what
// the box says and does.
func TestStone_WhatABoxDoesOnIt_CountsForTheRollout(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	poll := func(running, told string) report.Input {
		p := report.Polled{Told: told, RolloutID: "r", Stage: 10, Towards: "3", Running: running, At: at}
		if told == "3" {
			p.Towards = ""
		}
		return p
	}
	fails := func(version string, code report.FailureCode) report.Input {
		return report.Outcome{Version: version, Attempt: 1, State: report.Failed, Code: code, At: at}
	}
	halted := report.Polled{Told: "1", Running: "1", At: at}
	for name, c := range map[string]struct {
		events []report.Input
		state  report.State
		code   report.FailureCode
	}{
		"is told the stone":                 {[]report.Input{poll("0", "1")}, report.Offered, ""},
		"runs the stone after a halt":       {[]report.Input{poll("0", "1"), halted}, report.Offered, ""},
		"is told the next stone":            {[]report.Input{poll("0", "1"), poll("1", "2")}, report.Offered, ""},
		"runs the target":                   {[]report.Input{poll("0", "1"), poll("1", "2"), poll("2", "3"), poll("3", "3")}, report.Installed, ""},
		"fails at the stone":                {[]report.Input{poll("0", "1"), fails("1", report.CodeBoot)}, report.Failed, report.CodeBoot},
		"fails once, and runs the stone":    {[]report.Input{poll("0", "1"), fails("1", report.CodeBoot), poll("1", "2")}, report.Offered, ""},
		"fails while it runs the stone":     {[]report.Input{poll("0", "1"), halted, fails("1", report.CodeHealth), poll("1", "2")}, report.Offered, report.CodeHealth},
		"fails, is somewhere else":          {[]report.Input{poll("0", "1"), fails("1", report.CodeBoot), poll("1.5", "2")}, report.Offered, report.CodeBoot},
		"has no space, is somewhere else":   {[]report.Input{poll("0", "1"), fails("1", report.CodeSpace), poll("1.5", "2")}, report.Offered, ""},
		"falls back from the stone":         {[]report.Input{poll("0", "1"), poll("1", "3"), poll("0", "1")}, report.Offered, report.CodeReverted},
		"falls back on its way":             {[]report.Input{poll("0", "1"), poll("1", "2"), poll("0", "1")}, report.Offered, report.CodeReverted},
		"falls back to the stone before":    {[]report.Input{poll("0", "1"), poll("1", "2"), poll("2", "3"), poll("1", "2")}, report.Offered, report.CodeReverted},
		"falls back by two stones":          {[]report.Input{poll("0", "1"), poll("1", "2"), poll("2", "3"), poll("0", "1")}, report.Offered, report.CodeReverted},
		"falls back, then passes the stone": {[]report.Input{poll("0", "1"), poll("1", "3"), poll("0", "1"), poll("1", "3")}, report.Offered, report.CodeReverted},
		"falls back from the target":        {[]report.Input{poll("0", "1"), poll("1", "3"), poll("3", "3"), poll("0", "1")}, report.Offered, report.CodeReverted},
	} {
		t.Run(name, func(t *testing.T) {
			row := report.Row{EdgeID: "box", EdgeType: "x", Channel: "c"}
			for _, e := range c.events {
				row, _ = report.Next(row, e)
			}
			counted := row.Counted()
			expect.Equal(t, [2]string{string(counted.State), string(counted.Code)}, [2]string{string(c.state), string(c.code)}, "counted, and why it failed")
			if key := row.Entry().StateKey(); !strings.HasPrefix(key, report.StatePrefix("3", c.state)) {
				t.Errorf("a census of the target finds it at %s", key)
			}
		})
	}
}

// TestStone_OfAnotherOffer_IsIgnored.
func TestStone_OfAnotherOffer_IsIgnored(t *testing.T) {
	row := report.Row{Offer: &report.Offer{RolloutID: "s", Version: "1", State: report.Installed}, Stone: &report.Stone{RolloutID: "r", Version: "1", Towards: "3"}}
	expect.Equal(t, row.Counted().State, report.Installed, "the state")
	expect.Equal(t, row.Entry().Version, "1", "the version")
}

// FuzzIndexEntryOf: any text is read or refused as a sort key of the index, and a key with a pin or a hold reads back.
func FuzzIndexEntryOf(f *testing.F) {
	f.Add("1.0.0#failed#10#0123abcdp69a42f40-69a43d50.69a42f40#box-1", uint32(7), uint32(9), uint32(0))
	f.Add("-#-#0#0123abcdh69a42f40#box-1", uint32(7), uint32(0), uint32(9))
	f.Fuzz(func(t *testing.T, key string, since, until, registered uint32) {
		if e, err := report.IndexEntryOf(key); err == nil && len(e.Hash) > 8 {
			t.Errorf("%q is read as %+v", key, e)
		}
		e := report.IndexEntry{EdgeID: "box-1", Hash: "0123abcd", Version: "1.0.0", State: report.Failed, Stage: 10, RegisteredAt: time.Unix(int64(registered), 0).UTC(),
			AsideSince: time.Unix(int64(since), 0).UTC(), PinnedUntil: time.Unix(int64(until), 0).UTC()}
		if got, err := report.IndexEntryOf(e.StateKey()); err != nil || got != e {
			t.Errorf("%q reads back as %+v, %v", e.StateKey(), got, err)
		}
	})
}
