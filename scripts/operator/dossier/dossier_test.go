package dossier

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/testing/expect"
)

const verifier = "../../samples/dossier.py"

// listOf writes a list as an entry.
func listOf[T any](t interface{ Fatalf(string, ...any) }, name string, list []T) entry {
	var data bytes.Buffer
	for _, item := range list {
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatalf("%v", err)
		}
		data.Write(append(text, '\n'))
	}
	return entry{name, data.Bytes()}
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// drawn is a dossier of random boxes.
func drawn(t *rapid.T) []byte {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	at := func(label string) *time.Time {
		at := start.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, label)) * time.Minute)
		return &at
	}
	var spells []report.Spell
	var boxes []Box
	for i := range rapid.IntRange(0, 6).Draw(t, "boxes") {
		id, organization := fmt.Sprintf("box-%d", i), rapid.SampledFrom([]string{"acme", "rival"}).Draw(t, "organization")
		for range rapid.IntRange(0, 2).Draw(t, "spells") {
			p := report.Spell{EdgeID: id, EdgeType: "g", Version: rapid.SampledFrom([]string{"1.0.0", "1.1.0"}).Draw(t, "version"), OrganizationID: organization, Channel: "stable", EndedAt: at("ended"), End: report.Replaced,
				Code: report.FailureCode(rapid.SampledFrom([]string{"", "boot"}).Draw(t, "code"))}
			if rapid.Bool().Draw(t, "told") {
				p.ToldAt = at("told at")
			}
			if rapid.Bool().Draw(t, "ran") {
				p.RanAt = at("ran at")
			}
			spells = append(spells, p)
		}
		if rapid.Bool().Draw(t, "here") {
			running := rapid.SampledFrom([]string{"", "1.0.0", "1.1.0"}).Draw(t, "running")
			b := Box{EdgeID: id, OrganizationID: organization, Channel: "stable", Running: running, Carries: rapid.Bool().Draw(t, "carries")}
			if running != "" {
				b.Stay = &report.Stay{Version: running, RanAt: *at("stays since")}
			}
			if rapid.Bool().Draw(t, "pending") {
				b.Pending = &report.Pending{Version: rapid.SampledFrom([]string{"1.0.0", "1.1.0"}).Draw(t, "pends"), ToldAt: *at("pending since"),
					Code: report.FailureCode(rapid.SampledFrom([]string{"", "download"}).Draw(t, "failed"))}
			}
			if rapid.Bool().Draw(t, "opted out") {
				b.OptOut = &calendar.OptOut{Of: calendar.OfAll, Reason: "validated", By: calendar.Signer{Issuer: "https://people.example", UserID: "anna"}, At: start}
			}
			boxes = append(boxes, b)
		}
	}
	d := Dossier{Form: 1, EdgeType: "g", Version: "1.1.0", Affected: rapid.SampledFrom([][]string{nil, {"1.0.0", "0.9.0"}}).Draw(t, "affected"),
		From: start, Until: start.AddDate(0, 0, rapid.IntRange(0, 40).Draw(t, "days")), Claims: claims, Says: says}
	d.Release = release.Published{EdgeType: "g", Version: "1.1.0", PublishedAt: start, Saying: release.Saying{Documents: release.Documents{{Kind: "sbom", SHA256: digest("{}")}}},
		Urgency: rapid.SampledFrom([]release.Urgency{{}, {Kind: release.Security}, {Deadline: "P7D"}, {Kind: release.Security, Deadline: "P3D"}}).Draw(t, "urgency")}
	var events []map[string]any
	state := map[string]any(nil)
	for i := range rapid.IntRange(0, 4).Draw(t, "events") {
		next := map[string]any{"revision": i + 1, "currentVersion": rapid.SampledFrom([]string{"1.0.0", "1.1.0"}).Draw(t, "published")}
		events = append(events, map[string]any{"eventName": "ReleasePublished", "actor": map[string]any{"userId": "olga", "issuer": "https://people.example"}, "eventTime": start.Add(time.Duration(i)*time.Minute + 160*time.Millisecond).Format("2006-01-02T15:04:05.000Z"), "resource": map[string]string{"type": "release-channel", "id": "g/stable"},
			"before": state, "after": next})
		state = next
	}
	trail := listOf(t, "events.jsonl", events)
	read, err := lines[event]([]entry{trail}, "events.jsonl")
	expect.OK(t, err)
	d.sum(spells, boxes, read)
	file, err := pack([]entry{listOf(t, "dossier.json", []Dossier{d}), listOf(t, "spells.jsonl", spells), listOf(t, "boxes.jsonl", boxes),
		trail, {"documents/" + digest("{}") + "/sbom.json", []byte("{}")}})
	expect.OK(t, err)
	return file
}

