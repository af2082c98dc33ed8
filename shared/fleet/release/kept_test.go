package release

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wavegate/shared/testing/expect"
)

func TestKept_OrganizationsLeftOut_KeepTheVersionBefore_UntilTheyAreReached(t *testing.T) {
	second := Carried{ID: "second", TargetVersion: "2", Active: true, StagedPercent: 100, Telling: Telling{Without: []string{"acme"}}}
	third := Carried{ID: "third", TargetVersion: "3", Active: true, StagedPercent: 100}
	row := published(nil).Begin(second)
	expect.That(t, !row.Tells("acme", true) && row.Tells("initech", false), "the wrong organization is left out")
	row = row.Adopt(Carried{ID: "second", TargetVersion: "2", StagedPercent: 100}, Release{}, noon)
	kept, is := row.KeptFor("acme", "")
	expect.Must(t, is && kept.Version == "1.0.0" && row.CurrentVersion == "2", "keeps %+v in %+v", kept, row)
	again := row.Begin(third)
	if _, is := again.KeptFor("acme", ""); !is || !again.Tells("acme", false) {
		t.Error("a rollout that includes the organization does not tell it, or the others reach it before")
	}
	for name, c := range map[string]struct {
		without []string
		want    []Kept
	}{
		"reached":        {nil, nil},
		"left out again": {[]string{"acme"}, []Kept{{[]string{"acme"}, kept}, {[]string{"acme"}, RolloutTarget{Version: "2"}}}},
		"another":        {[]string{"initech"}, []Kept{{[]string{"initech"}, RolloutTarget{Version: "2"}}}},
	} {
		third.Without = c.without
		next := row.Begin(third)
		expect.Equal(t, cmp.Diff(c.want, next.Adopt(third, Release{}, noon).Kept), "", "%s:", name)
	}
	next := row.Publish(same(), noon)
	expect.That(t, next.Kept == nil, "a publication forgets nothing: %+v", next)
}

func TestTells_AStoppedRollout_TellsOnlyThoseThatItToldBefore(t *testing.T) {
	row := published(nil).Begin(Carried{ID: "r", Active: true, Telling: Telling{Stopped: true}})
	expect.That(t, !row.Tells("acme", false) && row.Tells("acme", true), "tells the wrong boxes")
	expect.That(t, row.Begin(Carried{ID: "s", Active: true}).Tells("acme", false), "what an earlier rollout says counts for this one")
}

// TestKept_OverManyRollouts_EachOrganizationKeepsWhatItIsTold, although what boxes may run is limited.
func TestKept_OverManyRollouts_EachOrganizationKeepsWhatItIsTold(t *testing.T) {
	row := published(nil)
	for i := range 60 {
		c := Carried{ID: fmt.Sprint(i), TargetVersion: fmt.Sprint("v", i), Active: true, StagedPercent: 100, Telling: Telling{Without: []string{"acme"}}}
		if i > 50 {
			c.Without = []string{"acme", "initech"}
		}
		row = row.Begin(c).Adopt(Carried{ID: c.ID, TargetVersion: c.TargetVersion}, Release{}, noon)
	}
	acme, _ := row.KeptFor("acme", "")
	initech, _ := row.KeptFor("initech", "")
	runs, _ := row.KeptFor("acme", "v58")
	expect.Equal(t, []string{acme.Version, initech.Version, runs.Version}, []string{"1.0.0", "v50", "v58"}, "what they keep is")
	expect.Equal(t, len(row.Kept), mostKept, "the row keeps")
}
