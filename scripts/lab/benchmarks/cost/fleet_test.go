package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// onePoll is what a poll takes of a container that knows the channel.
var onePoll = limit{Requests: 2, Rounds: 1, Read: 0.5, Write: 1}

// TestFleetPage_HasWhatTheCommandPrints: the marker of the page names the command's arguments.
func TestFleetPage_HasWhatTheCommandPrints(t *testing.T) {
	page := fleetSize(t)
	markers := regexp.MustCompile(`<!-- fleet(.*) -->\n`).FindAllStringSubmatch(page, -1)
	expect.Equal(t, len(markers), 1, "tables of the command on the page:")
	var printed strings.Builder
	expect.OK(t, fleetCommand(&printed, strings.Fields(markers[0][1])))
	if !strings.Contains(page, markers[0][0]+"\n"+printed.String()) {
		t.Errorf("the page lacks what `cost fleet%s` prints:\n%s", markers[0][1], printed.String())
	}
}

// TestWays_ThePageHasWhatTheCommandPrints, with the sums of the command that prints each way's whole table.
func TestWays_ThePageHasWhatTheCommandPrints(t *testing.T) {
	var printed strings.Builder
	expect.OK(t, writeWays(&printed))
	if !strings.Contains(fleetSize(t), "<!-- ways -->\n\n"+printed.String()) {
		t.Errorf("the page lacks what `cost ways` prints:\n%s", printed.String())
	}
	lines := strings.Split(printed.String(), "\n")[2:]
	for i, way := range ways {
		var whole strings.Builder
		expect.OK(t, fleetCommand(&whole, strings.Fields(way.options)))
		sums := regexp.MustCompile(`\*\*([0-9,]+)\*\*`).FindAllStringSubmatch(whole.String(), -1)
		if len(sums) != 5 {
			t.Fatalf("`cost fleet %s` has the sums %v", way.options, sums)
		}
		for column, cell := range strings.Split(lines[i], " | ")[1:] {
			if sum, _, _ := strings.Cut(cell, ";"); sum != sums[column][1] {
				t.Errorf("%s: %s, and the whole table has %s", way.name, sum, sums[column][1])
			}
		}
	}
}

// fleetSize is the page with the command's output.
func fleetSize(t *testing.T) string {
	t.Helper()
	root := expect.Value(service.Root())(t)
	page := expect.Value(os.ReadFile(filepath.Join(root, "infra", "fleet-size.md")))(t)
	return string(page)
}

// TestFleet_AMillionBoxesEverySixtySeconds: figures calculated by hand. 10^6 × 2,628,000 / 60 polls are 43,800
// million.
func TestFleet_AMillionBoxesEverySixtySeconds(t *testing.T) {
	f := fleet{Boxes: 1e6, Interval: 60, Idle: 60}
	if got := f.polls(); got < 43.79e9 || got > 43.81e9 {
		t.Errorf("%v polls a month", got)
	}
	want := map[string]float64{"gateway": 43_800 * 3.70, "limiter's writes": 43_800 * 0.7625,
		"reads of boxes": 43_800 * 0.5 * 0.1525, "traces": 43_800 * 0.001 * 5}
	for _, c := range f.bill(onePoll) {
		if w, ok := want[c.Name]; ok && (c.Dollars < 0.999*w || c.Dollars > 1.001*w) {
			t.Errorf("%s: %v dollars, want %v", c.Name, c.Dollars, w)
		}
		delete(want, c.Name)
	}
	expect.That(t, len(want) == 0, "the bill lacks %v", want)
	n := f.needs(onePoll)
	if n.PollRate < 20_833 || n.GatewayQuota < n.PollRate || n.WarmWrites < 16_667 || n.ThrottleRate <= n.PollRate || n.Burst <= n.PollBurst {
		t.Errorf("it needs %+v", n)
	}
}

// TestFleet_APollThatChangesNothing_CostsWhatFrequentBoxesAreSaidToCost: checks of tokens do not grow with the polls of one box.
func TestFleet_APollThatChangesNothing_CostsWhatFrequentBoxesAreSaidToCost(t *testing.T) {
	f, dollars := fleet{Boxes: 1e6, Interval: 60, Idle: 60}, 0.0
	for _, c := range f.bill(onePoll) {
		if strings.HasPrefix(c.Formula, "polls × ") {
			dollars += c.Dollars
		}
	}
	expect.Equal(t, fmt.Sprintf("%.2f", dollars/f.polls()*1e6), fmt.Sprintf("%.2f", report.DollarsPerPoll*1e6), "a million polls cost")
}

