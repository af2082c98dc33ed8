package release

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func published(carried *Carried) ChannelRow {
	return ChannelRow{Channel: Channel{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0",
		ArtifactURL: "https://a.example/1.0.0", SHA256: strings.Repeat("a", 64), Revision: 3, UpdatedAt: noon}, Rollout: carried}
}

func same() Publication {
	return Publication{EdgeType: "gateway-x", Channel: "stable", CurrentVersion: "1.0.0",
		ArtifactURL: "https://a.example/1.0.0", SHA256: strings.Repeat("a", 64)}
}

func TestAllows_AVersionKeepsItsBytes(t *testing.T) {
	if err := (Release{}).Allows(same(), noon); err != nil {
		t.Errorf("never published: %v", err)
	}
	if err := (Release{Bound: Bound{SHA256: same().SHA256}}).Allows(same(), noon); err != nil {
		t.Errorf("the same digest: %v", err)
	}
	if err := (Release{Bound: Bound{SHA256: strings.Repeat("b", 64)}}).Allows(same(), noon); !problem.Has(err, problem.ReleaseImmutable) {
		t.Errorf("another digest: %v", err)
	}
}

func TestVersionRule(t *testing.T) {
	for value, taken := range map[string]bool{
		"1.0.0": true, "1:2.0-1": true, "1.0~rc1-1": true, "~1": false, ":1": false, "2026.03.01+build.7": true, "v1_2-rc.1": true, strings.Repeat("1", 64): true,
		strings.Repeat("1", 65): false, "": false, ".1": false, "1/2": false, "1 2": false, "+1": false, "1\n": false,
	} {
		if _, code, _ := VersionRule.Apply(value); (code == "") != taken {
			t.Errorf("%q: code %q, want taken %v", value, code, taken)
		}
	}
}

// TestAllows_Details: given details stay, and missing ones may be added.
func TestAllows_Details(t *testing.T) {
	digest, sha1, md5 := strings.Repeat("a", 64), strings.Repeat("1", 40), strings.Repeat("2", 32)
	known := Release{Version: "1.1.0", Bound: Bound{SHA256: digest, Details: Details{SizeBytes: 10, SHA1: sha1}}}
	for name, c := range map[string]struct {
		said    Details
		allowed bool
		kept    Details
	}{
		"nothing":       {Details{}, true, known.Details},
		"the same":      {known.Details, true, known.Details},
		"MD5 is new":    {Details{MD5: md5}, true, Details{10, sha1, md5}},
		"another size":  {Details{SizeBytes: 11}, false, Details{}},
		"another SHA-1": {Details{SHA1: strings.Repeat("3", 40), MD5: md5}, false, Details{}},
	} {
		p := Publication{CurrentVersion: "1.1.0", SHA256: digest, Details: c.said}
		err := known.Allows(p, noon)
		if (err == nil) != c.allowed || err != nil && !problem.Has(err, problem.ReleaseImmutable) {
			t.Errorf("%s: %v", name, err)
		}
		if got := known.Published(p, nil, time.Time{}).Details; c.allowed && got != c.kept {
			t.Errorf("%s: kept %+v, want %+v", name, got, c.kept)
		}
	}
}

func TestAllows_Kind_IsSetByTheFirstPublicationForever(t *testing.T) {
	for name, c := range map[string]struct {
		was     release
		said    Purpose
		allowed bool
		kept    Purpose
	}{
		"never published":               {release{}, "", true, ""},
		"new, regular":                  {release{}, Regular, true, ""},
		"new, security":                 {release{}, Security, true, Security},
		"regular, nothing said":         {release{true, ""}, "", true, ""},
		"regular, regular again":        {release{true, ""}, Regular, true, ""},
		"regular, then security":        {release{true, ""}, Security, false, ""},
		"security, nothing said":        {release{true, Security}, "", true, Security},
		"security, then regular":        {release{true, Security}, Regular, false, ""},
		"security, then security again": {release{true, Security}, Security, true, Security},
	} {
		t.Run(name, func(t *testing.T) {
			var known Release
			p := same()
			p.Kind = c.said
			if c.was.exists {
				known = Release{Version: p.CurrentVersion, Bound: Bound{SHA256: p.SHA256, Urgency: Urgency{Kind: c.was.kind}}}
			}
			err := known.Allows(p, noon)
			if (err == nil) != c.allowed || err != nil && !problem.Has(err, problem.ReleaseImmutable) {
				t.Fatal(err)
			}
			if got := known.Published(p, nil, noon).Kind; c.allowed && got != c.kept {
				t.Errorf("its kind is %q, want %q", got, c.kept)
			}
		})
	}
}

func TestAllows_Order_IsSetByTheFirstPublicationForever(t *testing.T) {
	now := noon.Unix()
	for name, c := range map[string]struct {
		published bool
		was, said int64
		refused   problem.Code
		rank      int64
	}{
		"new, nothing said":              {false, 0, 0, "", now},
		"new, an old line":               {false, 0, 7, "", 7},
		"new, the present second":        {false, 0, now, "", now},
		"new, in the future":             {false, 0, now + 1, problem.ValidationFailed, 0},
		"published, nothing said":        {true, 7, 0, "", 7},
		"published, the same":            {true, 7, 7, "", 7},
		"published, another":             {true, 7, 8, problem.ReleaseImmutable, 0},
		"published by default, the same": {true, 0, now - 60, "", now - 60},
		"published by default, another":  {true, 0, 7, problem.ReleaseImmutable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var known Release
			p := same()
			p.Order = c.said
			if c.published {
				known = Release{Version: p.CurrentVersion, Bound: Bound{SHA256: p.SHA256, Lineage: Lineage{Order: c.was}, PublishedAt: noon.Add(-time.Minute)}}
			}
			if err := known.Allows(p, noon); c.refused != "" && !problem.Has(err, c.refused) || c.refused == "" && err != nil {
				t.Fatal(err)
			}
			if got := known.Published(p, nil, noon).Rank(); c.refused == "" && got != c.rank {
				t.Errorf("its order is %d, want %d", got, c.rank)
			}
		})
	}
}

type release struct {
	exists bool
	kind   Purpose
}
