package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// milled is a content with two steps: one on named machines, and one on a class.
const milled = `{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"steps":[` +
	`{"id":"10","name":"Mill","equipment":{"machines":["mill-1","mill-2"]},"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}}},` +
	`{"id":"15","name":"Deburr","run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}}},` +
	`{"id":"20","name":"Ream","equipment":{"class":"ream"},"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}},` +
	`"outputs":[{"material":"PART","quantity":1,"unit":"{piece}"}]}]}`

// milling is a bench with a content in review that needs a mill and a ream.
func milling(t *testing.T) *bench {
	b := newBench(t)
	b.machine("mill-1")
	b.machine("mill-2")
	b.machine("ream-1", "ream")
	b.save(1, milled).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	return b
}

func pointers(d problem.Document) string {
	var all []string
	for _, f := range d.Errors {
		all = append(all, f.Pointer)
	}
	return strings.Join(all, " ")
}

func TestMethods_TrialThatLeavesOutSteps_IsRefusedWithTheSteps(t *testing.T) {
	b := milling(t)
	for machines, want := range map[string]string{`"mill-1"`: "/steps/2", `"ream-1"`: "/steps/0"} {
		d := b.move(b.approver, 1, "trial", `,"machines":[`+machines+`]`).Refused(t, problem.TrialSplitsRoute)
		expect.Equal(t, pointers(d), want, "%s:", machines)
	}
	d := b.move(b.approver, 1, "trial", `,"machines":["mill-1","press-1","ream-1"]`).Refused(t, problem.ReachesNothing)
	expect.Equal(t, pointers(d), "/machines/1", "a press:")
	status := b.author.Get(t, b.version(1)).Object(t)["status"]
	expect.That(t, status == "in_review", "it is %v", status)
	b.move(b.approver, 1, "trial", `,"machines":["mill-1","ream-1"]`).Is(t, http.StatusOK)
	for machine, want := range map[string]int{"mill-1": 1, "mill-2": 0, "ream-1": 1} {
		expect.Equal(t, b.holds(machine, time.Time{}), want, "%s has version", machine)
	}
}

func TestMethods_ReleaseThatReachesNoMachine_IsRefused(t *testing.T) {
	b := milling(t)
	b.author.Put(t, "/api/factories/munich-1/machines/ream-1", `{"name":"Ream 1","classes":["saw"]}`).Is(t, http.StatusNoContent)
	d := b.move(b.approver, 1, "released", "").Refused(t, problem.ReachesNothing)
	expect.Equal(t, pointers(d), "/steps/2/equipment/class", "without a ream:")
	b.move(b.author, 1, "draft", "").Is(t, http.StatusOK)
	b.save(1, strings.NewReplacer(`"equipment":{"class":"press"},`, "").Replace(smallContent)).Is(t, http.StatusNoContent)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	d = b.move(b.approver, 1, "released", "").Refused(t, problem.ReachesNothing)
	expect.Equal(t, pointers(d), "/steps", "by hand only:")
}

// A machine that gets a class has no released version of the class until somebody approves one again, or admits the
// machine. One that had the class at the approval, and gets it back at once, has the version again.
func TestMethods_MachineThatGetsAClass_WaitsForTheNextApproval(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.machine("press-3", "press")
	b.author.Put(t, "/api/factories/munich-1/machines/press-2", `{"name":"Press 2","classes":[]}`).Is(t, http.StatusNoContent)
	b.author.Put(t, "/api/factories/munich-1/machines/press-2", `{"name":"Press 2","classes":["press"]}`).Is(t, http.StatusNoContent)
	check := func(when string, want map[string]int) {
		t.Helper()
		for machine, version := range want {
			expect.Equal(t, b.holds(machine, time.Time{}), version, "%s: %s has version", when, machine)
		}
	}
	check("after the changes", map[string]int{"press-1": 1, "press-2": 1, "press-3": 0})
	b.machine("press-4", "press")
	b.author.Put(t, "/api/factories/munich-1/machines/press-4", `{"name":"Press 4","admission":{"reason":"measured"}}`).Is(t, http.StatusNoContent)
	check("after an admission", map[string]int{"press-3": 0, "press-4": 1})
	b.author.Patch(t, b.version(1), fmt.Sprintf(`{"status":"released","reason":"Press 3 is measured","contentSha256":%q}`, b.hash(1))).Refused(t, problem.SelfApproval)
	b.approver.Patch(t, b.version(1), fmt.Sprintf(`{"status":"released","reason":"Press 3 is measured","contentSha256":%q}`, b.hash(1))).Is(t, http.StatusOK)
	check("after a further approval", map[string]int{"press-1": 1, "press-2": 1, "press-3": 1})
	b.author.Put(t, "/api/factories/munich-1/machines/press-3", `{"name":"Saw","classes":["saw"]}`).Is(t, http.StatusNoContent)
	check("after it lost the class", map[string]int{"press-1": 1, "press-3": 0})
}

// The content for orders that may finish is served as long as they may.
func TestMethods_Content_IsServedWhileOrdersFinish(t *testing.T) {
	b := newBench(t)
	b.w.Owner(t).Put(t, "/api/edges/box-1", registration("munich-1", "")).Is(t, http.StatusCreated)
	box, content := b.w.Box(t, "box-1"), b.version(1)+"/content"
	b.release(1, smallContent)
	b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	box.Get(t, content).Is(t, http.StatusOK)
	b.move(b.author, 1, "withdrawn", `,"orders":"stop"`).Is(t, http.StatusOK)
	box.Get(t, content).Refused(t, problem.NotFound)
	// A draft was never approved, no matter what its withdrawal says.
	b.save(2, another("Two")).Is(t, http.StatusCreated)
	b.move(b.author, 2, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	box.Get(t, b.version(2)+"/content").Refused(t, problem.NotFound)
}
