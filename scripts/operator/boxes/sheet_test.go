package boxes

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// utf16Of is a text in UTF-16 with a byte order mark.
func utf16Of(text string, order binary.ByteOrder) string {
	var made bytes.Buffer
	_ = binary.Write(&made, order, utf16.Encode([]rune("\ufeff"+text)))
	return made.String()
}

// read reads a file of boxes, and returns the attributes of each box and the faults.
func read(t expect.T, dir, text string) (boxes []boxLine, f boxFile) {
	t.Helper()
	name := filepath.Join(dir, "boxes")
	expect.OK(t, os.WriteFile(name, []byte(text), 0o600))
	f, err := readBoxes(name, func(b boxLine) error { boxes = append(boxes, b); return nil })
	expect.OK(t, err)
	return boxes, f
}

const sheet = "edgeId,edgeType,channel,organizationId,factoryId,attributes\n"

func TestReadBoxes_AsSpreadsheetsSaveThem(t *testing.T) {
	const lines = sheet + "box-1,gateway-x,stable,acme,munich-1,note=Käse\n\n,,,,,\n  , ,\nbox-2,gateway-x,stable,acme,,\n"
	for name, text := range map[string]string{
		"commas": lines, "semicolons": strings.ReplaceAll(lines, ",", ";"), "tabs": strings.ReplaceAll(lines, ",", "\t"),
		"a byte order mark": "\ufeff" + lines, "UTF-16, little-endian": utf16Of(lines, binary.LittleEndian), "UTF-16, big-endian": utf16Of(lines, binary.BigEndian),
		"tabs in UTF-16": utf16Of(strings.ReplaceAll(lines, ",", "\t"), binary.LittleEndian), "Windows line ends": strings.ReplaceAll(lines, "\n", "\r\n"),
		"empty cells at the ends of lines": strings.ReplaceAll(lines, "\n", ",,\n"),
		"JSON lines": `{"edgeId":"box-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1","attributes":{"note":"Käse"},` +
			`"running":"1.0.0","revision":3,"createdAt":"2026-03-02T12:00:00Z","updatedAt":"2026-03-02T12:00:00Z"}` + "\n\n" +
			`{"edgeId":"box-2","edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`,
	} {
		t.Run(name, func(t *testing.T) {
			boxes, f := read(t, t.TempDir(), text)
			expect.Must(t, len(f.bad) == 0 && len(boxes) == 2, "%d boxes, %q", len(boxes), f.bad)
			expect.That(t, boxes[0].attributes["note"] == "Käse" && boxes[0].fields["factoryId"] == "munich-1" && boxes[1].attributes == nil, "%+v", boxes)
		})
	}
}

func TestReadBoxes_ALineThatCannotBeMeant_IsAFault(t *testing.T) {
	for line, fault := range map[string]string{
		"box-1,gateway-x,stable,acme,,note=Foo, Inc.":                                     "line 2: it has more cells than the first line names, which has 6; quote",
		"box-1,gateway-x,stable,acme,,\"note=Foo, Inc.\",x":                               "line 2: it has more cells",
		"box-1,gateway-x,stable,acme,,note=M\xfcnchen":                                    "line 2: it is neither UTF-8 nor UTF-16",
		"box-1,gateway-x,stable,acme,,\"{\"\"a b\"\":\"\"c\"\"}\"":                        "line 2: attributes/a b must have a name",
		`box-1,gateway-x,stable,acme,,{`:                                                  "line 2: ",
		"box-1;gateway-x;stable;acme;;":                                                   "line 2: edgeId must be",
		"box-1,gateway-x,stable,acme,,a=1;a=2":                                            "line 2: the attribute a is given twice",
		"\n" + `box-1,gateway-x,stable,"ac` + "\n" + `me",,` + "\nbox-1,gateway-x,stable": "line 3: organizationId must be",
	} {
		boxes, f := read(t, t.TempDir(), sheet+line+"\n")
		expect.That(t, len(boxes) == 0 && len(f.bad) > 0 && strings.HasPrefix(f.bad[0], fault), "%q: %d boxes, %q; want %q", line, len(boxes), f.bad, fault)
	}
	for line, fault := range map[string]string{
		`{"edgeId":"box-1","edgeType":"gateway-x","channel":"stable","organizationId":"acme","factroyId":"x"}`: "unknown field",
		`{"edgeId":7}`: "cannot unmarshal", `{"edgeId":"box-1"`: "unexpected EOF", `{} {}`: "more than one object", `{}`: "edgeId must be", "{\"edgeId\":\"\xff\"}": "neither UTF-8",
	} {
		_, f := read(t, t.TempDir(), "\n"+line+"\n")
		expect.That(t, len(f.bad) > 0 && strings.HasPrefix(f.bad[0], "line 2: ") && strings.Contains(f.bad[0], fault), "%q: %q; want %q", line, f.bad, fault)
	}
}

// TestReadBoxes_OneMACAddressInTwoSpellings_IsSaid: each would be a box of its own.
func TestReadBoxes_OneMACAddressInTwoSpellings_IsSaid(t *testing.T) {
	lines := sheet
	for _, id := range []string{"00:1A:2b:3c:4d:5e", "box-1", "001a2b3c4d5e", "00-1A-2B-3C-4D-5F", "001a.2b3c.4d5e", "001a2b3c4d5e6"} {
		lines += id + ",gateway-x,stable,acme,,\n"
	}
	boxes, f := read(t, t.TempDir(), lines)
	expect.That(t, len(boxes) == 6 && len(f.bad) == 0, "%d boxes, %q", len(boxes), f.bad)
	want := []string{"line 4: 001a2b3c4d5e is the MAC address of 00:1A:2b:3c:4d:5e in line 2; one box has one id",
		"line 6: 001a.2b3c.4d5e is the MAC address of 00:1A:2b:3c:4d:5e in line 2; one box has one id"}
	expect.Equal(t, f.twins, want, "one MAC address in two spellings:")
}

// TestReadBoxes_WhatListsPrint_IsReadBack: any attributes, as CSV with each separator, and as JSON lines.
func TestReadBoxes_WhatListsPrint_IsReadBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,9}`)
		value := rapid.OneOf(rapid.StringMatching(`[ -~]{1,12}`), rapid.StringN(1, 12, -1), rapid.SampledFrom([]string{"a;b", ";", "=", "'", `"`, "{}", "a, b", "=1+1"}))
		said := map[string]string{}
		for n, v := range rapid.MapOfN(name, value, 0, 5).Draw(t, "attributes") {
			if kept, _, wrong := report.AttributeValue.Apply(v); wrong == "" {
				said[n] = kept
			}
		}
		b := edge.Shown{Edge: edge.Edge{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", Attributes: said}}
		l := ofFleet(&run.Call{}, nil, false, true)
		var text bytes.Buffer
		if rapid.Bool().Draw(t, "JSON") {
			expect.OK(t, json.NewEncoder(&text).Encode(b))
		} else {
			w := csv.NewWriter(&text)
			w.Comma = rapid.SampledFrom([]rune{',', ';', '\t'}).Draw(t, "separator")
			columns, record := l.Columns, l.Record(b)
			if rapid.Bool().Draw(t, "by the page") {
				columns, record = append(columns, shown...), append(record, "'=1+2", "offered", "")
			}
			expect.OK(t, w.WriteAll([][]string{columns, record}))
		}
		boxes, f := read(t, dir, text.String())
		if len(boxes) != 1 || !maps.Equal(boxes[0].attributes, said) {
			t.Fatalf("%v is printed as %q and read back as %v, %q", said, text.String(), boxes, f.bad)
		}
	})
}
