package census_test

import (
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestWarnOfSupport_OncePerOrganizationAndTime: two organizations run a version whose support ends in 100 days, and a third runs
// another one. Nobody is warned twice of the same, and who comes later is warned of what is left.
func TestWarnOfSupport_OncePerOrganizationAndTime(t *testing.T) {
	f := newFleet(t, dynamotest.Embedded(t), 4)
	run := func(organization, version string) {
		for _, id := range f.enlists(t, organization, 3) {
			f.poll(t, id, version)
		}
	}
	run("acme", "1.0.0")
	run("rival", "1.0.0")
	run("third", "0.9.0")
	ends, known := f.time().Add(100*24*time.Hour), map[string]int{}
	supported := func(until time.Time) {
		t.Helper()
		_, err := publication.NewStore(f.db).Describe(f.ctx, audit.Origin{}, release.Named{EdgeType: f.edgeType, Version: "1.0.0"},
			release.SaidWish{SupportedUntil: new(until.Format(time.RFC3339Nano))})
		expect.OK(t, err)
	}
	// warned are the new events.
	warned := func() (names []string) {
		t.Helper()
		for range 2 { // the second call finds a recent count
			expect.OK(t, f.progress.WarnOfSupport(f.ctx, census.GuardOrigin("a run")))
		}
		for _, organization := range []string{"acme", "rival", "third"} {
			id := organization + "/" + release.Pair(f.edgeType, "1.0.0")
			page := expect.Value(audit.NewLog(f.db).Of(f.ctx, organization, audit.Filter{ResourceType: census.SupportType, ResourceID: id}, "", 50))(t)
			for _, e := range page.Items[:len(page.Items)-known[organization]] { // the newest first
				names = append(names, organization+" "+e.EventName)
			}
			known[organization] = len(page.Items)
		}
		return names
	}
	supported(ends)
	expect.Equal(t, warned(), nil, "100 days before")
	f.later(11 * 24 * time.Hour)
	expect.Equal(t, warned(), []string{"acme SupportEnding", "rival SupportEnding"}, "89 days before")
	f.later(24 * time.Hour)
	expect.Equal(t, warned(), nil, "88 days before")
	f.later(60 * 24 * time.Hour)
	run("rival", "2.0.0")
	expect.Equal(t, warned(), []string{"acme SupportEnding"}, "28 days before, when one has no such box")
	f.later(28 * 24 * time.Hour)
	run("third", "1.0.0")
	expect.Equal(t, warned(), []string{"acme SupportEnded", "third SupportEnded"}, "at the end")
	all := expect.Value(f.progress.Support(f.ctx, ""))(t).Support
	expect.That(t, len(all) == 2 && all[0].Boxes == 3 && all[0].OrganizationID == "acme" && all[0].SupportedUntil.Equal(ends.Truncate(time.Millisecond)), "%+v", all)
	own := expect.Value(f.progress.Support(f.ctx, "third"))(t).Support
	expect.Equal(t, own, slices.DeleteFunc(all, func(s census.Support) bool { return s.OrganizationID != "third" }), "what third sees")
	supported(ends.Add(40 * 24 * time.Hour))
	f.later(24 * time.Hour)
	expect.Equal(t, warned(), []string{"acme SupportEnding", "third SupportEnding"}, "39 days before an end that was put off")
	supported(ends.Add(200 * 24 * time.Hour))
	f.later(24 * time.Hour)
	expect.Equal(t, warned(), nil, "200 days before")
	expect.Equal(t, len(expect.Value(f.progress.Support(f.ctx, ""))(t).Support), 0, "supports that end")
}
