package release_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/expect"
)

// young is a rollout at a stage, with steps of boxes that were registered since its start, so many hours after it.
func young(percent int, steps ...int) release.Carried {
	c := release.Carried{TargetVersion: "2.0.0", StagedPercent: percent, StartedAt: start}
	for _, hour := range steps {
		c.Young = c.Further(after(hour))
	}
	return c
}

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func after(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }

// share is how many of a hundred boxes of an organization it reaches that were registered some hours after the start, within two.
func share(c release.Carried, organization string, hour int) (percent int) {
	reached := 0
	for i := range 2000 {
		if c.Reaches("gateway-x", fmt.Sprint("box-", i), organization, after(hour), false) {
			reached++
		}
	}
	return (reached + 10) / 20
}

// TestReaches_BoxesOfBeforeTheStart_AsTheStageSays_AndNewOnesAStageLater.
func TestReaches_BoxesOfBeforeTheStart_AsTheStageSays_AndNewOnesAStageLater(t *testing.T) {
	stopped := young(100, 24, 192, 216, 240)
	stopped.Young = stopped.StopFor([]string{"acme"})
	both := stopped
	both.Young = both.StopFor([]string{"initech", "acme"})
	flashed := young(1)
	flashed.NewBoxes = release.OfTarget
	flashedAndStopped := flashed
	flashedAndStopped.Young = flashed.StopFor([]string{"acme"})
	for name, c := range map[string]struct {
		of         release.Carried
		hour, want int
	}{
		"old, at 10":                             {young(10, 24), -1, 10},
		"old, at 100":                            {young(100, 24, 192, 216), 0, 100},
		"people promoted to 50":                  {young(50), 30, 50},
		"new, just before 10":                    {young(10, 24), 23, 1},
		"new, since 10":                          {young(10, 24), 25, 0},
		"new since 10, at 50":                    {young(50, 24, 192), 25, 1},
		"new since 10, at 100":                   {young(100, 24, 192, 216), 25, 10},
		"new since 10, a step later":             {young(100, 24, 192, 216, 240), 25, 50},
		"new since 10, two steps later":          {young(100, 24, 192, 216, 240, 264), 25, 100},
		"new since 50, a step after 100":         {young(100, 24, 192, 216, 240), 193, 10},
		"flashed by manufacture":                 {flashed, 1, 100},
		"old, where manufacture flashes it":      {flashed, -1, 1},
		"flashed, of one that stopped":           {flashedAndStopped, 1, 0},
		"of an organization that stopped":        {stopped, 25, 0},
		"old, of it":                             {stopped, -1, 100},
		"of none of the two that stopped":        {both, 25, 0},
		"as many steps as there are, and so far": {young(10, 1, 2, 3, 4, 5, 6, 7), 0, 10},
	} {
		got := share(c.of, "acme", c.hour)
		expect.That(t, got >= c.want-1 && got <= c.want+1 && (got == 0) == (c.want == 0), "%s: it reaches %d of a hundred, want %d", name, got, c.want)
	}
	expect.Equal(t, share(stopped, "initech", 25), share(young(50), "initech", -1), "another organization's:")
	expect.Equal(t, share(both, "hooli", 25), 0, "if two stopped, a third one's:")
}

// TestReaches_WhatWasReached_StaysReached_AndNeverMoreThanTheStage: unless the organization is stopped, in which case boxes keep it that
// were told.
func TestReaches_WhatWasReached_StaysReached_AndNeverMoreThanTheStage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, at := release.Carried{TargetVersion: "2.0.0", StagedPercent: 1, StartedAt: start}, 0
		id, hour, told := fmt.Sprint("box-", rapid.IntRange(0, 5000).Draw(t, "box")), rapid.IntRange(-50, 400).Draw(t, "registered"), false
		for range rapid.IntRange(1, 12).Draw(t, "moves") {
			at += rapid.IntRange(1, 100).Draw(t, "hours")
			switch raise := rapid.IntRange(0, 3).Draw(t, "move"); {
			case raise == 0:
				c.Young = c.StopFor([]string{rapid.SampledFrom([]string{"acme", "initech"}).Draw(t, "stopped")})
			case raise == 1 && c.StagedPercent < 100:
				c.StagedPercent = cohort.After(c.StagedPercent)
			default:
				c.Young = c.Further(after(at))
			}
			is := at >= hour && c.Reaches("gateway-x", id, "acme", after(hour), told)
			if told && !is || is && !cohort.Of("gateway-x", c.TargetVersion, id).In(c.StagedPercent) {
				t.Fatalf("told %t, reached %t: %+v", told, is, c)
			}
			told = told || is
		}
	})
}
