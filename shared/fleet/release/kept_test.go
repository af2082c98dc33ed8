package release

import (
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
