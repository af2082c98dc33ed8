package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// boxed is a bench with version 1 released. Its press-1 names box-1; press-2 has no box.
func boxed(t *testing.T) (*bench, *harness.Caller) {
	t.Helper()
	b := newBench(t)
	b.w.Owner(t).Put(t, "/api/edges/box-1", registration("munich-1", "")).Is(t, http.StatusCreated)
	b.author.Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"Press 1","edgeId":"box-1"}`).Is(t, http.StatusNoContent)
	b.release(1, smallContent)
	return b, b.w.Box(t, "box-1")
}

func (b *bench) report(machine string) string {
	return "/api/factories/munich-1/machines/" + machine + "/methods/" + id(b.path) + "/report"
}

func (b *bench) says(n int, state string) string {
	b.Helper()
	return fmt.Sprintf(`{"version":%d,"contentSha256":%q,"state":%q,"order":"PO-1"}`, n, b.hash(n), state)
}

// left returns the machines of a version that have not reported that they do not have it.
func (b *bench) left(n int) string {
	b.Helper()
	var page struct {
		Items []struct{ Machine, EdgeID, State, Told, LastHeardAt string }
	}
	b.author.Get(b, b.version(n)+"/machines?clear=false").Is(b, http.StatusOK).Into(b, &page)
	var all []string
	for _, m := range page.Items {
		if (m.State != "") != (m.LastHeardAt != "") {
			b.Errorf("%+v", m)
		}
		all = append(all, strings.TrimSpace(strings.Join([]string{m.Machine, m.EdgeID, m.State, m.Told}, " ")))
	}
	return strings.Join(all, ", ")
}

// TestMachines_OfABoxThatOnlyPolls_SayWhenItWasHeardFrom: before somebody goes there, they see whether the box is alive.
func TestMachines_OfABoxThatOnlyPolls_SayWhenItWasHeardFrom(t *testing.T) {
	b, box := boxed(t)
	heard := func() (at []bool) {
		var page struct {
			Items []struct{ LastHeardAt string }
		}
		b.author.Get(t, b.version(1)+"/machines").Is(t, http.StatusOK).Into(t, &page)
		for _, m := range page.Items {
			at = append(at, m.LastHeardAt != "")
		}
		return at
	}
	expect.Equal(t, heard(), []bool{false, false}, "before its first poll, of press-1 and press-2, it was heard from")
	b.w.Owner(t).Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	box.Get(t, "/api/edges/box-1/update/manifest").Is(t, http.StatusOK)
	expect.Equal(t, heard(), []bool{true, false}, "after it")
	b.w.Owner(t).Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"rival","departure":{"reason":"sold"}}`).Is(t, http.StatusNoContent)
	expect.Equal(t, heard(), []bool{false, false}, "after a move to another organization")
}

// TestReports_Recall_IsAListThatEmpties: a machine that still has a withdrawn version is told, and listed until it
// reports that it no longer has it.
func TestReports_Recall_IsAListThatEmpties(t *testing.T) {
	b, box := boxed(t)
	expect.Equal(t, b.left(1), "press-1 box-1, press-2", "released:")
	box.Put(t, b.report("press-1"), b.says(1, "loaded")).Is(t, http.StatusCreated)
	box.Put(t, b.report("press-1"), b.says(1, "running")).Is(t, http.StatusNoContent)
	events := len(b.w.Events(t, "method-on-machine", "press-1/"+id(b.path)))
	box.Put(t, b.report("press-1"), b.says(1, "running")).Is(t, http.StatusNoContent)
	n := len(b.w.Events(t, "method-on-machine", "press-1/"+id(b.path)))
	expect.That(t, n == 2 && events == 2, "%d events, then %d", events, n)
	b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	expect.Equal(t, b.left(1), "press-1 box-1 running, press-2", "withdrawn:")
	for _, orders := range []string{"finish", "stop"} {
		b.author.Patch(t, b.version(1), fmt.Sprintf(`{"status":"withdrawn","reason":"r","orders":%q}`, orders)).Is(t, http.StatusOK)
		d := box.Put(t, b.report("press-1"), b.says(1, "running")).Refused(t, problem.VersionWithdrawn)
		expect.Equal(t, d.Orders, orders, "told")
		expect.Equal(t, b.left(1), "press-1 box-1 running "+orders+", press-2", "told:")
	}
	box.Put(t, b.report("press-1"), b.says(1, "finished")).Is(t, http.StatusNoContent)
	expect.Equal(t, b.left(1), "press-2", "in the end:")
	all := b.author.Get(t, b.version(1)+"/machines?limit=1").Object(t)
	expect.That(t, len(all["items"].([]any)) == 1 && all["next"] != nil, "a page: %v", all)
}

