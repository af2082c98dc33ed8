package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// oddities are how boxes say the version that they run.
var oddities = []string{
	"%s", "%s ", " %s", "%s\n", "%s\r\n", "\t%s", "\ufeff%s", "%s\x00", "\u200b%s", "%s\u00a0", // read as the name
	`"%s"`, "'%s'", "`%s`", `"%s`, `%s"`, `"'%s'"`, `" %s "`, `"%s "`, "“%s”", "«%s»", "„%s“", "\"%s\"\n",
	"v%s", "V%s", "v.%s", "v %s", `"v%s"`, "v%s\n", "'V%s'\r\n",
	"under", "hyphens", "v-under", "lower", "UPPER",
	"%s+g1a2b3c4", "%s+7", "v%s+7", `"%s+g1a2b3c4"`, "%s+build.2026-03-02", "%s+", "V%s+dirty\n", "0:%s", "1:%s", "2:v%s+7",
}

// odd is how a box says a version.
func odd(oddity int, version string) string {
	switch text := oddities[oddity%len(oddities)]; text {
	case "under":
		return strings.ReplaceAll(version, ".", "_")
	case "hyphens":
		return strings.ReplaceAll(version, ".", "-")
	case "v-under":
		return "v" + strings.ReplaceAll(version, ".", "_")
	case "lower":
		return strings.ToLower(version)
	case "UPPER":
		return strings.ToUpper(version)
	default:
		return fmt.Sprintf(text, version)
	}
}

// says lets a box say that it runs a version, by a poll of the manifest or by DDI.
func (h *house) says(box int, version string) {
	h.Helper()
	id, text := fmt.Sprint(box), polling.RunningRule.Fitted(odd(box, version))
	if box%2 == 1 {
		h.states(id, text)
		return
	}
	for try := 1; ; try++ { // a busy machine may take longer than a poll waits
		reply, err := h.polls(id, text)
		expect.OK(h, err)
		if reply.Unrecorded == nil {
			return
		}
		expect.Must(h, try < 20, "%v", reply.Unrecorded)
	}
}

// updates lets the boxes of a fleet take a rollout of a version, all at once, and returns what the guard says.
func (h *house) updates(boxes int, version string) *guard.Verdict {
	h.Helper()
	policy := guard.Default()
	policy.Promote.Soak = guard.Soak{At1: "PT0S", At10: "PT0S", At50: "PT0S", At100: "PT1H"}
	id, err := h.rollouts.Start(h.ctx(), audit.Origin{}, rollout.Plan{EdgeType: h.name, Channel: "stable", TargetVersion: version, Policy: &policy}, idempotency.Claim{})
	expect.OK(h, err)
	for _, stage := range cohort.Stages[1:] {
		_, err := h.rollouts.Move(h.ctx(), audit.Origin{}, id, rollout.Move{StagedPercent: &stage}, input.Preconditions{})
		expect.OK(h, err)
	}
	h.now = h.now.Add(time.Minute)
	for box := range boxes {
		if box%2 == 0 {
			h.says(box, "1.0.0")
		} else {
			h.writes(fmt.Sprint(box))
		}
	}
	h.now = h.now.Add(time.Minute)
	for box := range boxes {
		h.says(box, version)
	}
	return h.judged(id)
}

func (h *house) judged(rolloutID string) *guard.Verdict {
	h.Helper()
	h.now = h.now.Add(3 * time.Hour)
	p := expect.Value(h.progress().Rollout(h.ctx(), rolloutID, false, true))(h)
	return &p.Guard.Verdict
}

// TestLabels_TwentyFleets: boxes say the version that they run in forty other ways. A good release halts nowhere, and waits for a
// person until the edge type has a form. One from which boxes fall back is halted as if they said its name.
func TestLabels_TwentyFleets(t *testing.T) {
	const boxes = 100
	client := dynamotest.Embedded(t)
	for fleet, version := range []string{
		"1.4.0", "2", "1.4.0-rc.1", "v1.4.0", "2026.03.02", "Release-7", "1.4.0+2", "r2026_03", "10.0", "1.4", "0.0.1", "1.4.0.0",
		"4.19.255-yocto", "gateway_x-1.4.0", "a1b2c3d", "1.10.0", "1.0.1", "1.0.0-hotfix", "build.7", "V2",
	} {
		t.Run(version, func(t *testing.T) {
			h := newHouse(t, client)
			h.publish("stable", "1.0.0", described, release.Lineage{Order: 1 << 30})
			h.publish("lab", version, described, release.Lineage{Order: 1<<30 + 1})
			form := []report.Form{"", report.Alike, report.IgnoreBuild}[fleet%3]
			if strings.Contains(version, "+") {
				form = report.IgnoreBuild
			}
			if form != "" {
				expect.Value(edgetype.NewStore(h.db).Set(h.ctx(), audit.Origin{}, h.name, edgetype.Wish{VersionForm: &form}, input.Preconditions{}))(t)
			}
			for box := range boxes {
				h.put(fmt.Sprint(box), "stable", "")
				if box%2 == 1 {
					h.asks(fmt.Sprint(box))
				}
				h.says(box, "1.0.0")
			}
			v := h.updates(boxes, version)
			expect.That(t, v.Action == guard.Hold, "the good release: %s %s", v.Action, v.Sentence)
			waits := slices.Contains(v.Reasons, guard.LabelsUnknown)
			expect.That(t, waits == (form == ""), "with the form %q: %s", form, v.Sentence)
			for box := range boxes {
				row := h.row(fmt.Sprint(box))
				if row.Running != version || row.Offer.State != report.Installed || row.Written != "" {
					t.Errorf("%q: it runs %q, %s", odd(box, version), row.Running, row.Offer.State)
				}
				if box%7 == 0 {
					h.says(box, "1.0.0")
				}
			}
			v = h.judged(h.row("1").Offer.RolloutID)
			expect.That(t, v.Action == guard.Halt && v.Halting.Bad == boxes/7+1, "a seventh fell back: %s %s", v.Action, v.Sentence)
		})
	}
}

