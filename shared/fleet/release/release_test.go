package release

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func published(carried *Carried) Row {
	return Row{Channel: Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0",
		ArtifactURL: "https://a.example/1.0.0", SHA256: strings.Repeat("a", 64), Revision: 3, UpdatedAt: noon}, Rollout: carried}
}

func same() Publication {
	return Publication{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0",
		ArtifactURL: "https://a.example/1.0.0", SHA256: strings.Repeat("a", 64)}
}

func TestAllows_AVersionKeepsItsBytes(t *testing.T) {
	if err := (Release{}).Allows(same()); err != nil {
		t.Errorf("never published: %v", err)
	}
	if err := (Release{SHA256: same().SHA256}).Allows(same()); err != nil {
		t.Errorf("the same digest: %v", err)
	}
	if err := (Release{SHA256: strings.Repeat("b", 64)}).Allows(same()); !problem.Has(err, problem.ReleaseImmutable) {
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
		"https://.a/":                                    false,
		"https://a..b/":                                  false,
		"https://-a.b/":                                  false,
		"https://a-.b/":                                  false,
		"https://a.b./":                                  false,
		"https://" + strings.Repeat("a", 64) + ".b/":     false,
		"https://my_bucket.s3.example/x":                 true,
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
