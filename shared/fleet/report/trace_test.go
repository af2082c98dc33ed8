package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wavegate/shared/testing/expect"
)

func TestLeavesTrace_WhateverEndsTheOfferOfARollout(t *testing.T) {
	offered := Row{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Offer: &Offer{RolloutID: "r", Version: "2", State: Failed}}
	published, retired, pinned := offered, offered, offered
	pinned.Pin = &Pin{Version: "1"}
	published.Offer = &Offer{Version: "2", State: Failed}
	retired.Retired = true
	here := Registration{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", FactoryID: "munich"}
	with := func(change func(*Registration)) Registration {
		g := here
		change(&g)
		return g
	}
	for name, c := range map[string]struct {
		was   Row
		next  Registration
		leave bool
	}{
		"another factory":               {offered, here, false},
		"another channel":               {offered, with(func(g *Registration) { g.Channel = "beta" }), true},
		"another type":                  {offered, with(func(g *Registration) { g.EdgeType = "gateway-y" }), true},
		"another organization":          {offered, with(func(g *Registration) { g.OrganizationID = "other" }), true},
		"retired":                       {offered, with(func(g *Registration) { g.Retired, g.OrganizationID = true, "" }), true},
		"pinned to another version":     {offered, with(func(g *Registration) { g.Pin = &Pin{Version: "1"} }), true},
		"pinned to what was offered":    {offered, with(func(g *Registration) { g.Pin = &Pin{Version: "2"} }), false},
		"pinned already":                {pinned, with(func(g *Registration) { g.Pin = &Pin{Version: "1"} }), false},
		"of a publication, moved":       {published, with(func(g *Registration) { g.Channel = "beta" }), false},
		"without an offer, moved":       {Row{EdgeType: "gateway-x", Channel: "stable"}, with(func(g *Registration) { g.Channel = "beta" }), false},
		"retired before, again a box":   {retired, here, false},
		"retired, and moved by mistake": {retired, with(func(g *Registration) { g.Channel = "beta" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			next := c.was.Registered(c.next)
			got := c.was.LeavesTrace(next)
			expect.That(t, got == c.leave, "leaves a trace: %t", got)
			parts := NewStore(nil, 4).trace(c.was, next, next.EdgeAt)
			expect.That(t, len(parts) == map[bool]int{true: 1}[c.leave], "writes %d traces", len(parts))
		})
	}
}

func TestLeavesTrace_ABoxThatItsRolloutSentBack(t *testing.T) {
	was := Row{EdgeID: "box-1", Offer: &Offer{RolloutID: "r", Version: "2", State: Failed}}
	for name, c := range map[string]struct {
		next  Row
		leave bool
	}{
		"by its rollout":                   {Row{EdgeID: "box-1", Offer: &Offer{Version: "1"}, ReturnedFrom: "r"}, true},
		"by another one":                   {Row{EdgeID: "box-1", Offer: &Offer{Version: "1"}, ReturnedFrom: "q"}, false},
		"then offered by the next rollout": {Row{EdgeID: "box-1", Offer: &Offer{RolloutID: "s", Version: "3"}, ReturnedFrom: "r"}, false},
		"then offered nothing":             {Row{EdgeID: "box-1", ReturnedFrom: "r"}, false},
	} {
		t.Run(name, func(t *testing.T) { expect.Equal(t, was.LeavesTrace(c.next), c.leave, "leaves a trace:") })
	}
}

func TestIndexEntryOf_TellsTheRegistrationAndTraces(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plain := IndexEntry{EdgeID: "box-1", Version: "2.0.0", State: Failed, Stage: 10, Hash: hash("box-1")}
	dated := plain
	dated.RegisteredAt = at
	pinned, held := plain, dated
	pinned.AsideSince, pinned.PinnedUntil = at, at.Add(time.Hour)
	held.AsideSince = at
	for name, e := range map[string]IndexEntry{"without a date": plain, "with a date": dated, "pinned": pinned, "held, with a date": held} {
		for _, trace := range []bool{false, true} {
			key := e.StateKey()
			if e.Trace = trace; trace {
				key = traced + key
			}
			got, err := IndexEntryOf(key)
			diff := cmp.Diff(e, got)
			expect.That(t, diff == "" && err == nil, "%s: %v, %s", name, err, diff)
		}
	}
	_, err := IndexEntryOf("2.0.0#failed#10#abc.soon#box-1")
	expect.That(t, err != nil, "takes a word for a time")
	expect.That(t, boxOf(TracePrefix+"r#box-1#7") == "box-1" && boxOf("box-1") == "box-1",
		"the box of a trace is not known")
}
