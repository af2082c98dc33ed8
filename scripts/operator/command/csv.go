package command

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"wavegate/shared/platform/input"
)

// A column of a file of boxes, with the rule for its values.
type column struct {
	name     string
	rule     *input.Text
	optional bool
}

var columns = []column{
	{"edgeId", input.EdgeID, false}, {"edgeType", input.Name, false}, {"channel", input.Name, false},
	{"organizationId", input.Name, false}, {"factoryId", input.Slug, true}, {"issuer", input.ID, true},
}

// A boxLine is a box in a file.
type boxLine struct {
	line   int
	fields map[string]string
}

// A boxFile summarizes one reading of a file. It does not keep the boxes, because a file may have any length.
type boxFile struct {
	hash  string
	boxes int
	bad   []string // faults, each with its line
}

// readBoxes reads a file and calls each with its valid boxes, in order. Empty cells of optional columns are ignored.
func readBoxes(name string, each func(boxLine) error) (f boxFile, err error) {
	file, err := os.Open(name)
	if err != nil {
		return f, fail(Misused, "%w", err)
	}
	defer file.Close()
	hash := sha256.New()
	r := csv.NewReader(io.TeeReader(file, hash))
	r.ReuseRecord, r.FieldsPerRecord = true, -1
	head, err := r.Read()
	if err != nil {
		return f, fail(Misused, "%s: %w", name, err)
	}
	at, err := columnsOf(head)
	if err != nil {
		return f, fail(Misused, "%s: %w", name, err)
	}
	seen := map[string]int{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			f.hash = hex.EncodeToString(hash.Sum(nil))
			return f, nil
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			if p, ok := errors.AsType[*csv.ParseError](err); ok {
				f.bad = append(f.bad, fmt.Sprintf("line %d: %v", p.StartLine, p.Err))
				continue
			}
			return f, err
		}
		b, faults := boxOf(line, record, at)
		if id := b.fields["edgeId"]; seen[id] > 0 && id != "" {
			faults = append(faults, fmt.Sprintf("line %d: edgeId %s is already in line %d", line, id, seen[id]))
		} else {
			seen[id] = line
		}
		f.boxes++
		if f.bad = append(f.bad, faults...); len(faults) > 0 {
			continue
		}
		if err := each(b); err != nil {
			return f, err
		}
	}
}

// columnsOf finds the columns by the first line, in any order.
func columnsOf(head []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range head {
		name = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")) // spreadsheets begin files with it
		known := slices.ContainsFunc(columns, func(c column) bool { return c.name == name })
		if _, twice := at[name]; !known || twice {
			return nil, fmt.Errorf("the first line must name the columns; %q is unknown or a duplicate", name)
		}
		at[name] = i
	}
	for _, c := range columns {
		if _, there := at[c.name]; !there && !c.optional {
			return nil, fmt.Errorf("the first line must name the columns; %s is missing", c.name)
		}
	}
	return at, nil
}

func boxOf(line int, record []string, at map[string]int) (b boxLine, faults []string) {
	b = boxLine{line, map[string]string{}}
	for _, c := range columns {
		i, there := at[c.name]
		text := ""
		if there && i < len(record) {
			text = strings.TrimSpace(record[i])
		}
		if text == "" && c.optional {
			continue
		}
		kept, _, wrong := c.rule.Apply(text)
		if wrong != "" {
			faults = append(faults, fmt.Sprintf("line %d: %s %s", line, c.name, wrong))
		}
		b.fields[c.name] = kept
	}
	return b, faults
}
