package content_test

import (
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"wavegate/shared/production/content"
)

// keys holds the identifiers of lists that the contract documents for clients.
var keys = map[string]string{
	"steps": "id", "parameters": "id", "checks": "id", "overrides": "machine",
	"inputs": "material", "outputs": "material", "documents": "title", "points": "x",
}

// apply applies the changes that Diff listed to a decoded content, in order, as a client would.
func apply(t *rapid.T, tree map[string]any, changes []content.Change) {
	for _, c := range changes {
		parent, name := walk(t, tree, c.Path)
		switch c.Op {
		case content.Removed:
			parent.remove(name)
		case content.Added:
			parent.put(name, c.To, c.After)
		case content.Moved:
			parent.put(name, parent.remove(name), c.After)
		case content.Changed:
			parent.object[name] = c.To
		}
	}
}

// A place is an object, or a list with identifiers in a field of an object.
type place struct {
	object map[string]any
	list   string
}

var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

// walk finds the place of a path's last name.
func walk(t *rapid.T, tree map[string]any, path string) (place, string) {
	at := place{object: tree}
	segments := strings.Split(path, "/")[1:]
	for i, segment := range segments {
		name := unescaper.Replace(segment)
		if i == len(segments)-1 {
			return at, name
		}
		switch {
		case at.list != "":
			n := at.index(name)
			if n < 0 {
				t.Fatalf("%s: no element %s", path, name)
			}
			at = place{object: at.elements()[n].(map[string]any)}
		case keys[name] != "":
			at.list = name
		default:
			at = place{object: at.object[name].(map[string]any)}
		}
	}
	return at, ""
}

// name is an identifier in a path. A number is written without an exponent.
func name(id any) string {
	if x, is := id.(float64); is {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return id.(string)
}

func (p place) elements() []any {
	list, _ := p.object[p.list].([]any)
	return list
}

func (p place) index(id string) int {
	return slices.IndexFunc(p.elements(), func(e any) bool { return name(e.(map[string]any)[keys[p.list]]) == id })
}

func (p place) remove(name string) any {
	if p.list == "" {
		v := p.object[name]
		delete(p.object, name)
		return v
	}
	i := p.index(name)
	v := p.elements()[i]
	p.object[p.list] = slices.Delete(slices.Clone(p.elements()), i, i+1)
	return v
}

func (p place) put(name string, v any, after string) {
	if p.list == "" {
		p.object[name] = v
		return
	}
	p.object[p.list] = slices.Insert(slices.Clone(p.elements()), p.index(after)+1, v)
}
