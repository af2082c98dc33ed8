package ddi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// A pair is boxes of a plant that takes updates from two to four at night, at a time of its own.
type pair struct {
	*fleet
	clock time.Time
	day   time.Time
	group *string
}

func paired(t *testing.T, group *string, test func(p *pair)) {
	each(t, func(f *fleet) {
		p := &pair{fleet: f, day: time.Now().UTC().Truncate(24 * time.Hour).Add(48 * time.Hour), group: group}
		p.at("02:05")
		f.boxes = ddi.NewBoxes(f.db, polling.Settings{PollInterval: time.Minute, Shards: 1, Issuers: issuer},
			func(context.Context, string) (time.Time, error) { return p.clock, nil }, func() time.Time { return p.clock })
		nightly := &calendar.Updates{TimeZone: "UTC", Windows: []calendar.Hours{{Days: calendar.Days, From: "02:00", To: "04:00"}}}
		expect.OK(f, f.db.Put(f.ctx(), dynamo.Factories, nil, plant.Plant{FactoryID: f.edgeType, Updates: nightly}, dynamo.Absent("factoryId")))
		test(p)
	})
}

// at sets the time of the day.
func (p *pair) at(clock string) {
	of := expect.Value(time.Parse("15:04", clock))(p)
	p.clock = p.day.Add(time.Duration(of.Hour())*time.Hour + time.Duration(of.Minute())*time.Minute)
}

// join registers a box, which polls and says what it runs; empty: it does not say.
func (p *pair) join(id, runs string) {
	p.Helper()
	p.box = id
	_, err := edge.NewRegistry(p.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}).Put(p.ctx(), audit.Origin{}, id,
		edge.Assignment{EdgeType: p.edgeType, Channel: "stable", OrganizationID: "acme", FactoryID: &p.edgeType, Group: p.group}, input.Preconditions{})
	expect.OK(p, err)
	p.poll()
	if runs != "" {
		p.states(runs)
		p.poll()
	}
}

// told is what a box is told by its next poll, and the action.
func (p *pair) told(id string) (action int64, update string) {
	p.Helper()
	p.box = id
	if action = p.poll().Deployment; action == 0 {
		return 0, "nothing"
	}
	d := expect.Value(p.boxes.Deployment(p.ctx(), p.call(), action))(p)
	return action, d.Release.Version + " " + d.Answer().Deployment.Update
}

func (p *pair) are(when, a, b string) {
	p.Helper()
	for id, want := range map[string]string{"a": a, "b": b} {
		_, update := p.told(p.edgeType + id)
		expect.Equal(p, update, want, "%s, %s is told", when, id)
	}
}

func (p *pair) release(version string) {
	p.Helper()
	p.publish(version, release.Details{SizeBytes: 10, SHA1: strings.Repeat("1", 40)})
}

// TestPair_OneWasToldAsTheWindowClosed_AtTheNextTheOtherWaits for whoever polls first.
func TestPair_OneWasToldAsTheWindowClosed_AtTheNextTheOtherWaits(t *testing.T) {
	for _, first := range []string{"a", "b"} {
		paired(t, new("pair"), func(p *pair) {
			p.join(p.edgeType+"a", "1.0.0")
			p.join(p.edgeType+"b", "1.0.0")
			p.release("2.0.0")
			p.at("03:55")
			p.told(p.edgeType + "a")
			p.are("in the window", "2.0.0 attempt", "nothing")
			p.at("04:10")
			p.are("after it", "2.0.0 skip", "nothing")
			p.day = p.day.Add(24 * time.Hour)
			p.at("02:01")
			p.told(p.edgeType + first)
			if first == "a" {
				p.are("at the next", "2.0.0 attempt", "nothing")
			} else {
				p.are("at the next", "2.0.0 skip", "2.0.0 attempt")
			}
		})
	}
}

// TestPair_OneCouldNotDownload_TheTwoNeverInstallAtOnce: the other is told, and the first tries again after it; or the first
// tries again, and the other waits.
func TestPair_OneCouldNotDownload_TheTwoNeverInstallAtOnce(t *testing.T) {
	for _, first := range []string{"a", "b"} {
		paired(t, new("pair"), func(p *pair) {
			p.join(p.edgeType+"a", "1.0.0")
			p.join(p.edgeType+"b", "1.0.0")
			p.release("2.0.0")
			action, _ := p.told(p.edgeType + "a")
			p.says(ddi.Feedback{Action: action, Progress: ddi.Broken, Code: report.CodeDownload, At: p.clock})
			if first == "b" {
				p.told(p.edgeType + "b")
				p.at("02:45")
				p.are("while b installs", "2.0.0 skip", "2.0.0 attempt")
				return
			}
			p.at("02:45")
			p.told(p.edgeType + "a")
			p.are("while a tries again", "2.0.0 attempt", "nothing")
		})
	}
}

// TestWindow_ABoxThatDoesNotSayWhatItRuns_Waits: it was told a version, and no longer is.
func TestWindow_ABoxThatDoesNotSayWhatItRuns_Waits(t *testing.T) {
	paired(t, nil, func(p *pair) {
		p.join(p.edgeType, "")
		_, update := p.told(p.edgeType)
		expect.Equal(p, update, "1.0.0 forced", "a first version, in whatever window, is")
		p.at("10:00")
		p.release("2.0.0")
		for range 3 {
			_, update = p.told(p.edgeType)
			expect.Equal(p, update, "nothing", "told while the plant is closed")
			p.clock = p.clock.Add(2 * time.Hour)
		}
	})
}
