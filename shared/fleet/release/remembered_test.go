package release

import (
	"slices"
	"testing"
)

func versions(targets []RolloutTarget) []string {
	list := []string{}
	for _, t := range targets {
		list = append(list, t.Version)
	}
	return list
}

func TestRemembered_AreTheTargetsThatBoxesMayHoldBesideTheChannelsVersion(t *testing.T) {
	ended := func(version string) *Carried {
		return &Carried{ID: "w", TargetVersion: version, ArtifactURL: "https://a.example/new"}
	}
	old := func(versions ...string) (list []RolloutTarget) {
		for _, v := range versions {
			list = append(list, RolloutTarget{Version: v, ArtifactURL: "https://a.example/old"})
		}
		return list
	}
	cases := map[string]struct {
		carried *Carried
		earlier []RolloutTarget
		want    []string
	}{
		"no rollout yet":                              {nil, nil, []string{}},
		"the last rollout's target":                   {ended("2.0.0"), nil, []string{"2.0.0"}},
		"it and those before it, the latest first":    {ended("3.0.0"), old("2.0.0", "1.5.0"), []string{"3.0.0", "2.0.0", "1.5.0"}},
		"a version that was rolled out twice, once":   {ended("2.0.0"), old("1.5.0", "2.0.0"), []string{"2.0.0", "1.5.0"}},
		"not what the channel has":                    {ended("1.0.0"), old("2.0.0"), []string{"2.0.0"}},
		"not what the channel has come to have since": {ended("3.0.0"), old("1.0.0"), []string{"3.0.0"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			row := published(c.carried)
			row.Earlier = c.earlier
			got := row.Remembered()
			if !slices.Equal(versions(got), c.want) {
				t.Fatalf("remembers %v, want %v", versions(got), c.want)
			}
			if c.carried != nil && len(got) > 0 && got[0].Version == c.carried.TargetVersion && got[0].ArtifactURL != c.carried.ArtifactURL {
				t.Errorf("of two places of the same bytes it remembers the older, %s", got[0].ArtifactURL)
			}
		})
	}
}
