package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// root is the part that lists the others, in the order of the bundle.
const root = "service.yaml"

const head = `# The contract of the service. Generated from the folder parts by "go generate ./shared/contract":
# change it there. Tests compare it with the code, and every answer of the end-to-end tests with it
# (package conform). compatibility.md says what may change.
`

// bundle puts the parts together: all their tags, paths and components, and what service.yaml specifies for every
// operation and every answer.
func bundle(parts fs.FS) ([]byte, error) {
	document, err := read(parts, root)
	if err != nil {
		return nil, err
	}
	var listed struct {
		Parts []string `yaml:"x-parts"`
	}
	if err := document.Decode(&listed); err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	if err := whole(parts, listed.Parts); err != nil {
		return nil, err
	}
	var all []*yaml.Node
	for _, name := range listed.Parts {
		part, err := read(parts, name)
		if err != nil {
			return nil, err
		}
		if err := add(document, part); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, part)
	}
	if err := expand(document); err != nil {
		return nil, err
	}
	for _, part := range all {
		if err := operate(document, part); err != nil {
			return nil, err
		}
	}
	if err := describe(document, all); err != nil {
		return nil, err
	}
	spread(document)
	if err := illustrate(document); err != nil {
		return nil, err
	}
	for _, key := range []string{"x-parts", "x-every-answer", "x-every-operation", "x-names"} {
		remove(document, key)
	}
	return encode(document)
}

// whole reports whether every part is listed.
func whole(parts fs.FS, listed []string) error {
	return fs.WalkDir(parts, ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".yaml" && name != root && !slices.Contains(listed, name) {
			return fmt.Errorf("%s is not listed in x-parts of %s", name, root)
		}
		return err
	})
}

// read reads a part, which must be a mapping without duplicate keys.
func read(parts fs.FS, name string) (*yaml.Node, error) {
	text, err := fs.ReadFile(parts, name)
	if err != nil {
		return nil, err
	}
	var part yaml.Node
	if err := yaml.Unmarshal(text, &part); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if part.IsZero() {
		return nil, fmt.Errorf("%s: the part is empty", name)
	}
	if err := part.Decode(&map[string]any{}); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return part.Content[0], nil
}

// add adds a part's tags, paths, x-webhooks and components to those of the document.
func add(document, part *yaml.Node) error {
	for key, value := range entries(part) {
		switch key.Value {
		case "tags":
			into := child(document, key.Value, yaml.SequenceNode)
			into.Content = append(into.Content, value.Content...)
		case "paths", "x-webhooks":
			if err := union(child(document, key.Value, yaml.MappingNode), value); err != nil {
				return err
			}
		case "components":
			components := child(document, key.Value, yaml.MappingNode)
			for kind, list := range entries(value) {
				if err := union(child(components, kind.Value, yaml.MappingNode), list); err != nil {
					return fmt.Errorf("%s: %w", kind.Value, err)
				}
			}
		case "operations": // see operate
		default:
			return fmt.Errorf("a part has tags, operations, paths, x-webhooks and components; %s belongs in %s", key.Value, root)
		}
	}
	return nil
}

// union adds the entries of a mapping to another, which must have none of them.
func union(into, from *yaml.Node) error {
	for key, value := range entries(from) {
		if get(into, key.Value) != nil {
			return fmt.Errorf("%s is given twice", key.Value)
		}
		into.Content = append(into.Content, key, value)
	}
	return nil
}

// spread adds to every operation and every answer what service.yaml specifies for all. It leaves two kinds unchanged:
// an operation with a default answer, and an answer that names Cache-Control or may be anything.
func spread(document *yaml.Node) {
	headers := get(get(document, "x-every-answer"), "headers")
	responses := get(get(document, "x-every-operation"), "responses")
	answer := func(response *yaml.Node) {
		if get(response, "$ref") == nil && get(response, "x-any-answer") == nil && get(get(response, "headers"), "Cache-Control") == nil {
			fill(child(response, "headers", yaml.MappingNode), headers)
		}
	}
	for _, response := range entries(get(get(document, "components"), "responses")) {
		answer(response)
	}
	for _, item := range entries(get(document, "paths")) {
		for _, operation := range entries(item) {
			own := get(operation, "responses")
			for _, response := range entries(own) {
				answer(response)
			}
			if own != nil && get(own, "default") == nil {
				fill(own, responses)
				byStatus(own)
			}
		}
	}
}

// fill copies the entries that a mapping lacks from another.
func fill(into, from *yaml.Node) {
	for key, value := range entries(from) {
		if get(into, key.Value) == nil {
			into.Content = append(into.Content, key, value)
		}
	}
}

// byStatus sorts the answers of an operation.
func byStatus(responses *yaml.Node) {
	pairs := slices.Collect(slices.Chunk(responses.Content, 2))
	slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int { return cmp.Compare(a[0].Value, b[0].Value) })
	responses.Content = slices.Concat(pairs...)
}

// encode writes a document. Characters that are not ASCII are escaped, so that spaces that look alike can be told
// apart.
func encode(document *yaml.Node) ([]byte, error) {
	quote(document)
	var text bytes.Buffer
	text.WriteString(head)
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	var ascii []byte
	for _, r := range text.String() {
		switch {
		case r < 0x80:
			ascii = append(ascii, byte(r))
		case r <= 0xffff:
			ascii = fmt.Appendf(ascii, `\u%04x`, r)
		default:
			ascii = fmt.Appendf(ascii, `\U%08x`, r)
		}
	}
	return ascii, nil
}

// quote puts values that are not ASCII in double quotes, because YAML has escapes only there.
func quote(n *yaml.Node) {
	if strings.ContainsFunc(n.Value, func(r rune) bool { return r >= 0x80 }) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, inner := range n.Content {
		quote(inner)
	}
}
