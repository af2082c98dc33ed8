package golden_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/golden"
	"wavegate/shared/trail/audit"
)

// TestKinds_EachIsRecorded_AndReadByATest: the package that stores a kind reads its items in forms_test.go.
func TestKinds_EachIsRecorded_AndReadByATest(t *testing.T) {
	reads := regexp.MustCompile(`golden\.(?:Kept\[.+\]|Of|Stored)\(t, (dynamo\.\w+), "([^"]+)"`)
	read := map[string]bool{}
	expect.OK(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "forms_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range reads.FindAllStringSubmatch(string(text), -1) {
			table := strings.ToLower(strings.TrimPrefix(m[1], "dynamo."))
			if table == "methods" {
				table = string(dynamo.Methods) // the table kept its first name
			}
			read[table+": "+m[2]] = true
		}
		return err
	}))
	tables := map[dynamo.TableID]bool{}
	for _, k := range golden.Kinds {
		tables[k.Table] = true
		golden.Of(t, k.Table, k.Name)
		name := strings.ReplaceAll(string(k.Table), "-", "") + ": " + k.Name
		expect.That(t, read[name], "no forms_test.go reads the golden items of %s", k)
	}
	for _, table := range dynamo.Tables {
		expect.That(t, tables[table.ID], "the table %s has no kind", table.ID)
	}
}

// TestGrown_AreTheFieldsThatTheFirstRecordingLacks: the events in it are of the release that upgrades are tested from.
func TestGrown_AreTheFieldsThatTheFirstRecordingLacks(t *testing.T) {
	first, fields, grown := time.Time{}, map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, i := range expect.Value(golden.Items())(t) { // sorted by table and time
		resource, is := i.Plain["resource"].(golden.Plain)
		if i.Table != dynamo.Audit || !is {
			continue
		}
		if first.IsZero() {
			first = i.Recorded
		}
		kind := fmt.Sprint(resource["type"])
		if i.Recorded.Equal(first) && fields[kind] == nil {
			fields[kind], grown[kind] = map[string]bool{}, map[string]bool{}
		}
		for _, state := range []string{"before", "after"} {
			shown, _ := i.Plain[state].(golden.Plain)
			for name := range shown {
				switch {
				case i.Recorded.Equal(first):
					fields[kind][name] = true
				case fields[kind] != nil && !fields[kind][name]: // a type that the first release has
					grown[kind][name] = true
				}
			}
		}
	}
	expect.That(t, len(fields) > 10, "the first recording has events of %d types", len(fields))
	for kind, names := range grown {
		expect.Equal(t, slices.Sorted(slices.Values(audit.Grown(kind))), slices.Sorted(maps.Keys(names)), "the grown fields of a %s are", kind)
	}
}

func TestLoad_DamagedFile_NamesFileAndLine(t *testing.T) {
	const box = `{"recorded":"2026-11-24T13:00:00Z","item":{"edgeId":"box-1","pair":"gateway-x/stable"}}` + "\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"bad JSON":        {"edges.jsonl", box + `{"recorded":`, "edges.jsonl:2: unexpected EOF"},
		"an item twice":   {"edges.jsonl", box + strings.Replace(box, "1", "1", 1), "edges.jsonl:2: the item box-1 of 2026-11-24T13:00:00Z is in line 1, too"},
		"unknown table":   {"wheels.jsonl", box, "wheels.jsonl:1: there is no table wheels"},
		"unknown kind":    {"enrolments.jsonl", strings.Replace(box, `"edgeId":"box-1"`, `"id":"1","part":"wheel"`, 1), "enrolments.jsonl:1: the item 1 wheel of enrolments is of no kind"},
		"no time":         {"edges.jsonl", `{"item":{"edgeId":"box-1"}}`, "edges.jsonl:1: an item needs recorded and item"},
		"an empty line":   {"edges.jsonl", box + "\n" + box, "edges.jsonl:2: EOF"},
		"two in one line": {"edges.jsonl", strings.TrimSpace(box) + box, "edges.jsonl:1: there is more than one value"},
		"unknown member":  {"edges.jsonl", `{"recorded":"2026-11-24T13:00:00Z","items":{}}`, `edges.jsonl:1: json: unknown field "items"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := golden.Load(fstest.MapFS{c.file: {Data: []byte(c.text)}})
			expect.That(t, err != nil && strings.HasPrefix(err.Error(), c.want), "%v, want %s", err, c.want)
		})
	}
}

// TestDifferences_AreNamed_ByPath: what was there before must be there, and there may be more.
func TestDifferences_AreNamed_ByPath(t *testing.T) {
	was := golden.Plain{"offer": golden.Plain{"retryAt": "x", "list": []any{"a"}}, "ddi": true}
	for name, c := range map[string]struct {
		now  golden.Plain
		want string
	}{
		"more":     {golden.Plain{"offer": golden.Plain{"retryAt": "x", "list": []any{"a"}, "more": "y"}, "ddi": true, "also": "z"}, ""},
		"lost":     {golden.Plain{"offer": golden.Plain{"list": []any{"a"}}, "ddi": true}, "offer.retryAt: lost"},
		"renamed":  {golden.Plain{"offer": golden.Plain{"retry": "x", "list": []any{"a"}}, "ddi": true}, "offer.retryAt: renamed to retry"},
		"retyped":  {golden.Plain{"offer": golden.Plain{"retryAt": "x", "list": []any{true}}, "ddi": true}, "offer.list[0]: retyped: S is BOOL"},
		"changed":  {golden.Plain{"offer": golden.Plain{"retryAt": "x", "list": []any{"a"}}, "ddi": false}, "ddi: changed: true is false"},
		"shorter":  {golden.Plain{"offer": golden.Plain{"retryAt": "x", "list": []any{}}, "ddi": true}, "offer.list: changed: 1 entries are 0"},
		"replaced": {golden.Plain{"offer": "x", "ddi": true}, "offer: retyped: M is S"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, strings.Join(golden.Differences("", was, c.now), "; "), c.want, "the differences are")
		})
	}
}
