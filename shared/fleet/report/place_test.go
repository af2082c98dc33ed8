package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestShards_BoxesOfAChannel_SpreadEvenly(t *testing.T) {
	const boxes = 32_000
	const shards report.Shards = 32
	counts := map[string]int{}
	for i := range boxes {
		counts[shards.Of("gateway-x/stable", fmt.Sprintf("box-%05d", i))]++
	}
	for n := range int(shards) {
		got := counts[shards.At("gateway-x/stable", n)]
		expect.That(t, got >= 850 && got <= 1150, "shard %d has %d of %d boxes", n, got, boxes)
	}
	expect.That(t, len(counts) == int(shards), "%d shards", len(counts))
	expect.Equal(t, report.Shards(1).Of("gateway-x/stable", "box"), "gateway-x/stable#00", "with one shard a box is in")
}

func TestStanding_ReadsBack(t *testing.T) {
	name := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,63}`)
	version := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._+:~-]{0,63}`)
	rapid.Check(t, func(t *rapid.T) {
		row := report.Row{EdgeID: name.Draw(t, "id")}
		if rapid.Bool().Draw(t, "offer") {
			row.Offer = &report.Offer{Version: version.Draw(t, "version"), Stage: rapid.SampledFrom(append([]int{0}, cohort.Stages...)).Draw(t, "stage"),
				State: rapid.SampledFrom(report.States).Draw(t, "state")}
		}
		row.Running, row.Label = "1.4.0", rapid.SampledFrom([]string{"", "v1.4.0", "1.4.0+7"}).Draw(t, "label")
		switch at := time.Unix(1<<30, 0).UTC(); rapid.IntRange(0, 3).Draw(t, "aside") {
		case 1:
			row.HeldAt = &at
		case 2:
			row.Pin, row.RegisteredAt = &report.Pin{At: at, Until: at.Add(time.Hour)}, &at
		case 3:
			row.Restless = &report.Restless{Since: at}
		}
		e := row.Entry()
		got, err := report.IndexEntryOf(e.StateKey())
		got.Running = e.Running // an attribute of the index
		if err != nil || got != e {
			t.Fatalf("%q reads back as %+v, %v; want %+v", e.StateKey(), got, err, e)
		}
		if row.Offer != nil && !strings.HasPrefix(e.StateKey(), report.StatePrefix(row.Offer.Version, row.Offer.State)) {
			t.Fatalf("%q is not found by its version and state", e.StateKey())
		}
		if other := version.Draw(t, "other"); row.Offer != nil && other != row.Offer.Version {
			prefix := report.StatePrefix(other, row.Offer.State)
			if key := e.StateKey(); key >= prefix && key <= prefix+"~" {
				t.Fatalf("%q is found by the version %s", key, other)
			}
		}
	})
}

func TestEntryOf_WhatIsNoSortKey_IsAnError(t *testing.T) {
	for _, text := range []string{"", "a#b", "1.0.0#offered#x#00#box", "1.0.0#offered#1#00#box#more"} {
		e, err := report.IndexEntryOf(text)
		expect.That(t, err != nil, "%q is read as %+v", text, e)
	}
}

func TestDetailRule_WhatCannotBeSeen_IsRefused(t *testing.T) {
	for _, text := range []string{"", "disk full: 12 of 300 MB", "Prüfsumme falsch", "校验失败", "exit 1 (\"sync\")"} {
		expect.That(t, report.DetailRule.Accepts(text), "%q is refused", text)
	}
	for name, r := range map[string]rune{
		"NUL": 0, "line feed": '\n', "escape": 0x1b, "delete": 0x7f, "next line": 0x85, "soft hyphen": 0xad,
		"zero width space": 0x200b, "zero width joiner": 0x200d, "right-to-left mark": 0x200f, "line separator": 0x2028,
		"right-to-left override": 0x202e, "word joiner": 0x2060, "first strong isolate": 0x2068, "byte order mark": 0xfeff,
		"combining grapheme joiner": 0x34f, "Hangul filler": 0x3164, "tag": 0xe0041, "Arabic letter mark": 0x61c,
	} {
		expect.That(t, !report.DetailRule.Accepts("a"+string(r)+"b"), "%s is taken", name)
	}
}
