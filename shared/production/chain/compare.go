package chain

import (
	"fmt"
	"maps"
	"slices"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/trail/audit"
)

// derived lists the fields that reads add to those in the trail; they are computed from other fields.
var derived = []string{"standing"}

// A Subject is a resource as the service shows it now, and its events.
type Subject struct {
	Name   string // for the findings
	Shown  map[string]any
	Events []audit.Event
}

// Compare lists how a resource differs from its last event. It also checks that each event begins in the state in which
// the one before ended.
func (r Subject) Compare() ([]string, error) {
	if len(r.Events) == 0 {
		return []string{r.Name + ": the trail has no event for it"}, nil
	}
	events := slices.Clone(r.Events)
	slices.SortFunc(events, func(a, b audit.Event) int { return int(a.Resource.Revision - b.Resource.Revision) })
	var findings []string
	for i, e := range events {
		if want := int64(i + 1); e.Resource.Revision != want {
			return append(findings, fmt.Sprintf("%s: the trail has no event for revision %d", r.Name, want)), nil
		}
		if i == 0 {
			continue
		}
		fields, err := differences(e.Before, events[i-1].After)
		if err != nil {
			return nil, err
		}
		for _, name := range fields {
			findings = append(findings, fmt.Sprintf("%s: between revisions %d and %d, %s changed without an event", r.Name, i, i+1, name))
		}
	}
	shown := maps.Clone(r.Shown)
	for _, name := range derived {
		delete(shown, name)
	}
	fields, err := differences(shown, events[len(events)-1].After)
	for _, name := range fields {
		findings = append(findings, fmt.Sprintf("%s: %s differs from the trail", r.Name, name))
	}
	return findings, err
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
