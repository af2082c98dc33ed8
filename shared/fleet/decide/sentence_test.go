package decide_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

func TestSentence_EveryReason(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opens := noon.Format(time.RFC3339)
	b := decide.Box{Has: "1.1.0", Runs: "0.9.0", Row: report.Row{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", FactoryID: "munich-1",
		Pin:  &report.Pin{Reason: "acceptance test.", Until: noon, By: audit.Person{UserID: "anna"}},
		Hold: &report.Hold{Since: noon, By: audit.Person{UserID: "anna"}}}}
	row := release.ChannelRow{Rollout: &release.Carried{TargetVersion: "1.1.0", StagedPercent: 10}}
	row.CurrentVersion = "1.2.0"
	later := &decide.Decision{RolloutTarget: release.RolloutTarget{Version: "3.0.0"}, Reason: decide.Channel, Next: &decide.Decision{RolloutTarget: release.RolloutTarget{Version: "4.0.0"}}}
	then := "Told 3.0.0: it is published on stable and no rollout is active there."
	for reason, want := range map[decide.Reason]string{
		decide.Pin: "Told 1.0.0: anna pinned it until " + opens + ": acceptance test.",
		decide.Hold: "Told 1.0.0: it runs that version, anna moved or unpinned it at " + opens + ", and stable has an older release for it. " +
			"A publication there, or allowDowngrade, sends it back.",
		decide.Stone:            "Told 1.0.0 first: it runs 0.9.0, and 3.0.0 requires that it passes 1.0.0. After that: " + then,
		decide.RequiresUnknown:  "Told 1.0.0, and stays on it: 3.0.0 requires an earlier release, and the box does not say what it runs. After that: " + then,
		decide.StoneMissing:     "Told nothing: release 3.0.0, which 4.0.0 requires, is missing. Publish it again.",
		decide.NothingPublished: "Told nothing: nothing is published on stable.",
		decide.Rollout:          "Told 1.0.0: its percentile is 31 and rollout 1.1.0 on stable is at 10 percent.",
		decide.NotReached:       "Told 1.0.0: its percentile is 31 and rollout 1.1.0 on stable is at 10 percent; it is reached at 50.",
		decide.Installed:        "Told 1.0.0: it runs that version from a rollout on stable, and only a publication or a return sends a box back.",
		decide.Returned:         "Told 1.0.0: it runs 1.1.0, and the rollout on stable that brought it that version was returned.",
		decide.LeftOut:          "Told 1.0.0: rollout 1.1.0 on stable leaves out the box's organization.",
		decide.Kept:             "Told 1.0.0: the rollout that brought 1.2.0 to stable left out the box's organization, which keeps the version before.",
		decide.TellingStopped:   "Told 1.0.0: rollout 1.1.0 on stable tells no more boxes until a person goes on with it.",
		decide.RolloutEnded:     "Told 1.0.0: rollout 1.1.0 on stable is halted at 10 percent and reaches no more boxes.",
		decide.Channel:          "Told 1.0.0: it is published on stable and no rollout is active there.",
		decide.Undescribed: "Told nothing new: release 3.0.0 was published without sizeBytes and sha1, which the box's DDI client needs; " +
			"publish it again with both.",
		decide.Window: "Told 1.0.0, which it has: its plant munich-1 takes updates only in its windows. It opens next: " + opens + ". Then: " + then,
		decide.Pause:  "Told 1.0.0, which it has: its plant munich-1 pauses: stocktaking. It opens next: " + opens + ". Then: " + then,
		decide.OptOut: "Told 1.0.0, which it has: its plant munich-1 takes no updates but those for security until somebody ends that, as anna said at " + opens +
			": stocktaking. Then: " + then,
		decide.Group: "Told 1.0.0, which it has: box box-2 of its group was told something and has not run it long enough, or fell back. Then: " + then,
	} {
		d := decide.Decision{RolloutTarget: release.RolloutTarget{Version: "1.0.0"}, Reason: reason, Next: later, Channel: row, Blocker: decide.Blocker{EdgeID: "box-2"},
			Updates: &calendar.Updates{Reason: "stocktaking.", OptOut: &calendar.OptOut{Of: calendar.OfOrdinary, Reason: "stocktaking.", By: calendar.Signer{UserID: "anna"}, At: noon}}, Wait: calendar.Wait{Opens: noon}}
		expect.Equal(t, d.Sentence(b, "halted"), want, "%s says", reason)
	}
	b.Pin, b.Hold = nil, nil
	came := decide.Decision{RolloutTarget: release.RolloutTarget{Version: "1.1.0"}, Reason: decide.Hold, Channel: row}
	expect.Equal(t, came.Sentence(b, ""), "Told 1.1.0: it ran that version when it was registered, and stable has an older release for it. A publication there sends it back.", "of a box that came so")
	for want, blocker := range map[string]decide.Blocker{
		"is silent since " + opens + ", after it was told the same. It keeps its group waiting until somebody takes it out of the group": {Seen: noon},
		"has been silent for long, after it was told the same. It keeps its group waiting until somebody takes it out of the group":      {},
		"is silent since " + opens + ". Its group waits for it until 2026-03-02T12:00:00Z":                                               {Seen: noon, Until: noon.Add(24 * time.Hour)},
	} {
		blocker.EdgeID, blocker.Silent = "box-2", true
		d := decide.Decision{Reason: decide.Group, Next: later, Blocker: blocker}
		expect.Equal(t, d.Sentence(b, ""), "Told nothing new: box box-2 of its group "+want+". Then: "+then, "a silent box of the group")
	}
	silent := decide.Decision{Reason: decide.Window, Next: later}
	expect.Equal(t, silent.Sentence(b, ""), "Told nothing new: its plant munich-1 takes updates only in its windows. It opens next: not within two weeks. Then: "+then, "a box that does not say what it has")
	silent.Reason, silent.Wait.Overdue = decide.Window, true
	expect.That(t, strings.Contains(silent.Sentence(b, ""), "not within two weeks. The release is past its deadline. Then: "), "%s", silent.Sentence(b, ""))
}
