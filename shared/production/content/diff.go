package content

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// An Op is the kind of a change to a part of a content.
type Op string

// Ops.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
	Moved   Op = "moved" // to another place in its list
)

// A Change is one difference between two contents. Path names steps, parameters and everything
// with an identifier by that identifier and not by its index, for example
// /steps/50/parameters/time/target. So an inserted step is one change. Identifiers are escaped
// as in RFC 6901. Applying all changes in order to the first content gives the second.
type Change struct {
	Op   Op     `json:"op"`
	Path string `json:"path"`
	From any    `json:"from,omitempty"` // missing if added or moved
	To   any    `json:"to,omitempty"`   // missing if removed or moved
	// After is the identifier of the previous element if one was added to a list or moved in it. It is empty if the
	// element is now the first.
	After string `json:"after,omitempty"`
	// Critical reports whether the change concerns a parameter or check that is critical before or
	// after it.
	Critical bool `json:"critical"`
}

// identifiers are the fields that identify the elements of each list. A list that is not here,
// such as a step's machines, is compared as a whole.
var identifiers = map[string]string{
	"steps": "id", "parameters": "id", "checks": "id", "overrides": "machine",
	"inputs": "material", "outputs": "material", "documents": "title", "points": "x",
}

// Diff lists the changes from one content to another.
func Diff(from, to Content) ([]Change, error) {
	a, err := from.tree()
	if err != nil {
		return nil, err
	}
	b, err := to.tree()
	if err != nil {
		return nil, err
	}
	d := differ{changes: []Change{}}
	d.objects("", a, b, false)
	return d.changes, nil
}

// tree returns the content as decoded by encoding/json.
func (c Content) tree() (map[string]any, error) {
	var tree map[string]any
	if err := json.Unmarshal(c.bytes, &tree); err != nil {
		return nil, fmt.Errorf("content: read the canonical bytes: %w", err)
	}
	return tree, nil
}

type differ struct{ changes []Change }

func (d *differ) add(c Change) { d.changes = append(d.changes, c) }

// objects compares two objects field by field. critical reports whether they are part of something
// critical.
func (d *differ) objects(path string, a, b map[string]any, critical bool) {
	critical = critical || isCritical(a) || isCritical(b)
	for _, name := range names(a, b) {
		at := path + "/" + escaper.Replace(name)
		from, before := a[name]
		to, after := b[name]
		switch {
		case !before:
			d.add(Change{Op: Added, Path: at, To: to, Critical: critical || holdsCritical(to)})
		case !after:
			d.add(Change{Op: Removed, Path: at, From: from, Critical: critical || holdsCritical(from)})
		default:
			d.values(at, name, from, to, critical)
		}
	}
}

func (d *differ) values(path, name string, from, to any, critical bool) {
	if reflect.DeepEqual(from, to) {
		return
	}
	a, isObject := from.(map[string]any)
	b, isObject2 := to.(map[string]any)
	if isObject && isObject2 {
		d.objects(path, a, b, critical)
		return
	}
	if field := identifiers[name]; field != "" {
		d.lists(path, field, from, to, critical)
		return
	}
	d.add(Change{Op: Changed, Path: path, From: from, To: to, Critical: critical})
}

func (d *differ) lists(path, field string, from, to any, critical bool) {
	a, b := byID(from, field), byID(to, field)
	for _, id := range a.ids {
		if _, stays := b.element[id]; !stays {
			element := a.element[id]
			d.add(Change{Op: Removed, Path: path + "/" + escaper.Replace(id), From: element, Critical: critical || holdsCritical(element)})
		}
	}
	stay := inOrder(a.ids, b.ids)
	previous := ""
	for _, id := range b.ids {
		at := path + "/" + escaper.Replace(id)
		element := b.element[id]
		was, existed := a.element[id]
		if !existed {
			d.add(Change{Op: Added, Path: at, To: element, After: previous, Critical: critical || holdsCritical(element)})
		} else {
			if !stay[id] {
				d.add(Change{Op: Moved, Path: at, After: previous, Critical: critical || holdsCritical(element)})
			}
			d.objects(at, was, element, critical)
		}
		previous = id
	}
}

type keyed struct {
	ids     []string
	element map[string]map[string]any
}

func byID(list any, field string) keyed {
	k := keyed{element: map[string]map[string]any{}}
	elements, _ := list.([]any)
	for _, e := range elements {
		object, _ := e.(map[string]any)
		id, _ := object[field].(string)
		if x, is := object[field].(float64); is {
			id = strconv.FormatFloat(x, 'f', -1, 64)
		}
		k.ids = append(k.ids, id)
		k.element[id] = object
	}
	return k
}

// inOrder returns the longest sequence of identifiers that is in the same order in both lists. These elements stay. All
// other common elements were moved.
func inOrder(a, b []string) map[string]bool {
	// longest[i][j] is the result for a[i:] and b[j:].
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	stay := map[string]bool{}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			stay[a[i]] = true
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return stay
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// names lists the field names of two objects, each once, sorted.
func names(a, b map[string]any) []string {
	var all []string
	for name := range a {
		all = append(all, name)
	}
	for name := range b {
		all = append(all, name)
	}
	return sorted(all)
}

func isCritical(object map[string]any) bool { return object["critical"] == true }

// holdsCritical reports whether a value contains something critical.
func holdsCritical(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, holdsCritical)
	case map[string]any:
		if isCritical(v) {
			return true
		}
		for _, inner := range v {
			if holdsCritical(inner) {
				return true
			}
		}
	}
	return false
}
