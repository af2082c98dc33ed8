package e2e

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// without lists the machines of a version that have no box that could report for them.
func (b *bench) without(n int) string {
	b.Helper()
	var page struct {
		Items []struct {
			Machine    string
			WithoutBox bool
		}
	}
	b.author.Get(b, b.version(n)+"/machines").Is(b, http.StatusOK).Into(b, &page)
	var all []string
	for _, m := range page.Items {
		if m.WithoutBox {
			all = append(all, m.Machine)
		}
	}
	return strings.Join(all, " ")
}

// TestBox_LeavesItsFactory_OnlySigned: while its machine has a version, the move is refused with what the machine has. A
// person may sign for it.
func TestBox_LeavesItsFactory_OnlySigned(t *testing.T) {
	t.Parallel()
	b, _ := boxed(t)
	owner := b.w.Owner(t)
	moved := func(more string) string {
		return `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":null` + more + `}`
	}
	for name, body := range map[string]string{"no reason": `{"reason":""}`, "a long one": `{"reason":"` + strings.Repeat("x", 1001) + `"}`, "no object": `"why"`} {
		if a := owner.Put(t, "/api/edges/box-1", moved(`,"departure":`+body)); a.Status != http.StatusUnprocessableEntity && a.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	owner.Post(t, "/api/edges", `{"edges":[{"edgeId":"box-1",`+moved("")[1:]+`]}`).Refused(t, problem.Conflict)
	if d := owner.Put(t, "/api/edges/box-1", moved("")).Refused(t, problem.Conflict); !strings.Contains(d.Detail, "machine press-1 has version 1 of "+id(b.path)) {
		t.Errorf("refused with %q", d.Detail)
	}
	expect.Equal(t, b.without(1), "press-2", "before, without a box")
	owner.Put(t, "/api/edges/box-1", moved(`,"departure":{"reason":"sold to Linz"}`)).Is(t, http.StatusNoContent)
	expect.Equal(t, b.without(1), "press-1 press-2", "after, without a box")
	events := b.w.Events(t, "edge", "box-1")
	expect.Equal(t, events[len(events)-1]["reason"], any("sold to Linz"), "the signed reason is")
	owner.Put(t, "/api/edges/box-1", registration("munich-1", "")).Is(t, http.StatusNoContent) // nothing prevents its return
	expect.Equal(t, b.without(1), "press-2", "after its return, without a box")
}

// TestBox_WithoutMachines_LeavesItsFactory, alone and with others.
func TestBox_WithoutMachines_LeavesItsFactory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	owner := b.w.Owner(t)
	const moved = `"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":null}`
	for _, box := range []string{"box-2", "box-3"} {
		owner.Put(t, "/api/edges/"+box, registration("munich-1", "")).Is(t, http.StatusCreated)
	}
	owner.Put(t, "/api/edges/box-2", "{"+moved).Is(t, http.StatusNoContent)
	owner.Post(t, "/api/edges", `{"edges":[{"edgeId":"box-3",`+moved+`]}`).Is(t, http.StatusOK)
	for _, box := range []string{"box-2", "box-3"} {
		if shown := owner.Get(t, "/api/edges/"+box).Object(t); shown["factoryId"] != nil {
			t.Errorf("%s is in factory %v", box, shown["factoryId"])
		}
	}
}

// TestReport_OfAVersionThatDoesNotNameTheMachine_LeadsItToTheMethod: it hears of the version's recall.
func TestReport_OfAVersionThatDoesNotNameTheMachine_LeadsItToTheMethod(t *testing.T) {
	t.Parallel()
	b, box := boxed(t)
	b.machine("oven-1", "oven")
	b.author.Put(t, "/api/factories/munich-1/machines/oven-1", `{"name":"Oven 1","edgeId":"box-1"}`).Is(t, http.StatusNoContent)
	methods := func() int {
		items, _ := box.Get(t, "/api/factories/munich-1/machines/oven-1/methods").Object(t)["items"].([]any)
		return len(items)
	}
	expect.Equal(t, methods(), 0, "before, methods of the machine")
	box.Put(t, b.report("oven-1"), b.says(1, "running")).Is(t, http.StatusCreated)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	expect.Equal(t, methods(), 1, "after the withdrawal, methods of the machine")
}

// TestBox_Ended_NamesTheMachinesThatItLeaves: nothing prevents the end of a box, and the answer says who has to be given
// another one.
func TestBox_Ended_NamesTheMachinesThatItLeaves(t *testing.T) {
	t.Parallel()
	for name, ready := range map[string]func(*bench) (path string){
		"retired": func(*bench) string { return "/api/edges/box-1" },
		"reset": func(b *bench) string {
			path, _ := enrols(b.T, b.w, b.w.Admin(b, "acme"), `"box-1"`, "")
			return path + "/redemptions/box-1"
		},
		"its tokens are ended": func(b *bench) string {
			b.w.Owner(b).Put(b, "/api/edges/box-1/token", `{"tokenSha256":"`+strings.Repeat("a", 64)+`"}`).Is(b, http.StatusNoContent)
			return "/api/edges/box-1/token"
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, box := boxed(t)
			owner := b.w.Owner(t)
			owner.Put(t, "/api/edges/box-2", registration("munich-1", "")).Is(t, http.StatusCreated)
			path := ready(b)
			b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
			a := owner.Do(t, http.MethodDelete, path, "").Is(t, http.StatusOK)
			expect.Equal(t, string(a.Body), `{"machines":["press-1"]}`, "the answer is")
			expect.Equal(t, b.without(1), "press-1 press-2", "without a box")
			expect.Equal(t, b.left(1), "press-1 box-1, press-2", "left")
			owner.Do(t, http.MethodDelete, "/api/edges/box-2", "").Is(t, http.StatusNoContent) // it speaks for no machine
			if name != "its tokens are ended" {
				box.Put(t, b.report("press-1"), b.says(1, "finished")).Refused(t, problem.NotFound)
				return
			}
			// It still has access tokens of its issuer, and has called with one.
			box.Put(t, b.report("press-1"), b.says(1, "finished")).Is(t, http.StatusCreated)
			expect.Until(t, "it is heard after the end of its tokens", func() bool {
				box.Put(t, b.report("press-1"), b.says(1, "finished")).Is(t, http.StatusNoContent)
				return b.without(1) == "press-2"
			})
		})
	}
}
