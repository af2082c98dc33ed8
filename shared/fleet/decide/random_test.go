package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A crowd is a house with boxes of both kinds of clients, and what may happen to them.
type crowd struct {
	*house
	t       *rapid.T
	boxes   []string
	clients map[string]bool // DDI
	started []string
}

func (c *crowd) one(of ...string) string { return rapid.SampledFrom(of).Draw(c.t, "which") }

// TestDecide_RandomBoxes_AllWaysSayTheSame: what a container decides, a page of boxes and a page of one are equal, and so are the
// words for it: of why, of the list of waiting boxes, and of the box's next poll.
func TestDecide_RandomBoxes_AllWaysSayTheSame(t *testing.T) {
	client := dynamotest.Embedded(t)
	dynamotest.Check(t, func(t *rapid.T) {
		c := &crowd{house: newHouse(t, client), t: t, clients: map[string]bool{}}
		for i, v := range []string{"1.0.0", "2.0.0", "3.0.0", "4.0.0"} {
			before := map[string]string{"3.0.0": c.one("", "2.0.0")}[v]
			d := described
			if i > 0 && rapid.IntRange(0, 3).Draw(t, "bare") == 0 {
				d = release.Details{}
			}
			c.publishes(release.Publication{Channel: "lab", CurrentVersion: v, Details: d, Lineage: release.Lineage{Order: 1<<30 + int64(i), Requires: before},
				Urgency: release.Urgency{Kind: release.Purpose(c.one("", "security"))}})
		}
		for i := range 4 {
			box := fmt.Sprint("box-", i)
			c.boxes, c.clients[box] = append(c.boxes, box), i%2 == 0
			c.put(box, c.one("stable", "stable", "canary"), c.one("", "pair"))
		}
		for range rapid.IntRange(1, 16).Draw(t, "steps") {
			c.step()
			c.now = c.now.Add(time.Duration(rapid.IntRange(1, 4*3600).Draw(t, "time")) * time.Second)
		}
		c.agree()
	})
}

func (c *crowd) step() {
	box, channel, version := c.one(c.boxes...), c.one("stable", "canary"), c.one("1.0.0", "2.0.0", "3.0.0", "4.0.0")
	switch c.one("steer", "steer", "steer", "steer", "steer", "pin", "put", "pause", "opt out", "open", "polls", "polls", "polls", "says") {
	case "steer":
		c.steer(channel, version)
	case "pin":
		until := c.now.Add(3 * time.Hour)
		_, _ = c.registry.Put(c.ctx(), audit.Origin{}, c.id(box), edge.Assignment{EdgeType: c.name, Channel: channel, OrganizationID: c.name,
			Pin: &edge.PinRequest{Version: version, Reason: "a test", Until: &until}}, input.Preconditions{}) // a lower order is refused
	case "put":
		c.put(box, c.one("stable", "canary", "empty"), c.one("", "pair"))
	case "pause":
		c.pauses()
	case "opt out":
		c.optsOut(calendar.Scope(c.one("ordinary", "all")))
		allowed := calendar.Scope(c.one("", "ordinary", "none"))
		_, err := edgetype.NewStore(c.db).Set(c.ctx(), audit.Origin{}, c.name, edgetype.Wish{OptOut: &allowed}, input.Preconditions{})
		expect.OK(c, err)
	case "open":
		c.now = c.now.Add(2 * time.Hour)
	case "polls":
		c.polled(box, c.one("", "1.0.0", "2.0.0", "3.0.0", "4.0.0", "dev"))
	case "says":
		if c.clients[box] && c.row(box).DDI {
			c.states(box, version)
		}
	}
}

// steer publishes a version, starts a rollout of it, or moves one.
func (c *crowd) steer(channel, version string) {
	switch c.one("publish", "start", "start", "move", "move") {
	case "publish":
		c.publish(channel, version, described, release.Lineage{})
	case "start":
		if id, err := c.rollouts.Start(c.ctx(), audit.Origin{}, rollout.Plan{EdgeType: c.name, Channel: channel, TargetVersion: version}, idempotency.Claim{}); err == nil {
			c.started = append(c.started, id)
		}
	case "move":
		c.move()
	}
}

