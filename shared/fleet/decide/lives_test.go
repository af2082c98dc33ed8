package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// A life is what somebody knows of a box who hears all that it says, and sees all that is done with its registration.
type life struct {
	edgeType, organization, runs string
	retired                      bool
	spells                       []string // that have ended
}

// ends ends what the box runs, if anything.
func (l *life) ends(why report.End) {
	if l.runs != "" {
		l.spells = append(l.spells, l.spell(why))
	}
	l.runs = ""
}

func (l *life) spell(why report.End) string {
	return fmt.Sprint(l.edgeType, " ", l.runs, " ", l.organization, " ", why)
}

// known keeps all lives of a crowd.
type known struct {
	*crowd
	lives map[string]*life
}

// TestHistory_OfRandomLives_AgreesWithWhoeverSawAll: boxes of both kinds of clients are moved to another channel, organization and
// type, pinned, taken on the way over required releases, returned, retired and registered again. They say what they were told to
// run, what they were never told, and nothing, and are set back to an old image.
func TestHistory_OfRandomLives_AgreesWithWhoeverSawAll(t *testing.T) {
	client := dynamotest.Embedded(t)
	dynamotest.Check(t, func(t *rapid.T) {
		k := known{&crowd{house: newHouse(t, client), t: t, clients: map[string]bool{}}, map[string]*life{}}
		for i, v := range versionsOfLives {
			before := map[string]string{"3.0.0": k.one("", "2.0.0")}[v]
			k.publish("lab", v, described, release.Lineage{Order: 1<<30 + int64(i), Requires: before})
		}
		for _, channel := range []string{"stable", "canary"} {
			k.publish(channel, "1.0.0", described, release.Lineage{})
			k.publishes(release.Publication{EdgeType: k.name + "-b", Channel: channel, CurrentVersion: "1.0.0", Details: described})
		}
		for i := range 4 {
			box := fmt.Sprint("box-", i)
			k.boxes, k.clients[box], k.lives[box] = append(k.boxes, box), i == 0, &life{edgeType: k.name, organization: k.name}
			k.registers(box, "stable")
		}
		for range rapid.IntRange(1, 24).Draw(t, "steps") {
			k.happens()
			k.now = k.now.Add(time.Duration(rapid.IntRange(1, 8*3600).Draw(t, "time")) * time.Second)
		}
		k.compare()
	})
}

var versionsOfLives = []string{"1.0.0", "2.0.0", "3.0.0", "4.0.0"}

// assignment puts a box where its life is.
func (k known) assignment(box, channel string) edge.Assignment {
	l := k.lives[box]
	return edge.Assignment{EdgeType: l.edgeType, Channel: channel, OrganizationID: l.organization, TakeOver: true}
}

func (k known) registers(box, channel string) {
	_, err := k.registry.Put(k.ctx(), audit.Origin{}, k.id(box), k.assignment(box, channel), input.Preconditions{})
	expect.OK(k, err)
	k.lives[box].retired = false
}

// happens is one thing that happens.
func (k known) happens() {
	box, channel := k.one(k.boxes...), k.one("stable", "canary")
	l := k.lives[box]
	switch what := k.one("steer", "steer", "pin", "channel", "organization", "type", "retire", "says", "says", "says", "says", "lies", "says nothing"); {
	case what == "steer":
		k.steer(channel, k.one(versionsOfLives...))
	case what == "says":
		k.tells(box, k.one(versionsOfLives...))
	case what == "lies":
		k.tells(box, k.one("dev", "9.9.9"))
	case what == "says nothing":
		k.tells(box, "")
	case what == "organization" && !k.clients[box]: // the path of a client has the organization
		if next := k.one(k.name, k.name+"-rival"); next != l.organization || l.retired {
			l.ends(report.Moved)
			l.organization = next
			k.registers(box, channel)
		}
	case l.retired:
	case what == "pin":
		a := k.assignment(box, channel)
		a.Pin = &edge.PinRequest{Version: k.one(versionsOfLives...), Reason: "a test", Until: new(k.now.Add(3 * time.Hour))}
		_, _ = k.registry.Put(k.ctx(), audit.Origin{}, k.id(box), a, input.Preconditions{}) // a lower order is refused
	case what == "channel":
		k.registers(box, channel)
	case what == "type":
		if next := k.one(k.name, k.name+"-b"); next != l.edgeType {
			l.ends(report.Retyped)
			l.edgeType = next
			k.registers(box, channel)
		}
	case what == "retire":
		l.ends(report.Gone)
		l.retired = true
		expect.OK(k, k.registry.Retire(k.ctx(), audit.Origin{}, k.id(box), input.Preconditions{}))
	}
}

// tells lets a box call, and say what it runs.
func (k known) tells(box, version string) {
	l := k.lives[box]
	switch {
	case l.retired:
		return
	case !k.clients[box]:
		k.poll(box, version)
	default:
		if k.asks(box); version != "" {
			k.states(box, version)
		}
	}
	if version != "" && version != l.runs {
		l.ends(report.Replaced)
		l.runs = version
	}
}

// compare compares what is stored with the lives: the history of each box, what it runs now, and which boxes ever ran a version.
func (k known) compare() {
	ever := map[string][]string{}
	for box, l := range k.lives {
		var want, has []string
		row := k.row(box)
		expect.Equal(k, row.Running, l.runs, "%s runs", box)
		for i, spell := range slices.Backward(append(slices.Clone(l.spells), l.spell(""))) {
			if i < len(l.spells) {
				of := strings.Join(strings.Fields(spell)[:2], " ")
				ever[of] = append(ever[of], k.id(box)+" "+strings.Fields(spell)[2])
			}
			if i < len(l.spells) || l.runs != "" {
				want = append(want, spell)
			}
		}
		page := expect.Value(k.reports.History(k.ctx(), k.id(box), row, "", "", 100))(k)
		for _, p := range page.Items {
			if p.RanAt != nil { // and not only told
				has = append(has, fmt.Sprint(p.EdgeType, " ", p.Version, " ", p.OrganizationID, " ", p.End))
			}
		}
		expect.Equal(k, has, want, "the history of %s", box)
	}
	for _, edgeType := range []string{k.name, k.name + "-b"} {
		for _, version := range append([]string{"dev", "9.9.9"}, versionsOfLives...) {
			var has []string
			page := expect.Value(k.reports.EverRan(k.ctx(), edgeType, version, "", "", 200))(k)
			for _, p := range page.Items {
				if p.RanAt != nil {
					has = append(has, p.EdgeID+" "+p.OrganizationID)
				}
			}
			want := ever[edgeType+" "+version]
			slices.Sort(has)
			slices.Sort(want)
			expect.Equal(k, has, want, "boxes that ran %s of %s before", version, edgeType)
		}
	}
}
