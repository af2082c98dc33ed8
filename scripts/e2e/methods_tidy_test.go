package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestMethod_IsRenamedAndRetired_OnceNothingOfItHolds also checks that a retired one takes no content and no approval, and that the
// chain and the comparison with the trail stay whole.
func TestMethod_IsRenamedAndRetired_OnceNothingOfItHolds(t *testing.T) {
	b := newBench(t)
	var m struct {
		Name    string
		Retired *struct{ Reason, UserID string }
		Product struct{ Name string }
	}
	b.author.Patch(t, b.path, `{"name":"Pressing, two strokes"}`).Is(t, http.StatusOK).Into(t, &m)
	expect.Equal(t, m.Name, "Pressing, two strokes", "the name")
	b.author.Patch(t, b.path, `{}`).Refused(t, problem.ValidationFailed)
	b.author.Patch(t, b.path, `{"retired":true}`).Refused(t, problem.ValidationFailed)
	b.w.Engineer(t, "rival").Patch(t, b.path, `{"name":"Mine"}`).Refused(t, problem.NotFound)

	b.release(1, smallContent)
	b.author.Patch(t, b.path, `{"name":"Pressing"}`).Is(t, http.StatusOK)

	// Its product gets a name, which is in the method's entity tag, and not in the trail of the method.
	b.author.Put(t, "/api/factories/munich-1/products/7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11", `{"name":"Housing"}`).Is(t, http.StatusCreated)
	tag := b.author.Get(t, b.path).Is(t, http.StatusOK).Header.Get("ETag")
	b.author.Patch(t, b.path, `{"name":"Pressing, again"}`, "If-Match", tag).Is(t, http.StatusOK).Into(t, &m)
	expect.Equal(t, m.Product.Name, "Housing", "the product of the answer")
	b.author.Patch(t, b.path, `{"name":"Lost"}`, "If-Match", tag).Refused(t, problem.PreconditionFailed)
	b.counted()
	b.save(2, another("Two")).Is(t, http.StatusCreated)
	const retire = `{"retired":true,"reason":"no longer made"}`
	d := b.author.Patch(t, b.path, retire).Refused(t, problem.InvalidStateTransition)
	expect.That(t, strings.Contains(d.Detail, "Version 1 holds"), "%s", d.Detail)
	b.move(b.approver, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	d = b.author.Patch(t, b.path, retire).Refused(t, problem.InvalidStateTransition)
	expect.That(t, strings.Contains(d.Detail, "Version 2 is a draft"), "%s", d.Detail)
	b.move(b.approver, 2, "withdrawn", "").Is(t, http.StatusOK)
	b.author.Patch(t, b.path, retire).Is(t, http.StatusOK).Into(t, &m)
	expect.Must(t, m.Retired != nil && m.Retired.Reason == "no longer made" && m.Retired.UserID == "eric", "%+v", m)
	again := b.author.Patch(t, b.path, retire).Is(t, http.StatusOK)
	expect.Equal(t, string(again.Body), string(b.author.Get(t, b.path).Is(t, http.StatusOK).Body), "a method that is retired again")

	b.save(3, smallContent).Refused(t, problem.InvalidStateTransition)
	b.move(b.approver, 1, "withdrawn", `,"orders":"stop"`).Is(t, http.StatusOK) // what stops machines is possible
	b.author.Patch(t, b.path, `{"retired":false,"reason":"spare parts"}`).Is(t, http.StatusOK)
	b.release(3, another("Spare"))
	b.counted()
}

// unclear lists the machines of a version that may still have it.
func (b *bench) unclear(n int) string {
	b.Helper()
	var page struct{ Items []struct{ Machine string } }
	b.author.Get(b, b.version(n)+"/machines?clear=false").Is(b, http.StatusOK).Into(b, &page)
	var codes []string
	for _, m := range page.Items {
		codes = append(codes, m.Machine)
	}
	return strings.Join(codes, " ")
}

// TestMachine_ThatIsScrapped_HasNoVersion_AndTheRecallSaysWhoSaidSo also has it come back, and report after it was gone.
func TestMachine_ThatIsScrapped_HasNoVersion_AndTheRecallSaysWhoSaidSo(t *testing.T) {
	b, box := boxed(t)
	const press = "/api/factories/munich-1/machines/press-2"
	b.move(b.approver, 1, "withdrawn", `,"orders":"stop"`).Is(t, http.StatusOK)
	expect.Equal(t, b.unclear(1), "press-1 press-2", "the machines that are left")
	d := b.author.Put(t, press, `{"name":"press-2","classes":["press"],"scrapped":{"reason":"sold"}}`).Refused(t, problem.ValidationFailed)
	expect.Equal(t, d.Errors[0].Pointer, "/scrapped", "the pointer")
	b.author.Put(t, press, `{"name":"press-2","scrapped":{"reason":"sold in parts"}}`).Is(t, http.StatusNoContent)
	b.author.Put(t, press, `{"name":"press-2","scrapped":{"reason":"sold in parts"}}`).Is(t, http.StatusNoContent)
	expect.Equal(t, b.unclear(1), "press-1", "the machines that are left once one is scrapped")
	var page struct {
		Items []struct {
			Machine  string
			Clear    bool
			Scrapped *struct{ Reason, UserID string }
		}
	}
	b.author.Get(t, b.version(1)+"/machines").Is(t, http.StatusOK).Into(t, &page)
	expect.Must(t, len(page.Items) == 2, "%+v", page.Items)
	gone := page.Items[1]
	expect.That(t, gone.Machine == "press-2" && gone.Clear && gone.Scrapped != nil && gone.Scrapped.UserID == "eric", "%+v", gone)

	b.author.Put(t, press, `{"name":"press-2","classes":["press"]}`).Refused(t, problem.Conflict)
	b.author.Put(t, press, `{"name":"press-2","admission":{"reason":"back"}}`).Refused(t, problem.Conflict)
	b.save(2, another("Two")).Is(t, http.StatusCreated)
	b.move(b.author, 2, "in_review", "").Is(t, http.StatusOK)
	b.move(b.approver, 2, "trial", `,"machines":["press-2"]`).Refused(t, problem.MethodIncomplete)
	b.move(b.approver, 2, "released", "").Is(t, http.StatusOK)
	p := b.poll(press + "/methods")
	expect.That(t, len(p.Items) == 1 && p.Items[0].Version == 0, "a scrapped machine is told %+v", p.Items)

	b.author.Post(t, b.version(1)+"/confirmations", `{"machines":["press-2"],"reason":"it was sold in parts"}`).Is(t, http.StatusOK)
	expect.Equal(t, b.unclear(1), "press-1", "the machines that are left once somebody has confirmed it")
	b.author.Put(t, press, `{"name":"press-2","edgeId":"box-1"}`).Is(t, http.StatusNoContent) // it says something after all
	box.Put(t, b.report("press-2"), b.says(1, "running")).Refused(t, problem.VersionWithdrawn)
	expect.Equal(t, b.unclear(1), "press-1 press-2", "the machines that are left once the scrapped one has spoken")
	b.author.Put(t, press, `{"name":"press-2","scrapped":null,"classes":["press"]}`).Is(t, http.StatusNoContent)
	p = b.poll(press + "/methods")
	expect.That(t, len(p.Items) == 1 && p.Items[0].Version == 0, "a machine that is back waits for a signature: %+v", p.Items)
	b.approver.Put(t, press, `{"name":"press-2","admission":{"reason":"inspected"}}`).Is(t, http.StatusNoContent)
	p = b.poll(press + "/methods")
	expect.That(t, len(p.Items) == 1 && p.Items[0].Version == 2, "a machine that is back and admitted: %+v", p.Items)

	b.approver.Put(t, press, `{"name":"press-2","admission":{"reason":"inspected"}}`).Is(t, http.StatusNoContent)
	var m struct{ Admissions []struct{ Reason string } }
	b.author.Get(t, press).Is(t, http.StatusOK).Into(t, &m)
	expect.Equal(t, len(m.Admissions), 1, "the signatures after the same one again")
	b.counted()
}

// TestConfirmations_OfManyMachines_AreAllOrNone also repeats them.
func TestConfirmations_OfManyMachines_AreAllOrNone(t *testing.T) {
	b := newBench(t)
	for i := 3; i <= 5; i++ {
		b.machine(fmt.Sprint("press-", i), "press")
	}
	b.machine("saw-1", "saw")
	b.release(1, smallContent)
	confirm := func(machines, reason string) (a struct{ Confirmed, Before []string }) {
		b.author.Post(t, b.version(1)+"/confirmations", `{"machines":[`+machines+`],"reason":"`+reason+`"}`).Is(t, http.StatusOK).Into(t, &a)
		return a
	}
	path := b.version(1) + "/confirmations"
	b.author.Post(t, path, `{"machines":["press-1"],"reason":"seen"}`).Refused(t, problem.InvalidStateTransition)
	b.move(b.approver, 1, "withdrawn", `,"orders":"stop"`).Is(t, http.StatusOK)
	b.author.Post(t, path, `{"machines":["press-1","press-9"],"reason":"seen"}`).Refused(t, problem.NotFound)
	d := b.author.Post(t, path, `{"machines":["press-1","saw-1"],"reason":"seen"}`).Refused(t, problem.InvalidStateTransition)
	expect.That(t, strings.Contains(d.Detail, "does not concern machine saw-1"), "%s", d.Detail)
	expect.Equal(t, b.unclear(1), "press-1 press-2 press-3 press-4 press-5", "the machines that are left after refusals")
	got := confirm(`"press-1","press-2","press-3"`, "the line was cleared")
	expect.Equal(t, got.Confirmed, []string{"press-1", "press-2", "press-3"}, "the machines that were confirmed")
	expect.Equal(t, b.unclear(1), "press-4 press-5", "the machines that are left")
	got = confirm(`"press-3","press-4"`, "the line was cleared")
	expect.That(t, slices.Equal(got.Confirmed, []string{"press-4"}) && slices.Equal(got.Before, []string{"press-3"}), "%+v", got)
	d = b.approver.Post(t, path, `{"machines":["press-1","press-2","press-5"],"reason":"another"}`).Refused(t, problem.InvalidStateTransition)
	expect.That(t, len(d.Errors) == 2 && d.Errors[1].Pointer == "/machines/1", "%+v", d.Errors)
	expect.Equal(t, b.unclear(1), "press-5", "the machines that are left after a refusal")
	for _, machine := range []string{"press-1", "press-4"} {
		events := b.w.Events(t, "method-on-machine", machine+"/"+id(b.path))
		expect.Must(t, len(events) == 1 && events[0]["reason"] == "the line was cleared", "%s: %v", machine, events)
	}
	b.counted()
}
