package boxes

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"wavegate/scripts/operator/run"
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
	{"organizationId", input.Name, false}, {"factoryId", input.Slug, true}, {"issuer", input.ID, true}, {attributes, &input.Text{}, true},
}

// attributes is the column of a box's attributes.
const attributes = "attributes"

// A boxLine is a box in a file.
type boxLine struct {
	line       int
	fields     map[string]string
	attributes map[string]string // nil: the column is missing or empty
	more       map[string]any    // of an import
}

// place is where the box is, for errors.
func (b boxLine) place() string {
	if b.line == 0 {
		return b.fields["edgeId"]
	}
	return fmt.Sprintf("line %d", b.line)
}

// body is the box as the service takes it.
func (b boxLine) body() map[string]any {
	body := map[string]any{}
	for name, text := range b.fields {
		body[name] = text
	}
	if b.attributes != nil {
		body[attributes] = b.attributes
	}
	maps.Copy(body, b.more)
	return body
}

// A boxFile summarizes one reading of a file. It does not keep the boxes, because a file may have any length.
type boxFile struct {
	hash  string // of its bytes
	boxes int
	bad   []string // faults, each with its line
	// twins are ids that may be one box, since they are one MAC address in two spellings.
	twins []string
}

var (
	macAddress = regexp.MustCompile(`^([0-9A-Fa-f]{2}[:.-]?){5}[0-9A-Fa-f]{2}$`)
	separators = strings.NewReplacer(":", "", ".", "", "-", "")
)

// macOf is a MAC address in one spelling; empty: the id is none.
func macOf(id string) string {
	if !macAddress.MatchString(id) {
		return ""
	}
	return strings.ToLower(separators.Replace(id))
}

// readBoxes reads a file and calls each with its valid boxes, in order. Empty cells of optional columns are ignored.
func readBoxes(name string, each func(boxLine) error) (f boxFile, err error) {
	seen, spelled := map[string]int{}, map[string]string{}
	f.hash, err = readSheet(name, columnsOf, func(line int, cells map[string]string, wrong error) error {
		if wrong != nil {
			f.bad = append(f.bad, fmt.Sprintf("line %d: %v", line, wrong))
			return nil
		}
		b, faults := boxOf(line, cells)
		if id := b.fields["edgeId"]; seen[id] > 0 && id != "" {
			faults = append(faults, fmt.Sprintf("line %d: edgeId %s is already in line %d", line, id, seen[id]))
		} else {
			seen[id] = line
			if mac := macOf(id); mac != "" && spelled[mac] != "" {
				f.twins = append(f.twins, fmt.Sprintf("line %d: %s is the MAC address of %s in line %d; one box has one id", line, id, spelled[mac], seen[spelled[mac]]))
			} else if mac != "" {
				spelled[mac] = id
			}
		}
		f.boxes++
		if f.bad = append(f.bad, faults...); len(faults) > 0 {
			return nil
		}
		return each(b)
	})
	return f, err
}

// shown are columns of lists of boxes that a registration ignores.
var shown = []string{"running", "state", "waits"}

// columnsOf refuses columns that a file of boxes does not have, and requires the others.
func columnsOf(head []string) error {
	for i, name := range head {
		known := slices.ContainsFunc(columns, func(c column) bool { return c.name == name })
		if !known && !slices.Contains(shown, name) || slices.Contains(head[:i], name) {
			return fmt.Errorf("the first line must name the columns; %q is unknown or a duplicate", name)
		}
	}
	for _, c := range columns {
		if !c.optional && !slices.Contains(head, c.name) {
			return missing(c.name)
		}
	}
	return nil
}

func missing(column string) error {
	return fmt.Errorf("the first line must name the columns; %s is missing", column)
}

func boxOf(line int, cells map[string]string) (b boxLine, faults []string) {
	b = boxLine{line: line, fields: map[string]string{}}
	for _, c := range columns {
		text := cells[c.name]
		if text == "" && c.optional {
			continue
		}
		if c.name == attributes {
			var err error
			if b.attributes, err = attributesIn(text); err != nil {
				faults = append(faults, fmt.Sprintf("line %d: %v", line, err))
			}
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

// idsOf reads the column edgeId of a CSV file.
func idsOf(name string) (ids []string, err error) {
	rows, err := columnsIn(name, "edgeId")
	for _, row := range rows {
		ids = append(ids, row["edgeId"])
	}
	return ids, err
}

// columnsIn reads the wanted columns of a CSV file, which may have others.
func columnsIn(name string, wanted ...string) (rows []map[string]string, err error) {
	_, err = readSheet(name, func(head []string) error {
		for _, column := range wanted {
			if !slices.Contains(head, column) {
				return missing(column)
			}
		}
		return nil
	}, func(line int, cells map[string]string, wrong error) error {
		rows = append(rows, cells)
		if wrong != nil {
			return run.Fail(run.Misused, "%s: line %d: %w", name, line, wrong)
		}
		return nil
	})
	return rows, err
}
