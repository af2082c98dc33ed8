package release

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

func TestPublish_ReachesEveryBox_SoThatTheRowForgetsWhatWentBefore(t *testing.T) {
	newVersion, newURL := same(), same()
	newVersion.CurrentVersion, newVersion.SHA256 = "1.1.0", strings.Repeat("b", 64)
	newURL.ArtifactURL = "https://b.example/1.0.0"
	remembering := published(nil)
	remembering.Earlier = []RolloutTarget{{Version: "2.0.0"}}
	active, ended := &Carried{ID: "r", TargetVersion: "3.0.0", Active: true}, &Carried{ID: "r", TargetVersion: "3.0.0"}
	for name, c := range map[string]struct {
		row      ChannelRow
		asked    Publication
		revision int64
		past     []string
	}{
		"a new channel":                           {ChannelRow{}, same(), 1, nil},
		"what is there":                           {published(nil), same(), 4, nil},
		"another version":                         {published(nil), newVersion, 4, []string{"1.0.0"}},
		"the same bytes at another address":       {published(nil), newURL, 4, nil},
		"what is there, during a rollout":         {published(active), same(), 4, nil},
		"another version, during a rollout":       {published(active), newVersion, 4, []string{"1.0.0"}},
		"what is there, after a rollout":          {published(ended), same(), 4, nil},
		"another version, after a rollout":        {published(ended), newVersion, 4, []string{"1.0.0"}},
		"what is there, after an earlier rollout": {remembering, same(), 4, nil},
	} {
		t.Run(name, func(t *testing.T) {
			was := fmt.Sprintf("%+v", c.row)
			next := c.row.Publish(c.asked, noon.Add(time.Minute))
			want := ChannelRow{Channel: Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: c.asked.CurrentVersion,
				ArtifactURL: c.asked.ArtifactURL, SHA256: c.asked.SHA256, Revision: c.revision, UpdatedAt: noon.Add(time.Minute)},
				Past: c.past, PublishedAt: noon.Add(time.Minute)}
			expect.That(t, reflect.DeepEqual(next, want), "got %+v, want %+v", next, want)
			expect.That(t, fmt.Sprintf("%+v", c.row) == was, "the row that was read changed")
		})
	}
}

func TestKnows_TheChannelsVersions_AndTheTargetsOfRollouts(t *testing.T) {
	row := published(&Carried{ID: "r", TargetVersion: "3.0.0", Active: true})
	row.Earlier = []RolloutTarget{{Version: "2.0.0"}}
	row.Past = []string{"0.9.0", "0.8.0"}
	for _, version := range []string{"1.0.0", "3.0.0", "2.0.0", "0.9.0", "0.8.0"} {
		expect.That(t, row.Knows(version), "does not know %s", version)
	}
	expect.That(t, !row.Knows("0.7.0") && !row.Knows(""), "knows a version that no box can have got from here")
}

func TestPast_AreTheLastEightVersionsOfTheChannel_EachOnce(t *testing.T) {
	var row ChannelRow
	publish := func(version string) {
		p := same()
		p.CurrentVersion = version
		row = row.Publish(p, noon)
	}
	for i := range 12 {
		publish(fmt.Sprint(i))
	}
	if want := []string{"10", "9", "8", "7", "6", "5", "4", "3"}; !slices.Equal(row.Past, want) {
		t.Fatalf("knows %v, want %v", row.Past, want)
	}
	publish("8")
	carried := Carried{ID: "r", TargetVersion: "12"}
	row = row.Begin(carried).Adopt(carried, Release{}, noon)
	want := []string{"8", "11", "10", "9", "7", "6", "5", "4"}
	expect.Must(t, slices.Equal(row.Past, want), "knows %v, want %v", row.Past, want)
}

func TestAdopt_TakesTheTargetFromWhereItIsNow(t *testing.T) {
	digest, later := strings.Repeat("b", 64), noon.Add(time.Minute)
	carried := Carried{ID: "r", TargetVersion: "2.0.0", ArtifactURL: "https://dead.example/2.0.0", SHA256: digest, StagedPercent: 100, Revision: 5}
	next := published(&carried).Adopt(carried, Release{Version: "2.0.0", Bound: Bound{SHA256: digest}, ArtifactURL: "https://new.example/2.0.0"}, later)
	if next.CurrentVersion != "2.0.0" || next.SHA256 != digest || next.ArtifactURL != "https://new.example/2.0.0" || next.Revision != 4 {
		t.Errorf("got %+v", next)
	}
	expect.Equal(t, next.UpdatedAt, later, "it changed at")
	for name, other := range map[string]Release{"no release": {}, "other bytes": {Version: "2.0.0", Bound: Bound{SHA256: strings.Repeat("c", 64)}, ArtifactURL: "https://x.example"}} {
		next := published(&carried).Adopt(carried, other, noon)
		expect.That(t, next.ArtifactURL == carried.ArtifactURL, "%s: got %s", name, next.ArtifactURL)
	}
}

func TestHasReturned_KnowsTheRolloutsThatAreRemembered(t *testing.T) {
	row := ChannelRow{Returned: []Returned{{"r", "2.0.0", false}, {"s", "3.0.0", true}}}
	for id, want := range map[string]bool{"r": true, "s": true, "t": false, "": false, "2.0.0": false} {
		expect.Equal(t, row.HasReturned(id), want, "%q has returned:", id)
	}
}

func TestETag_ChangesWithTheChannelAndWithTheRolloutThatItCarries(t *testing.T) {
	seen := map[string]string{}
	for name, row := range map[string]ChannelRow{
		"no rollout": published(nil), "a rollout": published(&Carried{ID: "r", Revision: 1}), "it went on": published(&Carried{ID: "r", Revision: 2}),
		"another": published(&Carried{ID: "s", Revision: 2}), "published": {Channel: Channel{Revision: 4}},
	} {
		tag := row.ETag()
		other := seen[tag]
		expect.That(t, other == "" && tag != "", "%s and %s have the tag %q", name, other, tag)
		seen[tag] = name
	}
	expect.Equal(t, (ChannelRow{}).ETag(), "", "no channel has the tag")
}

func TestView_ShowsTheRolloutWhileItIsActive(t *testing.T) {
	carried := Carried{ID: "r", TargetVersion: "2.0.0", StagedPercent: 10, Active: true, Revision: 2, Guard: "act"}
	if got := published(&carried).View(); got.ActiveRollout == nil || *got.ActiveRollout != (ActiveRollout{ID: "r", TargetVersion: "2.0.0", StagedPercent: 10, Revision: 2, Guard: "act"}) {
		t.Errorf("got %+v", got.ActiveRollout)
	}
	carried.Active = false
	got := published(&carried).View()
	expect.That(t, got.ActiveRollout == nil && got.Channel == published(nil).Channel, "got %+v", got)
}
