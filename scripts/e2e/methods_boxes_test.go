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

// TestBox_Ended_NamesTheMachinesThatItLeaves: nothing prevents the end of a box, and the answer says who has to be given
// another one.
func TestBox_Ended_NamesTheMachinesThatItLeaves(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		path  string
		ready func(*bench)
	}{
		"retired": {"/api/edges/box-1", func(*bench) {}},
		"its tokens are ended": {"/api/edges/box-1/token", func(b *bench) {
			b.w.Owner(b).Put(b, "/api/edges/box-1/token", `{"tokenSha256":"`+strings.Repeat("a", 64)+`"}`).Is(b, http.StatusNoContent)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b, box := boxed(t)
			owner := b.w.Owner(t)
			owner.Put(t, "/api/edges/box-2", registration("munich-1", "")).Is(t, http.StatusCreated)
			end.ready(b)
			b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
			a := owner.Do(t, http.MethodDelete, end.path, "").Is(t, http.StatusOK)
			expect.Equal(t, string(a.Body), `{"machines":["press-1"]}`, "the answer is")
			expect.Equal(t, b.without(1), "press-1 press-2", "without a box")
			expect.Equal(t, b.left(1), "press-1 box-1, press-2", "left")
			owner.Do(t, http.MethodDelete, "/api/edges/box-2", "").Is(t, http.StatusNoContent) // it speaks for no machine
			if name == "retired" {
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