// TestFleet_WithTheBell_CostsASixteenthFrom100000BoxesOn: figures calculated by hand. Each of 10^5 boxes listens
// 8,760 times a month, and 240 times more in the five hours after changes. It polls 122 times at heartbeats and 15
// times for a release. All 1,000 boxes of the first stage are watched, and 1,200 of each other one, for the four days
// and one day after.
func TestFleet_WithTheBell_CostsASixteenthFrom100000BoxesOn(t *testing.T) {
	f := fleet{Boxes: 1e5, Interval: 60, Idle: 300, Days: 4, Releases: 1}
	with := f
	with.Bell = true
	near := func(what string, got, want float64) {
		if got < 0.999*want || got > 1.001*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("listens", with.listens(), 1e5*(8760+240))
	near("polls", with.polls(), 1e5*(121.667+15)+(1000+3*1200)*(4+1)*288)
	if share := (with.total(onePoll) - fixed) / (f.total(onePoll) - fixed); share > 1.0/16 {
		t.Errorf("it costs %.3f of what polls cost", share)
	}
	n := with.needs(onePoll)
	expect.Equal(t, []int{n.Bell, n.Concurrency, f.needs(onePoll).Bell}, []int{500, 1500, 0}, "it needs")
}

// TestFleet_AtTheDoor_ABoxCostsAtMostFifteenCentsAYear, from 100,000 boxes on, and one that listens, too, three cents.
func TestFleet_AtTheDoor_ABoxCostsAtMostFifteenCentsAYear(t *testing.T) {
	f := fleet{Boxes: 1e5, Interval: 60, Idle: 300, Days: 4.1, Releases: 1, Door: true}
	year := func(f fleet) float64 { return 12 * (f.total(onePoll) - fixed) / f.Boxes }
	listens, seldom := f, f
	listens.Bell, seldom.Bell, seldom.Idle = true, true, 600
	for most, one := range map[float64]fleet{0.15: f, 0.035: listens, 0.02: seldom} {
		if year(one) > most {
			t.Errorf("%+v costs %.3f a year, want %v", one, year(one), most)
		}
	}
	expect.Equal(t, []int{f.needs(onePoll).Bell, fleet{Boxes: 1e5, Interval: 60, Idle: 300}.needs(onePoll).Bell}, []int{500, 0}, "it needs")
}

// TestFleet_MoreBoxesCostMore_AndLongerIntervalsLess, and a larger fleet never needs less.
func TestFleet_MoreBoxesCostMore_AndLongerIntervalsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := fleet{
			Boxes: float64(rapid.IntRange(1, 5_000_000).Draw(t, "boxes")), Interval: float64(rapid.IntRange(1, 600).Draw(t, "interval")),
			Idle: float64(rapid.IntRange(1, 3600).Draw(t, "idle")), Days: rapid.Float64Range(0, 30).Draw(t, "days"), Releases: 1,
		}
		more, slower := f, f
		more.Boxes *= 2
		slower.Interval, slower.Idle = 2*f.Interval, 2*f.Idle
		if more.total(onePoll) <= f.total(onePoll) || slower.total(onePoll) > f.total(onePoll) || f.tiered() < 0 ||
			f.tiered() > f.total(onePoll) {
			t.Errorf("%+v costs %v, twice as many %v, half as often %v", f, f.total(onePoll), more.total(onePoll), slower.total(onePoll))
		}
		a, b := f.needs(onePoll), more.needs(onePoll)
		if b.PollRate < a.PollRate || b.Concurrency < a.Concurrency || b.WarmWrites < a.WarmWrites || b.GatewayQuota < a.GatewayQuota {
			t.Errorf("%+v needs %+v, and twice as many %+v", f, a, b)
		}
	})
}

func TestFleetCommand_ArgumentsThatMakeNoSense_AreRefused(t *testing.T) {
	for _, args := range []string{"-boxes 0", "-boxes many", "-interval 0", "-idle 0", "-days 31", "-releases -1", "-boxes 10/0", "-boxes 10/20", "-boxes 10/x"} {
		expect.Equal(t, fleetCommand(&strings.Builder{}, strings.Fields(args)) == nil, false, "%s passes:", args)
	}
}
