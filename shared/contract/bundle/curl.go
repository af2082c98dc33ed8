package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// methods are those that a path can have.
var methods = []string{"get", "put", "post", "delete", "patch"}

// illustrate adds a curl call, made of its own examples, to every operation.
func illustrate(document *yaml.Node) error {
	for path, item := range entries(get(document, "paths")) {
		for method, operation := range entries(item) {
			if !slices.Contains(methods, method.Value) {
				continue
			}
			call, err := curl(document, path.Value, method.Value, item, operation)
			if err != nil {
				return fmt.Errorf("%s %s: %w", method.Value, path.Value, err)
			}
			sample := &yaml.Node{Kind: yaml.MappingNode}
			child(sample, "lang", yaml.ScalarNode).Value = "Shell"
			child(sample, "label", yaml.ScalarNode).Value = "curl"
			child(sample, "source", yaml.ScalarNode).Value = call
			samples := child(operation, "x-codeSamples", yaml.SequenceNode)
			samples.Content = append(samples.Content, sample)
		}
	}
	return nil
}

// curl is the call of an operation, with examples of what it needs. BASE and TOKEN are set in the contract's first
// steps.
func curl(document *yaml.Node, path, method string, item, operation *yaml.Node) (string, error) {
	var query []string
	asked := get(operation, "x-sample-query") // the names of parameters, one of which a call needs
	remove(operation, "x-sample-query")
	for _, from := range []*yaml.Node{get(item, "parameters"), get(operation, "parameters")} {
		if from == nil {
			continue
		}
		for _, parameter := range from.Content {
			parameter = resolve(document, parameter)
			name, example := get(parameter, "name").Value, get(parameter, "example")
			in, required := get(parameter, "in").Value, get(parameter, "required")
			switch {
			case in != "path" && (required == nil || required.Value != "true") && !lists(asked, name):
			case example == nil:
				return "", fmt.Errorf("the parameter %s has no example", name)
			case in == "path":
				path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(example.Value))
			case in == "query":
				query = append(query, url.QueryEscape(name)+"="+url.QueryEscape(example.Value))
			default:
				return "", fmt.Errorf("a call needs the parameter %s, which is not in its URL", name)
			}
		}
	}
	if query != nil {
		path += "?" + strings.Join(query, "&")
	}
	call := "curl -i"
	if method != "get" {
		call += " -X " + strings.ToUpper(method)
	}
	call += ` "$BASE` + path + `" \` + "\n" + `  -H "Authorization: Bearer $TOKEN"`
	body, err := firstBody(document, operation)
	if body == "" || err != nil {
		return call, err
	}
	return call + " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'", nil
}

func lists(names *yaml.Node, name string) bool {
	return names != nil && slices.ContainsFunc(names.Content, func(one *yaml.Node) bool { return one.Value == name })
}

// firstBody is the first example of an operation's body. It is empty if the operation takes no body or any body.
func firstBody(document, operation *yaml.Node) (string, error) {
	media := get(get(resolve(document, get(operation, "requestBody")), "content"), "application/json")
	if media == nil {
		return "", nil
	}
	for _, example := range entries(get(media, "examples")) {
		var text bytes.Buffer
		if err := encodeJSON(&text, get(resolve(document, example), "value")); err != nil {
			return "", err
		}
		var indented bytes.Buffer
		err := json.Indent(&indented, text.Bytes(), "", "  ")
		return indented.String(), err
	}
	return "", fmt.Errorf("the body has no example")
}

// encodeJSON writes a node as JSON, whose fields keep their order.
func encodeJSON(to *bytes.Buffer, n *yaml.Node) error {
	switch {
	case n == nil:
		return fmt.Errorf("an example has no value")
	case n.Kind == yaml.MappingNode:
		to.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				to.WriteByte(',')
			}
			fmt.Fprintf(to, "%q:", n.Content[i].Value)
			if err := encodeJSON(to, n.Content[i+1]); err != nil {
				return err
			}
		}
		to.WriteByte('}')
	case n.Kind == yaml.SequenceNode:
		to.WriteByte('[')
		for i, one := range n.Content {
			if i > 0 {
				to.WriteByte(',')
			}
			if err := encodeJSON(to, one); err != nil {
				return err
			}
		}
		to.WriteByte(']')
	default:
		var value any
		if err := n.Decode(&value); err != nil {
			return err
		}
		encoder := json.NewEncoder(to)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	}
	return nil
}

// resolve follows a reference within the document.
func resolve(document, n *yaml.Node) *yaml.Node {
	ref := get(n, "$ref")
	if ref == nil {
		return n
	}
	at := document
	for key := range strings.SplitSeq(strings.TrimPrefix(ref.Value, "#/"), "/") {
		at = get(at, key)
	}
	return resolve(document, at)
}