// TestVerify_EachChangedByte_IsFound.
func TestVerify_EachChangedByte_IsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := drawn(t)
		_, err := Verify(file)
		expect.OK(t, err)
		for range 50 {
			i, bit := rapid.IntRange(0, len(file)-1).Draw(t, "byte"), rapid.IntRange(0, 7).Draw(t, "bit")
			changed := bytes.Clone(file)
			changed[i] ^= 1 << bit
			_, err := Verify(changed)
			expect.Must(t, err != nil, "byte %d of %d was changed, and nobody noticed", i, len(file))
		}
		_, err = Verify(file[:rapid.IntRange(0, len(file)-1).Draw(t, "length")])
		expect.Must(t, err != nil, "a file that was cut is taken")
		_, err = Verify(append(bytes.Clone(file), 0))
		expect.Must(t, err != nil, "a file that was made longer is taken")
	})
}

// again packs a dossier with changed entries, and with right digests of them.
func again(t *testing.T, file []byte, change func(entries []entry) []entry) []byte {
	t.Helper()
	return expect.Value(pack(change(expect.Value(unpack(file))(t))))(t)
}

// TestVerify_WhatDoesNotFit_IsFound: even with digests that were made again.
func TestVerify_WhatDoesNotFit_IsFound(t *testing.T) {
	file := rapid.Custom(drawn).Filter(func(file []byte) bool {
		return bytes.Contains(file, []byte(`"revision":2`)) && bytes.Contains(file, []byte(`"publications":[{`)) && bytes.Contains(file, []byte(`"running":"1.1.0"`))
	}).Example(1)
	replace := func(old, with string) func([]entry) []entry {
		return func(entries []entry) []entry {
			for i := range entries {
				if entries[i].name != "dossier.json" {
					entries[i].data = bytes.Replace(entries[i].data, []byte(old), []byte(with), 1)
				}
			}
			return entries
		}
	}
	for what, c := range map[string]struct {
		change func([]entry) []entry
		says   string
	}{
		"a box runs another version": {replace(`"running":"1.1.0"`, `"running":"1.0.0"`), "its counts are not those of its lists"},
		"an event was changed":       {replace(`"revision":1`, `"revision":7`), "does not begin with what the one before it made"},
		"another event published it": {replace(`"userId":"olga"`, `"userId":"oscar"`), "its counts are not those of its lists"},
		"the SBOM is another one":    {replace(`{}`, `[]`), "it lacks the document"},
		"the SBOM is missing":        {func(all []entry) []entry { return all[:4] }, "it lacks the document"},
		"a list is missing":          {func(all []entry) []entry { return all[:2] }, "it has no boxes.jsonl"},
		"the head is missing":        {func(all []entry) []entry { return all[1:] }, "it has no dossier.json"},
		"a list is not in JSON":      {replace(`{`, `[`), "spells.jsonl|boxes.jsonl|events.jsonl"},
	} {
		_, err := Verify(again(t, file, c.change))
		expect.Must(t, err != nil, "%s, and nobody noticed", what)
		fits := false
		for _, text := range strings.Split(c.says, "|") {
			fits = fits || strings.Contains(err.Error(), text)
		}
		expect.That(t, fits, "%s: %v", what, err)
	}
}

