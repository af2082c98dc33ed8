// Package golden has items of every kind as the service stores them. Each must stay readable: tests read all of them with
// the present code, and write them back. An item has every field of its type. After a type has got another field, this adds
// an item of it:
//
//	env WAVEGATE_FORMS=add go test -run TestForms ./shared/...
//
// Until the first release, WAVEGATE_FORMS=again replaces the items. Afterwards, no item ever changes.
package golden

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// recording is the environment variable that has the tests record items.
const recording = "WAVEGATE_FORMS"

//go:embed testdata
var files embed.FS

// An Item is an item of a table as it was stored.
type Item struct {
	Table dynamo.TableID
	Plain Plain
}

// Key is the item's key, for people.
func (i Item) Key() string {
	t := dynamo.TableOf(i.Table)
	key := fmt.Sprint(i.Plain[t.Partition])
	if t.Sort != "" {
		key += " " + fmt.Sprint(i.Plain[t.Sort])
	}
	return key
}

// file is the name of the kind's file. It has an item in each line.
func (k Kind) file() string {
	return strings.ReplaceAll(string(k.Table)+"."+k.Name, " ", "-") + ".jsonl"
}

// items reads the kind's recorded items.
func (k Kind) items() (all []Item, err error) {
	text, err := files.ReadFile("testdata/" + k.file())
	for line := range strings.Lines(string(text)) {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		i := Item{Table: k.Table}
		if err := d.Decode(&i.Plain); err != nil {
			return nil, fmt.Errorf("golden: %s: %w: %s", k, err, line)
		}
		all = append(all, i)
	}
	return all, err
}

// Of returns the recorded items of a kind. It fails a test if there are none.
func Of(t testing.TB, id dynamo.TableID, kind string) []Item {
	t.Helper()
	return expect.Value(named(id, kind).items())(t)
}

// record appends an item to the kind's file.
func (k Kind) record(p Plain) error {
	root := "."
	for !exists(filepath.Join(root, "go.mod")) {
		root = filepath.Join(root, "..")
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if os.Getenv(recording) == "again" {
		flags |= os.O_TRUNC
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(root, "shared/testing/golden/testdata", k.file()), flags, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text.Bytes())
	return errors.Join(err, file.Close())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
