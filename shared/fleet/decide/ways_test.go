package decide_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// Answers are what the four ways say of one box. A box polls by the manifest or by DDI.
type answers struct{ Manifest, DDI, Why, List string }

// A difference is a box of which the four ways said what could not all be true.
type difference struct {
	make  func(h *house)
	says  string // what the box says in a poll of the manifest
	ddi   bool
	right answers
}

// differences lists those that were found when each way decided for itself, each with what is right.
var differences = map[string]difference{
	// Its plant's hours change nothing for a box that its client could not take: a release without size and SHA-1 is not told.
	"the release lacks details, the plant is closed": {ddi: true, make: func(h *house) {
		h.runs("1.0.0")
		h.publish("stable", "2.0.0", release.Details{}, release.Lineage{})
		h.pauses()
	}, right: answers{DDI: "told 1.0.0", Why: `release-undescribed "1.0.0"`, List: "none"}},
	"the release lacks details, the box is one of a group": {ddi: true, make: func(h *house) {
		h.put("box", "stable", "pair")
		h.runs("1.0.0")
		h.publish("stable", "1.5.0", described, release.Lineage{})
		h.asks("box")
		h.put("other", "stable", "pair")
		h.publish("stable", "2.0.0", release.Details{}, release.Lineage{})
	}, right: answers{DDI: "told 1.0.0", Why: `release-undescribed "1.0.0"`, List: "none"}},
	// Nothing is published, so nobody waits for it.
	"nothing is published, the plant is closed": {says: "1.0.0", make: func(h *house) {
		h.poll("box", "1.0.0")
		h.put("box", "empty", "")
		h.pauses()
	}, right: answers{Manifest: "NOT_FOUND", Why: `nothing-published ""`, List: "none"}},
	"nothing is published, the box is one of a group": {ddi: true, make: func(h *house) {
		h.runs("0.9.0")
		h.put("box", "empty", "pair")
		h.put("other", "empty", "pair")
	}, right: answers{DDI: "told 0.9.0", Why: `nothing-published ""`, List: "none"}},
	// What a poll says counts: the box has booted what its DDI client wrote.
	"a box with a new client runs what the old one wrote to disk": {says: "2.0.0", make: func(h *house) {
		h.stones()
		h.runs("1.0.0")
		h.writes("box")
	}, right: answers{Manifest: "3.0.0 channel", Why: `stone "2.0.0" channel towards 3.0.0`, List: "none"}},
	// A DDI client that does not say what the box runs is told nothing while its plant is closed.
	"a box that does not say what it runs waits": {ddi: true, make: func(h *house) {
		h.asks("box")
		h.asks("box")
		h.publish("stable", "2.0.0", described, release.Lineage{})
		h.pauses()
	}, right: answers{DDI: "told nothing wakes", Why: `pause "" waits`, List: "pause"}},
	// A box that is told nothing is on its way to nothing.
	"the stone lacks details": {ddi: true, make: func(h *house) {
		h.publish("lab", "2.0.0", release.Details{}, release.Lineage{Order: 1<<30 + 1})
		h.publish("stable", "3.0.0", described, release.Lineage{Order: 1<<30 + 2, Requires: "2.0.0"})
		h.runs("0.9.0")
	}, right: answers{DDI: "told 0.9.0", Why: `release-undescribed "0.9.0"`, List: "none"}},
	// One box without its stone, as after a restore, must not fail the list of all, and why must say so.
	"the stone is missing": {says: "0.9.0", make: func(h *house) {
		h.stones()
		h.poll("box", "0.9.0")
		h.pauses()
		h.loses("2.0.0")
	}, right: answers{Manifest: "UNAVAILABLE", Why: `stone-missing "0.9.0"`, List: "none"}},
	// The first poll of a DDI client asks what the box runs. It tells nothing, and so is nobody's turn.
	"the first poll of a client whose box is one of a group": {ddi: true, make: func(h *house) {
		h.put("box", "stable", "pair")
		h.poll("box", "1.0.0")
		h.put("other", "stable", "pair")
		h.publish("stable", "2.0.0", described, release.Lineage{})
	}, right: answers{DDI: "told 1.0.0", Why: `channel "2.0.0" channel`, List: "none"}},
	// Both are true, and stay: the box waits, and its client keeps the action that it was told, which it must not install yet.
	"told before the plant closed": {ddi: true, make: func(h *house) {
		h.runs("1.0.0")
		h.publish("stable", "2.0.0", described, release.Lineage{})
		h.asks("box")
		h.pauses()
	}, right: answers{DDI: "skip 2.0.0 wakes", Why: `pause "1.0.0" waits`, List: "pause"}},
	// Nobody knows what the next poll says: why takes what the box said last.
	"a box no longer says what it runs": {make: func(h *house) {
		h.publish("stable", "2.0.0", described, release.Lineage{})
		h.poll("box", "1.0.0")
		h.pauses()
	}, right: answers{Manifest: "2.0.0 channel", Why: `pause "1.0.0" waits`, List: "pause"}},
}

// runs lets the box poll by DDI, and say what it runs.
func (h *house) runs(version string) {
	h.asks("box")
	h.states("box", version)
	h.asks("box")
}

// stones publishes 3.0.0, which requires 2.0.0.
func (h *house) stones() {
	h.publish("lab", "2.0.0", described, release.Lineage{Order: 1<<30 + 1})
	h.publish("stable", "3.0.0", described, release.Lineage{Order: 1<<30 + 2, Requires: "2.0.0"})
}

func TestWays_SayTheSameOfABox(t *testing.T) {
	client := dynamotest.Embedded(t)
	for name, d := range differences {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, client)
			for _, channel := range []string{"stable", "older"} {
				h.publish(channel, "1.0.0", described, release.Lineage{Order: 1 << 30})
			}
			h.now = h.now.Add(time.Second)
			h.put("box", "stable", "")
			d.make(h)
			h.now = h.now.Add(15 * time.Minute)
			got := answers{Why: h.why("box"), List: h.list("box")}
			if d.ddi {
				got.DDI = h.base("box")
			} else {
				got.Manifest = h.manifest("box", d.says)
			}
			expect.Equal(t, got, d.right, "it")
		})
	}
}
