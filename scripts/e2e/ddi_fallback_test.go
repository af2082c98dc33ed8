package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/report"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

// brief gives boxes two seconds to install and to boot. The rollout is raised by hand.
const brief = `{"guard":{"silentAfter":"PT2S","decideWithin":"PT2S"},"promote":{"soak":{"1":"PT0S","10":"PT0S","50":"PT0S","100":"PT0S"}}}`

// A ddiBox is a box with a DDI client that runs 1.0.0.
type ddiBox struct {
	*harness.Caller
	id string
}

// says sends feedback about an action.
func (b ddiBox) says(t *testing.T, action, execution, finished, words string) {
	t.Helper()
	b.Post(t, action+"/feedback", feedback(execution, finished, words)).Is(t, http.StatusOK)
}

func (b ddiBox) runs(t *testing.T, version string) {
	t.Helper()
	b.Put(t, ddiPath("acme", b.id)+"/configData", `{"data":{"installed":"`+version+`"}}`).Is(t, http.StatusOK)
}

// ddiFleet registers boxes with DDI clients and makes them poll once.
func ddiFleet(t *testing.T, w *harness.World, n int) (boxes []ddiBox) {
	t.Helper()
	owner := w.Owner(t)
	for i := range n {
		b := ddiBox{id: fmt.Sprintf("box-%d", i)}
		owner.Put(t, "/api/edges/"+b.id, box).Is(t, http.StatusCreated)
		b.Caller = w.Box(t, b.id)
		expect.Must(t, base(t, b.Caller, b.id).Links.ConfigData != nil, "%s is not asked what it runs", b.id)
		b.runs(t, "1.0.0")
		boxes = append(boxes, b)
	}
	return boxes
}

// ddiRollout publishes and starts a rollout that reaches all boxes.
func ddiRollout(t *testing.T, w *harness.World, policy string) string {
	t.Helper()
	owner := w.Owner(t)
	owner.Put(t, channelPath("gateway-x", "canary"), described("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	rollout := owner.Post(t, rollouts, judged(policy)).Made(t)
	for _, percent := range []string{"10", "50", "100"} {
		owner.Patch(t, rollout, `{"staged_percent":`+percent+`,"overrideReason":"all boxes at once"}`).Is(t, http.StatusNoContent)
	}
	return rollout
}

// TestDDI_BoxesThatDoNotBoot_HaltTheRollout: sixty boxes in each of two ways. Without a boot state, SWUpdate begins
// the same action again. A RAUC client reports that the old version runs.
func TestDDI_BoxesThatDoNotBoot_HaltTheRollout(t *testing.T) {
	t.Parallel()
	const boxes = 60
	for name, c := range map[string]struct {
		written func(t *testing.T, b ddiBox, action string)
		later   func(t *testing.T, b ddiBox, action string)
		state   report.State
		says    string
	}{
		"begins again": {
			func(t *testing.T, b ddiBox, action string) {
				b.says(t, action, "proceeding", "none", "Installing Update Chunk Artifacts.")
				b.says(t, action, "proceeding", "none", "All Chunks Installed.")
				b.says(t, action, "proceeding", "none", "Installing Update Chunk Artifacts.")
			},
			func(*testing.T, ddiBox, string) {},
			report.Failed, "It wrote 1.1.0 to disk and did not boot it.",
		},
		"runs the old version": {
			func(t *testing.T, b ddiBox, action string) {
				b.says(t, action, "closed", "success", "Software bundle installed successfully.")
				b.runs(t, "1.0.0")
			},
			func(t *testing.T, b ddiBox, _ string) {
				expect.That(t, base(t, b.Caller, b.id).Links.ConfigData != nil, "%s is not asked what it runs", b.id)
				b.runs(t, "1.0.0")
			},
			report.Reverted, "It fell back from 1.1.0 to 1.0.0, and its client is not told 1.1.0 again.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, owner := published(t, lookEachSecond)
			fleet := ddiFleet(t, w, boxes)
			rollout := ddiRollout(t, w, brief)
			actions := make([]string, len(fleet))
			for i, b := range fleet {
				actions[i] = linked(t, w, base(t, b.Caller, b.id).Links.DeploymentBase)
				c.written(t, b, actions[i])
			}
			time.Sleep(2500 * time.Millisecond) // the policy's time to boot
			for i, b := range fleet {
				c.later(t, b, actions[i])
			}
			expect.OK(t, w.RunTask(t.Context(), operations.Tick))
			owner.Get(t, rollout).Has(t, `{"status":"halted","endedBy":"guard"}`)
			known := knows(t, owner, fleet[0].id, "1.1.0", c.state)
			expect.That(t, known.Report.Code == report.CodeBoot && strings.HasSuffix(known.Sentence, c.says),
				"known as %+v, its report as %+v", known, known.Report)
		})
	}
}

// TestDDI_Publication_SaysWhatClientsAreTold: its kind, another address, and missing fields of the release.
func TestDDI_Publication_SaysWhatClientsAreTold(t *testing.T) {
	w, owner := published(t, quick)
	b := ddiFleet(t, w, 1)[0]
	owner.Put(t, channel, described("1.0.1", digest("c"))).Is(t, http.StatusNoContent)
	base(t, b.Caller, b.id)
	if known := why(t, owner, b.id); len(known.Warnings) != 2 || !strings.Contains(known.Warnings[0], "without md5") ||
		!strings.Contains(known.Warnings[1], "downloadWithoutToken") {
		t.Errorf("the warnings are %q", known.Warnings)
	}
	const more = `,"md5":"0123456789abcdef0123456789abcdef","part":"bApp","artifactHttpUrl":"http://mirror.plant.example/1.1.0","downloadWithoutToken":true}`
	owner.Put(t, channel, strings.TrimSuffix(described("1.1.0", digest("b")), "}")+more).Is(t, http.StatusNoContent)
	cancel := linked(t, w, base(t, b.Caller, b.id).Links.CancelAction)
	b.Post(t, cancel+"/feedback", feedback("closed", "success", "cancellation acknowledged.")).Is(t, http.StatusOK)
	action := linked(t, w, base(t, b.Caller, b.id).Links.DeploymentBase)
	told := string(b.Get(t, action).Is(t, http.StatusOK).Body)
	for _, want := range []string{`"part":"bApp"`, `"md5":"0123456789abcdef0123456789abcdef"`,
		`"download-http":{"href":"http://mirror.plant.example/1.1.0"}`} {
		expect.That(t, strings.Contains(told, want), "%s is not in %s", want, told)
	}
	known := why(t, owner, b.id)
	expect.That(t, len(known.Warnings) == 0, "the warnings are %q", known.Warnings)
}

// atRoot also serves the second paths of DDI. Boxes poll every second.
func atRoot(o *service.Options) {
	quick(o)
	o.DDIRoot = true
}
