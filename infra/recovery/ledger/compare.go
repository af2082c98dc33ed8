package ledger

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/trail/audit"
)

// A Comparison is the result of Compare.
type Comparison struct {
	// Events counts the audit events.
	Events int
	// Items counts the items of each table, and Newest is the time of the newest one, if they have times.
	Items  map[dynamo.TableID]int
	Newest map[dynamo.TableID]time.Time
	// Artifacts are those with bytes in the bucket.
	Artifacts []artifact.Row
	// Wrong are the findings of Audit.
	Wrong []string
}

// parts is the number of files over which the boxes are spread.
const parts = 256

// Compare audits tables like Audit, for any number of boxes: it keeps in memory the items of only so many boxes at a
// time, or of a 256th of them if that is more. The items of the other boxes are in files. All items that are not
// about boxes are in memory.
func Compare(ctx context.Context, db *dynamodb.Client, name func(dynamo.TableID) string, dir string, most int) (Comparison, error) {
	c := Comparison{Items: map[dynamo.TableID]int{}, Newest: map[dynamo.TableID]time.Time{}}
	held, boxes := Books{}, shelf{dir: dir}
	err := scan(ctx, db, name, func(table dynamo.TableID, item Item) error {
		if table == dynamo.Audit {
			c.Events++
		}
		c.Items[table]++
		c.date(table, item)
		if box := boxOf(table, item); box != "" {
			return boxes.put(box, table, item)
		}
		if table == artifacts && item["arrived"] == true {
			c.Artifacts = append(c.Artifacts, as[artifact.Row](item))
		}
		held[table] = append(held[table], item)
		return nil
	})
	if err := errors.Join(err, boxes.close()); err != nil {
		return c, err
	}
	wrong := map[string]bool{}
	for from := 0; from < parts; {
		books := maps.Clone(held)
		for count := 0; from < parts && (count == 0 || count+boxes.count[from] <= most); from++ {
			count += boxes.count[from]
			if err := boxes.read(from, books); err != nil {
				return c, err
			}
		}
		for _, finding := range books.Audit() {
			wrong[finding] = true
		}
	}
	c.Wrong = slices.Sorted(maps.Keys(wrong))
	return c, nil
}

// date records the times of an item that were in the past when they were written.
func (c *Comparison) date(table dynamo.TableID, item Item) {
	for _, name := range []string{"eventTime", "createdAt", "updatedAt", "statedAt", "toldAt", "lastHeardAt"} {
		if at := moment(item, name); at.After(c.Newest[table]) {
			c.Newest[table] = at
		}
	}
}

// boxOf returns the box that an item is about, if only items of this box depend on it.
func boxOf(table dynamo.TableID, item Item) string {
	switch table {
	case dynamo.Edges, dynamo.Reports:
		return cmp.Or(Text(item, "box"), Text(item, "edgeId")) // a trace names its box
	case dynamo.Audit:
		if strings.HasPrefix(Text(item, "stream"), "edges/") {
			return Text(Object(item, "resource"), "id")
		}
	}
	return ""
}

// A shelf keeps the items of boxes in files. All items of a box are in the same file.
type shelf struct {
	dir   string
	files [parts]*os.File
	lines [parts]*bufio.Writer
	count [parts]int // of boxes
}

type shelved struct {
	Table dynamo.TableID
	Item  Item
}

func (s *shelf) path(part int) string { return filepath.Join(s.dir, strconv.Itoa(part)) }

func (s *shelf) put(box string, table dynamo.TableID, item Item) error {
	h := fnv.New32a()
	_, _ = io.WriteString(h, box)
	part := int(h.Sum32() % parts)
	if s.files[part] == nil {
		file, err := os.Create(s.path(part))
		if err != nil {
			return err
		}
		s.files[part], s.lines[part] = file, bufio.NewWriter(file)
	}
	if table == dynamo.Edges {
		s.count[part]++
	}
	return json.NewEncoder(s.lines[part]).Encode(shelved{table, item})
}

func (s *shelf) close() error {
	var faults []error
	for part, file := range s.files {
		if file != nil {
			faults = append(faults, s.lines[part].Flush(), file.Close())
		}
	}
	return errors.Join(faults...)
}

func (s *shelf) read(part int, into Books) error {
	if s.files[part] == nil {
		return nil
	}
	file, err := os.Open(s.path(part))
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := json.NewDecoder(bufio.NewReader(file)); ; {
		var one shelved
		switch err := lines.Decode(&one); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("ledger: %s: %w", file.Name(), err)
		}
		into[one.Table] = append(into[one.Table], one.Item)
	}
}

// trailOnly are fields that events have and answers do not.
var trailOnly = map[string][]string{"release-channel": {"urgent"}}

// Same compares two states of a resource. A field that an earlier release does not know, or that only the trail shows, counts
// only if both have it.
func Same(kind string, a, b Item) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, name := range slices.Concat(audit.Grown(kind), trailOnly[kind]) {
		if a[name] == nil || b[name] == nil {
			delete(a, name)
			delete(b, name)
		}
	}
	return reflect.DeepEqual(a, b)
}
