package release

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func published(wave *Wave) Row {
	return Row{Channel: Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0",
		ArtifactURL: "https://a.example/1.0.0", SHA256: strings.Repeat("a", 64), Revision: 3, UpdatedAt: noon}, Wave: wave}
}

func same() Publication {
	return Publication{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0",
		ArtifactURL: "https://a.example/1.0.0", SHA256: strings.Repeat("a", 64)}
}

func TestPublish_DecidesByWhatTheRowHolds(t *testing.T) {
	active, ended := &Wave{ID: "w", Active: true}, &Wave{ID: "w"}
	newVersion, newURL := same(), same()
	newVersion.CurrentVersion, newVersion.SHA256 = "1.1.0", strings.Repeat("b", 64)
	newURL.ArtifactURL = "https://b.example/1.0.0"
	cases := map[string]struct {
		row      Row
		asked    Publication
		changed  bool
		revision int64
		wave     *Wave
	}{
		"a new channel":                                {Row{}, same(), true, 1, nil},
		"what is there":                                {published(nil), same(), false, 3, nil},
		"another version":                              {published(nil), newVersion, true, 4, nil},
		"the same bytes at another place":              {published(nil), newURL, true, 4, nil},
		"what is there, during a rollout":              {published(active), same(), false, 3, active},
		"another version, during a rollout":            {published(active), newVersion, true, 4, active},
		"what is there, after a rollout: it forgets":   {published(ended), same(), true, 4, nil},
		"another version, after a rollout: it forgets": {published(ended), newVersion, true, 4, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			next, event := c.row.publish(c.asked, noon.Add(time.Minute))
			changed := event == "ReleasePublished"
			if changed != c.changed || next.Revision != c.revision || next.Wave != c.wave {
				t.Fatalf("got %+v, %q", next, event)
			}
			if changed && (next.CurrentVersion != c.asked.CurrentVersion || next.ArtifactURL != c.asked.ArtifactURL ||
				next.SHA256 != c.asked.SHA256 || !next.UpdatedAt.Equal(noon.Add(time.Minute))) {
				t.Fatalf("got %+v", next)
			}
			if !changed && !reflect.DeepEqual(next, c.row) {
				t.Fatalf("changed nothing, but is %+v", next)
			}
		})
	}
}

func TestAllows_AVersionKeepsItsBytes(t *testing.T) {
	if err := (Release{}).allows(same()); err != nil {
		t.Errorf("never published: %v", err)
	}
	if err := (Release{SHA256: same().SHA256}).allows(same()); err != nil {
		t.Errorf("the same digest: %v", err)
	}
	if err := (Release{SHA256: strings.Repeat("b", 64)}).allows(same()); !problem.Has(err, problem.ReleaseImmutable) {
		t.Errorf("another digest: %v", err)
	}
}

func TestArtifactURLRule(t *testing.T) {
	long := "https://a.example/" + strings.Repeat("x", 2048-len("https://a.example/"))
	for value, taken := range map[string]bool{
		"https://a.example/x.tar.gz":                     true,
		"https://a.example":                              true,
		"https://a.example:8443/x?sig=a%20b":             true,
		"https://[2001:db8::1]/x":                        true,
		"https://[::1]:65535/x":                          true,
		"https://[1:2:3:4:5:6:7:8]/x":                    true,
		"https://[Ee:c0c]/x":                             false, // no address
		"https://[1::2::3]/x":                            false,
		"https://[1:2:3:4:5:6:7:8:9]/x":                  false,
		"https://[192.0.2.1]/x":                          false, // one of IPv4 has no brackets
		"https://[]/x":                                   false,
		"https://a.example:0/x":                          false,
		"https://a.example:65536/x":                      false,
		long:                                             true,
		long + "x":                                       false,
		"https://a.example/" + strings.Repeat("x", 3000): false,
		"http://a.example/x":                             false,
		"ftp://a.example/x":                              false,
		"//a.example/x":                                  false,
		"/x":                                             false,
		"x":                                              false,
		"":                                               false,
		"https://":                                       false,
		"https:///x":                                     false,
		"https://:443/x":                                 false,
		"https://user@a.example/x":                       false,
		"https://user:secret@a.example/x":                false,
		"https://@a.example/x":                           false,
		"https://a.example/x#part":                       false,
		"https://a.example/x#":                           false,
		"https://a.example/a b":                          false,
		"https://a.example/\x00":                         false,
		"https://a.example:port/x":                       false,
		"https://a.example/%zz":                          false,
		"https://exämple.example/x":                      false,
		"javascript:alert(1)":                            false,
		" https://a.example/x":                           false,
	} {
		if _, code, _ := ArtifactURLRule.Apply(value); (code == "") != taken {
			t.Errorf("%.60q: code %q, want taken %v", value, code, taken)
		}
	}
}

func TestVersionRule(t *testing.T) {
	for value, taken := range map[string]bool{
		"1.0.0": true, "2026.03.01+build.7": true, "v1_2-rc.1": true, strings.Repeat("1", 64): true,
		strings.Repeat("1", 65): false, "": false, ".1": false, "1/2": false, "1 2": false, "+1": false, "1\n": false,
	} {
		if _, code, _ := VersionRule.Apply(value); (code == "") != taken {
			t.Errorf("%q: code %q, want taken %v", value, code, taken)
		}
	}
}