// Only the box that a machine names speaks for it; for any other, the machine does not exist.
func TestReports_OnlyTheMachinesBoxReports(t *testing.T) {
	b, box := boxed(t)
	owner := b.w.Owner(t)
	owner.Put(t, "/api/edges/box-2", registration("munich-1", "")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-r", `{"edgeType":"gateway-x","channel":"stable","organizationId":"rival"}`).Is(t, http.StatusCreated)
	body := b.says(1, "running")
	for name, c := range map[string]struct {
		by   *harness.Caller
		path string
	}{
		"another box":         {b.w.Box(t, "box-2"), b.report("press-1")},
		"a box of a rival":    {b.w.Box(t, "box-r"), b.report("press-1")},
		"an unknown box":      {b.w.Box(t, "box-9"), b.report("press-1")},
		"for another machine": {box, b.report("press-2")},
		"for no machine":      {box, b.report("press-9")},
		"another factory":     {box, strings.Replace(b.report("press-1"), "munich-1", "nowhere-1", 1)},
		"an unknown method":   {box, strings.Replace(b.report("press-1"), id(b.path), "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70", 1)},
	} {
		a := c.by.Put(t, c.path, body)
		expect.That(t, masked(t, a) == masked(t, box.Put(t, b.report("press-9"), body)), "%s: %s", name, a.Body)
		a.Refused(t, problem.NotFound)
	}
	b.author.Put(t, b.report("press-1"), body).Refused(t, problem.Forbidden)
	// An engineer can only name boxes of their own organization, and cannot distinguish others from missing ones.
	for _, other := range []string{"box-r", "box-9"} {
		b.author.Put(t, "/api/factories/munich-1/machines/press-2", fmt.Sprintf(`{"name":"Press 2","edgeId":%q}`, other)).Refused(t, problem.EdgeNotInOrganization)
	}
	// A box does not leave the factory while its machine has a version. Once it is retired, it no longer speaks for the
	// machine, wherever it is registered again.
	elsewhere := `{"edgeType":"gateway-x","channel":"stable","organizationId":"rival"}`
	d := owner.Put(t, "/api/edges/box-1", elsewhere).Refused(t, problem.Conflict)
	expect.That(t, strings.Contains(d.Detail, "machine press-1 has version 1"), "refused because %s", d.Detail)
	owner.Do(t, http.MethodDelete, "/api/edges/box-1", "").Is(t, http.StatusOK)
	owner.Put(t, "/api/edges/box-1", elsewhere).Is(t, http.StatusCreated)
	box.Put(t, b.report("press-1"), body).Refused(t, problem.NotFound)
	b.author.Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"Press 1","edgeId":null}`).Is(t, http.StatusNoContent)
	m := b.author.Get(t, "/api/factories/munich-1/machines/press-1").Object(t)
	expect.That(t, m["edgeId"] == nil, "%v", m)
}

func TestReports_WhatMakesNoSense_IsRefused(t *testing.T) {
	b, box := boxed(t)
	b.save(2, another("Two")).Is(t, http.StatusCreated)
	d := box.Put(t, b.report("press-1"), `{"version":0,"state":"idle","contentSha256":"x","order":"`+strings.Repeat("x", 65)+`","speed":1}`).Refused(t, problem.ValidationFailed)
	expect.Equal(t, pointers(d), "/version /contentSha256 /state /order /speed", "faults:")
	box.Put(t, b.report("press-1"), fmt.Sprintf(`{"version":1,"contentSha256":%q,"state":"running"}`, b.hash(2))).Refused(t, problem.ContentChanged)
	box.Put(t, b.report("press-1"), b.says(2, "loaded")).Refused(t, problem.NotFound) // nobody approved it
	// A box's text is stored without invisible characters.
	box.Put(t, b.report("press-1"), fmt.Sprintf(`{"version":1,"contentSha256":%q,"state":"refused","detail":"door\u202eopen"}`, b.hash(1))).Is(t, http.StatusNoContent)
	page := b.author.Get(t, b.version(1)+"/machines").Object(t)["items"].([]any)
	got := page[0].(map[string]any)["detail"]
	expect.Equal(t, got, any("door?open"), "detail")
}

// Machines' reports about a method are not shown to other organizations.
func TestReports_OfAnotherOrganization_AreNotThere(t *testing.T) {
	b, box := boxed(t)
	box.Put(t, b.report("press-1"), b.says(1, "running")).Is(t, http.StatusCreated)
	rival := b.w.Engineer(t, "rival")
	foreign, absent := rival.Get(t, b.version(1)+"/machines"), rival.Get(t, strings.Replace(b.version(1), "munich-1", "nowhere-1", 1)+"/machines")
	foreign.Refused(t, problem.NotFound)
	expect.That(t, masked(t, foreign) == masked(t, absent), "%s, for a missing one %s", foreign.Body, absent.Body)
	box.Get(t, b.version(1)+"/machines").Refused(t, problem.Forbidden)
}
