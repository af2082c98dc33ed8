package release

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wavegate/shared/testing/expect"
)

func TestKept_OrganizationsLeftOut_KeepTheVersionBefore_UntilTheyAreReached(t *testing.T) {
	second := Carried{ID: "second", TargetVersion: "2", Active: true, StagedPercent: 100}
	third := Carried{ID: "third", TargetVersion: "3", Active: true, StagedPercent: 100}
	row := published(nil).Begin(second)
	row.Telling = Telling{TellingID: "second", Without: []string{"acme"}}
	expect.That(t, !row.Tells("acme", true) && row.Tells("initech", false), "the wrong organization is left out")
	row = row.Adopt(second, Release{}, noon)
	kept, is := row.KeptFor("acme", "")
	expect.Must(t, is && kept.Version == "1.0.0" && row.CurrentVersion == "2" && row.TellingID == "",
		"keeps %+v in %+v", kept, row)
	again := row.Begin(third)
	if _, is := again.KeptFor("acme", ""); !is || !again.Tells("acme", false) {
		t.Error("a rollout that includes the organization does not tell it, or the others reach it before")
	}
	for name, c := range map[string]struct {
		without []string
		want    []string
	}{
		"reached":        {nil, nil},
		"left out again": {[]string{"acme"}, []string{Kept{[]string{"acme"}, kept}.text(), "acme 2  "}},
		"another":        {[]string{"initech"}, []string{Kept{[]string{"initech"}, RolloutTarget{Version: "2"}}.text()}},
	} {
		next := again
		next.Telling = Telling{TellingID: "third", Without: c.without}
		expect.Equal(t, cmp.Diff(c.want, next.Adopt(third, Release{}, noon).Kept), "", "%s:", name)
	}
	next := row.Publish(same(), noon)
	expect.That(t, next.Kept == nil && next.TellingID == "", "a publication forgets nothing: %+v", next)
}

func TestTells_AStoppedRollout_TellsOnlyThoseThatItToldBefore(t *testing.T) {
	row := published(nil).Begin(Carried{ID: "r", Active: true})
	row.Telling = Telling{TellingID: "r", Stopped: true}
	expect.That(t, !row.Tells("acme", false) && row.Tells("acme", true), "tells the wrong boxes")
	row.TellingID = "an earlier one"
	expect.That(t, row.Tells("acme", false), "what an earlier rollout says counts for this one")
}

// TestKept_OverManyRollouts_EachOrganizationKeepsWhatItIsTold, although what boxes may run is limited.
func TestKept_OverManyRollouts_EachOrganizationKeepsWhatItIsTold(t *testing.T) {
	row := published(nil)
	for i := range 60 {
		c := Carried{ID: fmt.Sprint(i), TargetVersion: fmt.Sprint("v", i), Active: true, StagedPercent: 100}
		row = row.Begin(c)
		row.Telling = Telling{TellingID: c.ID, Without: []string{"acme"}}
		if i > 50 {
			row.Without = []string{"acme", "initech"}
		}
		row = row.Adopt(c, Release{}, noon)
	}
	acme, _ := row.KeptFor("acme", "")
	initech, _ := row.KeptFor("initech", "")
	runs, _ := row.KeptFor("acme", "v58")
	expect.Equal(t, []string{acme.Version, initech.Version, runs.Version}, []string{"1.0.0", "v50", "v58"}, "what they keep is")
	expect.Equal(t, len(row.Kept), 48, "the row's texts are")
}
