// Package golden has items of every table as the service once wrote them. Each must stay readable for ever: tests read
// all of them with the present code. An item is recorded once and never rewritten. The code that stores a new form adds
// an item of it:
//
//	go run ./scripts/lab/forms
package golden

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"wavegate/shared/platform/dynamo"
)

// Command is the command that adds items of forms that no item has yet.
const Command = "go run ./scripts/lab/forms"

// Folder is the folder of the files, from the repository's root. There is a file for each table, with an item in each
// line, sorted by the time of recording and the key.
const Folder = "shared/testing/golden/testdata"

//go:embed testdata
var files embed.FS

// An Item is an item of a table at one moment of a recording.
type Item struct {
	Table dynamo.TableID
	// Recorded is when it was read. The items of a table that were read at the same time are all that were in it.
	Recorded time.Time
	Plain    Plain
}

// Key is the item's key, for people.
func (i Item) Key() string { return Key(i.Table, i.Plain) }

// Key is the key of an item of a table, for people.
func Key(id dynamo.TableID, p Plain) string {
	t := dynamo.TableOf(id)
	key := fmt.Sprint(p[t.Partition])
	if t.Sort != "" {
		key += " " + fmt.Sprint(p[t.Sort])
	}
	return key
}

// Compare orders items of one table as in its file.
func (i Item) Compare(j Item) int {
	return cmp.Or(i.Recorded.Compare(j.Recorded), strings.Compare(i.Key(), j.Key()))
}

// A line is an item in a file.
type line struct {
	Recorded time.Time `json:"recorded"`
	Item     Plain     `json:"item"`
}

// Line is the item's line in the file of its table.
func (i Item) Line() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(line{i.Recorded, i.Plain})
	return b.Bytes(), err
}

// Items reads the embedded files, once per process.
var Items = sync.OnceValues(func() ([]Item, error) {
	sub, err := fs.Sub(files, "testdata")
	if err != nil {
		return nil, err
	}
	return Load(sub)
})

const extension = ".jsonl"

// File is the name of a table's file.
func File(id dynamo.TableID) string { return string(id) + extension }

// Load reads the items of all tables. Its error lists everything that is wrong, with file and line.
func Load(from fs.FS) (all []Item, err error) {
	names, err := fs.Glob(from, "*"+extension)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, name := range names {
		id := dynamo.TableID(strings.TrimSuffix(name, extension))
		if !slices.ContainsFunc(dynamo.Tables, func(t dynamo.Table) bool { return t.ID == id }) {
			wrong = append(wrong, fmt.Errorf("%s:1: there is no table %s", name, id))
			continue
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		items, faults := parse(name, id, text)
		all, wrong = append(all, items...), append(wrong, faults...)
	}
	return all, errors.Join(wrong...)
}

// parse reads the file of a table.
func parse(name string, id dynamo.TableID, text []byte) (all []Item, wrong []error) {
	if len(text) == 0 {
		return nil, nil
	}
	seen := map[string]int{}
	for number, one := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		fault := func(format string, a ...any) {
			wrong = append(wrong, fmt.Errorf("%s:%d: %s", name, number+1, fmt.Sprintf(format, a...)))
		}
		var l line
		if err := unmarshal(one, &l); err != nil {
			fault("%v", err)
			continue
		}
		item := Item{id, l.Recorded, l.Item}
		if l.Recorded.IsZero() || len(l.Item) == 0 {
			fault("an item needs recorded and item")
			continue
		}
		if _, err := KindOf(id, l.Item); err != nil {
			fault("%v", err)
			continue
		}
		key := l.Recorded.String() + item.Key()
		if first, twice := seen[key]; twice {
			fault("the item %s of %s is in line %d, too", item.Key(), l.Recorded.Format(time.RFC3339Nano), first)
			continue
		}
		seen[key] = number + 1
		all = append(all, item)
	}
	return all, wrong
}

// unmarshal reads one JSON value, with numbers as they are written.
func unmarshal(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more than one value")
	}
	return nil
}