// TestMeans_WhatIsWritten walks through the rules of decide.Means.
func TestMeans_WhatIsWritten(t *testing.T) {
	client := dynamotest.Embedded(t)
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		row   report.Row
		form  report.Form
		text  string
		means string
	}{
		"the channel's version":                        {text: "v1.4.0", means: "1.4.0"},
		"a release that nothing has told the box":      {text: "v1.2.0", means: "v1.2.0"},
		"a release with that name":                     {text: "V1.4.0", means: "V1.4.0"},
		"what it was told":                             {report.Row{Told: "1.5.0"}, "", "1_5_0", "1.5.0"},
		"what it was offered":                          {report.Row{Offer: &report.Offer{Version: "1.5.0"}}, "", "v1.5.0", "1.5.0"},
		"its stone":                                    {report.Row{Stone: &report.Stone{Version: "1.5.0", Towards: "1.6.0"}}, "", "v1.5.0", "1.5.0"},
		"its pin":                                      {report.Row{Pin: &report.Pin{Version: "1.2.0", Until: at}}, "", "v1.2.0", "1.2.0"},
		"the rollout's target":                         {text: `"2.0.0"`, means: "2.0.0"},
		"what it said before it was offered something": {report.Row{Running: "1.3.0", Offer: &report.Offer{Version: "1.4.0", From: "v1.4.0"}}, "", "v1.4.0", "v1.4.0"},
		"the same text as before":                      {report.Row{Running: "v1.4.0"}, "", "v1.4.0", "v1.4.0"},
		"the same label as before":                     {report.Row{Running: "1.1.0", Label: "v1.1.0"}, "", "v1.1.0", "1.1.0"},
		"the name instead of a label":                  {report.Row{Running: "1.4.0", Label: "v1.4.0"}, "", "1.4.0", "1.4.0"},
		"a build of what it was told":                  {report.Row{Told: "1.4.0"}, "", "1.4.0+7", "1.4.0"},
		"a build of the channel's version":             {text: "1.4.0+7", means: "1.4.0+7"},
		"a build of it, and builds are ignored":        {report.Row{}, report.IgnoreBuild, "1.4.0+7", "1.4.0"},
		"another build of a release":                   {report.Row{Told: "3.0.0+2"}, "", "3.0.0+1", "3.0.0+1"},
		"another build, and builds are ignored":        {report.Row{Told: "3.0.0+2"}, report.IgnoreBuild, "3.0.0+1", "3.0.0+2"},
		"no build, and builds are ignored":             {report.Row{Told: "3.0.0+2"}, report.IgnoreBuild, "3.0.0", "3.0.0+2"},
		"two that are like it":                         {report.Row{Told: "1.4-0"}, "", "v1.4_0", "v1.4_0"},
		"nothing":                                      {report.Row{Running: "1.4.0"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, client)
			h.publish("lab", "V1.4.0", described, release.Lineage{})
			h.publish("lab", "2.0.0", described, release.Lineage{})
			h.publish("stable", "1.4.0", described, release.Lineage{})
			expect.Value(h.rollouts.Start(h.ctx(), audit.Origin{}, rollout.Plan{EdgeType: h.name, Channel: "stable", TargetVersion: "2.0.0"}, idempotency.Claim{}))(t)
			if c.form != "" {
				expect.Value(edgetype.NewStore(h.db).Set(h.ctx(), audit.Origin{}, h.name, edgetype.Wish{VersionForm: &c.form}, input.Preconditions{}))(t)
			}
			c.row.EdgeType, c.row.Channel = h.name, "stable"
			for _, from := range []decide.Sources{decide.NewPage(h.db, h.seen), decide.NewCache(h.db, time.Second, 1, h.seen, h.clock)} {
				means, err := decide.Means(h.ctx(), c.row, c.text, from)
				expect.That(t, err == nil && means == c.means, "%q means %q, %v; want %q", c.text, means, err, c.means)
			}
		})
	}
}

// TestManifest_TheBoxsOwnText_IsWhatItIsTold: a client that compares the version with its own one stops.
func TestManifest_TheBoxsOwnText_IsWhatItIsTold(t *testing.T) {
	h := newHouse(t, dynamotest.Embedded(t))
	h.publish("stable", "1.4.0", described, release.Lineage{})
	h.put("box", "stable", "")
	h.poll("box", "1.3.0") // and is told 1.4.0: before that, another build would be another version
	for sent, want := range map[string][2]string{
		"v1.4.0": {"v1.4.0", "1.4.0"}, "1.4.0": {"1.4.0", ""}, "1.4.0\n": {"1.4.0\n", "1.4.0"}, "v1.4.0 7": {"v1.4.0+7", "1.4.0"}, "1.3.0": {"1.4.0", ""}, "": {"1.4.0", ""},
	} {
		poll := polling.Poll{EdgeID: h.id("box"), Installed: polling.InstalledRule.Fitted(sent), Text: sent, Caller: "the box", Subject: h.id("box")}
		reply, err := polling.NewPolls(h.db, h.settings(), h.seen, h.clock).Answer(h.ctx(), poll)
		expect.OK(t, err)
		got := [2]string{reply.Manifest.Version, reply.Manifest.Release}
		expect.Equal(t, got, want, "of a box that says %q, the version and the release are", sent)
	}
}
