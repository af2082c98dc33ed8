package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKept_OrganizationsLeftOut_KeepTheVersionBefore_UntilTheyAreReached(t *testing.T) {
	second := Carried{ID: "second", TargetVersion: "2", Active: true, StagedPercent: 100}
	third := Carried{ID: "third", TargetVersion: "3", Active: true, StagedPercent: 100}
	row := published(nil).Begin(second)
	row.Telling = Telling{TellingID: "second", Without: []string{"acme"}}
	if row.Tells("acme", true) || !row.Tells("initech", false) {
		t.Error("the wrong organization is left out")
	}
	row = row.Adopt(second, Release{}, noon)
	kept, is := row.KeptFor("acme")
	if !is || kept.Version != "1.0.0" || row.CurrentVersion != "2" || row.TellingID != "" {
		t.Fatalf("keeps %+v in %+v", kept, row)
	}
	again := row.Begin(third)
	if _, is := again.KeptFor("acme"); !is || !again.Tells("acme", false) {
		t.Error("a rollout that includes the organization does not tell it, or the others reach it before")
	}
	for name, c := range map[string]struct {
		without []string
		want    []string
	}{
		"reached":        {nil, nil},
		"left out again": {[]string{"acme"}, []string{Kept{"acme", kept}.text()}},
		"another":        {[]string{"initech"}, []string{Kept{"initech", RolloutTarget{Version: "2"}}.text()}},
	} {
		next := again
		next.Telling = Telling{TellingID: "third", Without: c.without}
		if diff := cmp.Diff(c.want, next.Adopt(third, Release{}, noon).Kept); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if next := row.Publish(same(), noon); next.Kept != nil || next.TellingID != "" {
		t.Errorf("a publication forgets nothing: %+v", next)
	}
}

func TestTells_AStoppedRollout_TellsOnlyThoseThatItToldBefore(t *testing.T) {
	row := published(nil).Begin(Carried{ID: "r", Active: true})
	row.Telling = Telling{TellingID: "r", Stopped: true}
	if row.Tells("acme", false) || !row.Tells("acme", true) {
		t.Error("tells the wrong boxes")
	}
	row.TellingID = "an earlier one"
	if !row.Tells("acme", false) {
		t.Error("what an earlier rollout says counts for this one")
	}
}
