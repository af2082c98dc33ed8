package census_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// of is a reader of an organization.
func of(organization string) auth.Principal {
	return auth.Principal{OrganizationID: organization, Roles: []auth.Role{auth.FleetViewer}}
}

// enlists registers boxes of an organization on the fleet's channel, and returns their names.
func (f *fleet) enlists(t tester, organization string, n int) []string {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = organization + "-" + f.name(i, n)
		a := edge.Assignment{EdgeType: f.edgeType, Channel: f.channel, OrganizationID: organization}
		if _, err := f.registry.Put(f.ctx, audit.Origin{}, names[i], a, input.Preconditions{}); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// updates has boxes poll. Of those that are told the target, every third installs it, and every fifth of the others fails.
func (f *fleet) updates(t tester, boxes []string) {
	t.Helper()
	told := 0
	for _, id := range boxes {
		f.poll(t, id, "1.0.0")
		row, err := report.NewStore(f.db, 4).Get(f.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if row.Offer == nil || row.Offer.RolloutID == "" {
			continue
		}
		switch {
		case told%3 == 0:
			f.poll(t, id, "2.0.0")
		case told%5 == 1:
			f.fails(t, id)
		}
		told++
	}
}

// fleetOf counts an organization's fleet.
func (f *fleet) fleetOf(t tester, organization string) census.Fleet {
	t.Helper()
	f.later(11 * time.Second)
	got, err := f.progress.Fleet(f.ctx, of(organization), census.OfFleet{OrganizationID: organization, Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestFleet_OfAllOrganizations_AddUpToThePlatformsCounts: each organization is shown its own boxes, so all of them together
// are shown what the platform is.
func TestFleet_OfAllOrganizations_AddUpToThePlatformsCounts(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 4)
	fleets := map[string][]string{"acme": f.enlists(t, "acme", 25), "rival": f.enlists(t, "rival", 14), "third": f.enlists(t, "third", 1)}
	id := f.start(t, 50)
	for _, boxes := range fleets {
		f.updates(t, boxes)
	}
	all := f.count(t, id)
	sum := make([]guard.Counts, len(all.Stages))
	failures, boxes := 0, 0
	for organization, own := range fleets {
		got := f.fleetOf(t, organization)
		expect.Equal(t, got.Boxes, len(own), "boxes of %s", organization)
		expect.Equal(t, len(got.Channels), 1, "channels of %s", organization)
		c := got.Channels[0]
		expect.Equal(t, c.CurrentVersion, "1.0.0", "the version that %s is shown", organization)
		expect.Equal(t, c.Rollout.ID, id, "the rollout that %s is shown", organization)
		for i, s := range c.Rollout.Stages {
			sum[i] = census.Total([]census.StageCounts{{Counts: sum[i]}, s})
		}
		failures += c.Rollout.Failures[report.CodeBoot]
		boxes += c.Boxes
	}
	for i, s := range all.Stages {
		expect.Equal(t, sum[i], s.Counts, "the organizations' counts at %d percent", s.Percent)
	}
	expect.Equal(t, failures, all.Failures[report.CodeBoot], "failures")
	expect.Equal(t, boxes, 40, "boxes")
	expect.That(t, failures != 0 && census.Total(all.Stages).Installed != 0, "too little happened: %+v", all)
}

// TestFleet_OfBoxesThatSayLongNames_FitsIntoAnItem: it omits channels, and says how many.
func TestFleet_OfBoxesThatSayLongNames_FitsIntoAnItem(t *testing.T) {
	for most, want := range map[int]int{128: 50, 4: 100} {
		f := census.Fleet{OrganizationID: "acme", MoreChannels: 7}
		for i := range 100 {
			c := census.OwnChannel{EdgeType: "gateway-x", Channel: fmt.Sprint(i)}
			for range 10 {
				c.Versions = append(c.Versions, census.VersionCount{Version: strings.Repeat("\U0001f600", most), Boxes: 1})
			}
			f.Channels = append(f.Channels, c)
		}
		text := expect.Value(f.Text())(t)
		var kept census.Fleet
		expect.OK(t, json.Unmarshal([]byte(text), &kept))
		expect.Equal(t, len(text) < 400<<10, true, "it fits into an item")
		expect.Equal(t, []int{len(kept.Channels), kept.MoreChannels}, []int{want, 107 - want}, "channels and omitted ones, with names of %d characters:", most)
	}
}

func TestFleet_Requests_DoNotGrowWithOthersBoxes(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 4)
	f.enlists(t, "acme", 12)
	id := f.start(t, 100)
	f.api.page = 5 // so that each few items take a request
	requests := func(read func()) int {
		before := f.api.queries
		read()
		return f.api.queries - before
	}
	reads := map[string]func(){
		"the fleet": func() { f.fleetOf(t, "acme") },
		"the boxes of a state": func() {
			search := expect.Value(f.progress.Search(f.ctx, of("acme"), id, report.Offered))(t)
			expect.Value(search.Page(f.ctx, dynamo.Span{Limit: 3}))(t)
		},
		"the silent boxes": func() {
			search := expect.Value(f.progress.Search(f.ctx, of("acme"), id, "silent"))(t)
			expect.Value(search.Page(f.ctx, dynamo.Span{Limit: 3}))(t)
		},
		"a box of others": func() {
			_, err := f.progress.Why(f.ctx, of("acme"), "rival-1")
			expect.Equal(t, problem.Has(err, problem.NotFound), true, "it does not exist")
		},
	}
	alone := map[string]int{}
	for name, read := range reads {
		alone[name] = requests(read)
	}
	f.api.page = 0
	f.updates(t, f.enlists(t, "rival", 60))
	f.api.page = 5
	for name, read := range reads {
		expect.Equal(t, requests(read), alone[name], "requests for %s", name)
	}
	expect.That(t, alone["the fleet"] >= 3, "the fleet takes %d requests, so pages are not small", alone["the fleet"])
}

func TestOwnRollout_SaysWhatItDoesWithOwnBoxes(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 4)
	boxes := f.enlists(t, "acme", 4)
	f.enlists(t, "rival", 5)
	id := f.start(t, 100)
	says := func(sentence string, more ...func(census.OwnRollout)) {
		t.Helper()
		f.fleetOf(t, "acme")
		got, err := f.progress.OwnRollout(f.ctx, of("acme"), census.OfOwnRollout{OfFleet: census.OfFleet{OrganizationID: "acme"}, ID: id})
		expect.OK(t, err)
		expect.Equal(t, got.Sentence, fmt.Sprintf(sentence, f.edgeType), "it says")
		for _, check := range more {
			check(got)
		}
	}
	says("Rollout 2.0.0 on %s/stable is at 100 percent. Of the organization's 4 boxes there, it reaches 4: 4 undecided.")
	f.poll(t, boxes[0], "1.0.0")
	f.poll(t, boxes[0], "2.0.0")
	f.poll(t, boxes[1], "1.0.0")
	f.fails(t, boxes[1])
	says("Rollout 2.0.0 on %s/stable is at 100 percent. Of the organization's 4 boxes there, it reaches 4: 1 installed it, 1 failed, 2 undecided.")
	f.move(t, id, rollout.Move{Status: rollout.Halted})
	says("Rollout 2.0.0 on %s/stable was halted at 100 percent. Of the organization's 4 boxes there, it reaches 4: 1 installed it, 1 failed, 2 undecided.",
		func(r census.OwnRollout) { expect.Equal(t, r.EndedAt != nil, true, "it has ended") })
	f.publish(t, f.channel, "3.0.0")
	says("Rollout 2.0.0 on %s/stable was halted at 100 percent.", func(r census.OwnRollout) {
		expect.Equal(t, len(r.Stages), 0, "stages of a rollout that the channel no longer carries")
	})
	for name, c := range map[string]struct {
		caller       auth.Principal
		organization string
	}{
		"an organization without boxes":       {of("third"), "third"},
		"another organization":                {of("rival"), "acme"},
		"an admin of no organization":         {auth.Principal{Roles: []auth.Role{auth.OrganizationAdmin}}, "acme"},
		"an organization that does not exist": {of("acme"), "nobody"},
	} {
		for _, rolloutID := range []string{id, "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"} {
			_, err := f.progress.OwnRollout(f.ctx, c.caller, census.OfOwnRollout{OfFleet: census.OfFleet{OrganizationID: c.organization}, ID: rolloutID})
			expect.Equal(t, problem.Has(err, problem.NotFound), true, "%s is told that there is no rollout %s (%v)", name, rolloutID, err)
		}
	}
}

// TestOwnRollout_OnAChannelThatTheCountOmits_IsFoundAllTheSame: a fleet lists the channels with most boxes.
func TestOwnRollout_OnAChannelThatTheCountOmits_IsFoundAllTheSame(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 4)
	f.enlists(t, "acme", 1)
	for i := range 100 {
		a := edge.Assignment{EdgeType: f.edgeType, Channel: fmt.Sprintf("a-%d", i), OrganizationID: "acme"}
		_, err := f.registry.Put(f.ctx, audit.Origin{}, fmt.Sprintf("%s-of-%d", f.edgeType, i), a, input.Preconditions{})
		expect.OK(t, err)
	}
	expect.Equal(t, f.fleetOf(t, "acme").MoreChannels, 1, "omitted channels")
	_, err := f.progress.OwnRollout(f.ctx, of("acme"), census.OfOwnRollout{OfFleet: census.OfFleet{OrganizationID: "acme"}, ID: f.start(t, 100)})
	expect.OK(t, err)
}