// polled lets a box poll, and sometimes write what it is told.
func (c *crowd) polled(box, runs string) {
	if !c.clients[box] {
		_, _ = c.polls(box, runs) // nothing may be published
		return
	}
	base, err := c.ddi().Poll(c.ctx(), c.call(box))
	if err == nil && base.Deployment != 0 && c.one("writes", "does not") == "writes" {
		_ = c.ddi().Report(c.ctx(), c.call(box), ddi.Feedback{Action: base.Deployment, Progress: ddi.Written, At: c.now})
	}
}

// move moves a rollout, if that is allowed.
func (c *crowd) move() {
	if len(c.started) == 0 {
		return
	}
	percent := cohort.Stages[slices.Index([]string{"10", "50", "100"}, c.one("10", "50", "100"))+1]
	m := map[string]rollout.Move{"raise": {StagedPercent: &percent}, "halt": {Status: rollout.Halted}, "return": {Status: rollout.Halted, Return: true},
		"complete": {Status: rollout.Completed}, "without": {Status: rollout.Active, Without: []string{c.name}}}[c.one("raise", "raise", "raise", "halt", "return", "complete", "without")]
	_, _ = c.rollouts.Move(c.ctx(), audit.Origin{}, c.one(c.started...), m, input.Preconditions{})
}

// agree checks that all ways say the same of each box.
func (c *crowd) agree() {
	page, waits := decide.NewPage(c.db, c.seen), map[string]string{}
	for _, box := range c.boxes {
		waits[box] = c.list(box)
	}
	for _, box := range c.boxes {
		row := c.row(box)
		of := decide.Known(row, c.now)
		of.DDI = c.clients[box]
		want := expect.Value(decide.Decide(c.ctx(), of, page))(c)
		want.Turn = nil
		for name, from := range map[string]decide.Sources{"a page of its own": decide.NewPage(c.db, c.seen),
			"a container": decide.NewCache(c.db, time.Minute, 1, c.seen, c.clock)} {
			got := expect.Value(decide.Decide(c.ctx(), of, from))(c)
			got.Turn = nil
			expect.Equal(c, got, want, "what %s decides of %s", name, box)
		}
		if row.DDI != c.clients[box] {
			continue // its first poll tells it nothing, and why does not know its client
		}
		why := expect.Value(c.progress().Why(c.ctx(), owner, c.id(box)))(c)
		expect.Equal(c, [3]string{why.Version, string(why.Reason), string(why.Source)}, [3]string{want.Version, string(want.Reason), string(want.Source())}, "why of %s", box)
		if want.Waits() {
			expect.Equal(c, waits[box], string(want.Reason), "the list has %s, which waits for", box)
		} else {
			expect.Equal(c, waits[box], "none", "the list has %s, which waits for", box)
		}
		c.told(box, row.Has(), want)
	}
}

// told checks what the box is told by its next poll. Then the poll may have taken a turn, so it is the last of its group.
func (c *crowd) told(box, has string, want decide.Decision) {
	if want.Reason == decide.StoneMissing {
		return
	}
	if !c.clients[box] {
		text := want.Version + " " + string(want.Source())
		if want.Reason == decide.NothingPublished {
			text = "NOT_FOUND"
		} else if want.Towards() != "" {
			text += " towards " + want.Towards()
		}
		if c.row(box).Group == "" {
			expect.Equal(c, c.manifest(box, has), text, "%s is told", box)
		}
		return
	}
	if c.row(box).Group != "" {
		return
	}
	kept := want.Waits() && c.row(box).Told == want.Next.Version
	c.asks(box)
	if now := c.row(box).Told; !kept || now != want.Next.Version {
		expect.Equal(c, now, map[bool]string{true: has, false: want.Version}[want.Reason == decide.NothingPublished], "%s is told", box)
	}
}