// TestVerify_AnotherProgram_SaysTheSame: 100 dossiers, as they are and with a changed byte.
func TestVerify_AnotherProgram_SaysTheSame(t *testing.T) {
	expect.Full(t)
	python := expect.Program(t, "Debian's package python3 has it", "python3")
	dir := t.TempDir()
	for i := range 100 {
		file := rapid.Custom(drawn).Example(i)
		for at := range file {
			other := bytes.Clone(file)
			other[at] ^= 1 << (at % 8)
			_, err := Verify(other)
			expect.Must(t, err != nil, "byte %d of file %d was changed, and nobody noticed", at, i)
		}
		changed := bytes.Clone(file)
		changed[i*len(file)/100] ^= 1
		expect.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.right.zip", i)), file, 0o600))
		expect.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.wrong.zip", i)), changed, 0o600))
		expect.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.unfit.zip", i)), again(t, file, func(entries []entry) []entry {
			entries[0].data = bytes.Replace(entries[0].data, []byte(`"told":`), []byte(`"told":1`), 1)
			return entries
		}), 0o600))
	}
	files := expect.Value(filepath.Glob(filepath.Join(dir, "*.zip")))(t)
	out, _ := exec.CommandContext(t.Context(), python, append([]string{verifier}, files...)...).CombinedOutput()
	said := strings.Split(strings.TrimSpace(string(out)), "\n")
	expect.Must(t, len(said) == 300, "it says %d lines of 300 files: %.2000s", len(said), out)
	for _, line := range said {
		expect.That(t, strings.Contains(line, "is consistent") == strings.Contains(line, ".right.zip"), "%s", line)
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", everyByte, filepath.Dir(verifier), dir).CombinedOutput()
	expect.Must(t, err == nil && strings.HasPrefix(string(out), "100 files"), "%v: %.2000s", err, out)
}

// everyByte changes each byte of each right file. The other program must find it.
const everyByte = `
import glob, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from dossier import fault
files = sorted(glob.glob(sys.argv[2] + "/*.right.zip"))
for path in files:
    data = open(path, "rb").read()
    for i in range(len(data)):
        if not fault(data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i+1:]):
            sys.exit(f"byte {i} of {path} was changed, and nobody noticed")
print(len(files), "files")
`

// TestFix_OfAnAdvisory_IsTheVersionThatFixesIt in all versions that are affected.
func TestFix_OfAnAdvisory_IsTheVersionThatFixesIt(t *testing.T) {
	says := func(version string, is ...release.Advisory) release.Published {
		return release.Published{Version: version, Saying: release.Saying{Advisories: is}}
	}
	fixed, open := release.Advisory{ID: "CVE-1", FixedIn: "1.2.0"}, release.Advisory{ID: "CVE-1"}
	for _, c := range []struct {
		known     []release.Published
		want, err string
	}{
		{[]release.Published{says("1.2.0"), says("1.1.0", fixed), says("1.0.0", release.Advisory{ID: "CVE-2"}, fixed), says("0.9.0", release.Advisory{ID: "CVE-1", NotAffected: true})}, "1.2.0 [1.1.0 1.0.0]", ""},
		{[]release.Published{says("1.1.0", fixed), says("1.0.0", open)}, "", "nothing fixes CVE-1 in version 1.0.0 of g yet"},
		{[]release.Published{says("1.1.0", fixed), says("1.0.0", release.Advisory{ID: "CVE-1", FixedIn: "1.0.1"})}, "", "CVE-1 is fixed in 1.2.0 and in 1.0.1; name one of them"},
		{[]release.Published{says("1.1.0")}, "", "version CVE-1 of g was never published, and no version has an advisory of this name"},
	} {
		a := &collection{d: Dossier{EdgeType: "g", Version: "CVE-1"}}
		if err := a.fix(c.known); err != nil || c.err != "" {
			expect.Error(t, err, c.err, "of %v", c.known)
			continue
		}
		expect.Equal(t, fmt.Sprint(a.d.Version, " ", a.d.Affected), c.want, "of %v", c.known)
	}
}
