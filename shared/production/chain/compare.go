package chain

import (
	"fmt"
	"maps"
	"slices"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/trail/audit"
)

// derived lists the fields that reads add to those in the trail; they are computed from other fields.
var derived = []string{"standing", "units", "doubts", "product"}

// A Subject is a resource as the service shows it now, and its events.
type Subject struct {
	Name   string // for the findings
	Shown  map[string]any
	Events []audit.Event
	// Grown are fields that a release added; see audit.Grown.
	Grown []string
}

// A Comparison says how a resource differs from the trail.
type Comparison struct {
	Findings []string
	// Unshown are the findings about fields in Grown that are not shown at all. Either a function of an earlier release has
	// answered, or somebody removed them.
	Unshown []string
	// State is the resource after its last event, with what functions of earlier releases have kept.
	State map[string]any
}

// Compare lists how a resource differs from its last event. It also checks that each event begins in the state in which
// the one before ended.
func (r Subject) Compare() (c Comparison, err error) {
	if len(r.Events) == 0 {
		c.Findings = []string{r.Name + ": the trail has no event for it"}
		return c, nil
	}
	events := slices.Clone(r.Events)
	slices.SortFunc(events, func(a, b audit.Event) int { return int(a.Resource.Revision - b.Resource.Revision) })
	for i, e := range events {
		if want := int64(i + 1); e.Resource.Revision != want {
			c.Findings = append(c.Findings, fmt.Sprintf("%s: the trail has no event for revision %d", r.Name, want))
			return c, nil
		}
		next, changed, err := Follow(c.State, e, r.Grown)
		if err != nil {
			return c, err
		}
		for _, name := range changed {
			if i > 0 {
				c.Findings = append(c.Findings, fmt.Sprintf("%s: between revisions %d and %d, %s changed without an event", r.Name, i, i+1, name))
			}
		}
		c.State = next
	}
	shown := maps.Clone(r.Shown)
	for _, name := range derived {
		delete(shown, name)
	}
	fields, err := differences(shown, c.State)
	for _, name := range fields {
		finding := fmt.Sprintf("%s: %s differs from the trail", r.Name, name)
		if _, is := shown[name]; !is && slices.Contains(r.Grown, name) {
			c.Unshown = append(c.Unshown, finding)
		} else {
			c.Findings = append(c.Findings, finding)
		}
	}
	return c, err
}

// Follow returns the state of a resource after an event, and the fields in which the event does not begin in the state
// before it. An event that a function of an earlier release wrote has no field in grown, neither before nor after: the row
// kept what it had.
func Follow(was map[string]any, e audit.Event, grown []string) (next map[string]any, changed []string, err error) {
	before, err := decoded(e.Before)
	if err != nil {
		return nil, nil, err
	}
	if next, err = decoded(e.After); err != nil {
		return nil, nil, err
	}
	kept := map[string]bool{}
	for _, name := range grown {
		_, had := before[name]
		_, has := next[name]
		if value, is := was[name]; is && !had && !has {
			kept[name], next[name] = true, value
		}
	}
	fields, err := differences(before, was)
	changed = slices.DeleteFunc(fields, func(name string) bool { return kept[name] })
	return next, changed, err
}

// zero are the values of a field that was never set. A field that one of two objects lacks may be newer than that object,
// and then the other has such a value.
var zero = []string{"", "null", "false", "0", `""`, "[]", "{}"}

// differences names the fields in which two objects differ.
func differences(a, b any) ([]string, error) {
	left, err := fieldsOf(a)
	if err != nil {
		return nil, err
	}
	right, err := fieldsOf(b)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for name := range left {
		names[name] = true
	}
	for name := range right {
		names[name] = true
	}
	var differ []string
	for name := range names {
		lacks := left[name] == "" || right[name] == ""
		if left[name] != right[name] && !(lacks && slices.Contains(zero, left[name]+right[name])) {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return differ, nil
}

// Digest returns the hash of an object, whatever fields it has. A field that was never set is not covered, so a release that
// adds one changes no hash.
func Digest(object any) (string, error) {
	fields, err := fieldsOf(object)
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(fields, func(_, value string) bool { return slices.Contains(zero, value) })
	text, err := canonical.Encode(fields)
	if err != nil {
		return "", fmt.Errorf("trail: %w", err)
	}
	return canonical.SHA256(text), nil
}

// fieldsOf returns the canonical form of each field of an object.
func fieldsOf(object any) (map[string]string, error) {
	fields, err := decoded(object)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for name, value := range fields {
		text, err := canonical.Encode(value)
		if err != nil {
			return nil, fmt.Errorf("trail: %w", err)
		}
		all[name] = string(text)
	}
	return all, nil
}

// Kept is what a machine has stored: the hash of the chain and, if stored, the version that it ran and its content.
type Kept struct {
	Hash    string
	Version int64
	Content string
}

// Find returns what is wrong with k, or nothing: the hash must be in the chain and, after that change, the version must
// have been in force with the content.
func (k Kept) Find(links []Link) string {
	for _, l := range links {
		switch {
		case l.SHA256 != k.Hash:
		case k.Version > 0 && l.Contents[k.Version] != k.Content:
			return fmt.Sprintf("%s: version %d with content %s was not in force or scheduled after this change", k.Hash, k.Version, k.Content)
		default:
			return ""
		}
	}
	return k.Hash + " is not in the chain: the audit trail has changed since a machine kept this hash"
}
