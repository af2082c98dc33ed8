package main

import (
	"fmt"
	"regexp"
	"strconv"
	"unicode"

	yaml "github.com/oasdiff/yaml3"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// expand writes out what parts say in short: a page of a list, a property that only has a description, a refusal, a
// parameter of operations, a link, the codes of problems, and examples of problems or with other examples.
func expand(document *yaml.Node) error {
	components := get(document, "components")
	for name, schema := range entries(get(components, "schemas")) {
		describeOnly(schema)
		if of := get(schema, "page"); of != nil {
			*schema = *page(of.Value, true)
			if examples := get(components, "examples"); get(examples, name.Value) == nil && get(examples, of.Value) != nil {
				put(examples, name.Value, onlyPage(of.Value))
			}
		} else if of := get(schema, "series"); of != nil {
			*schema = *page(of.Value, false)
		}
	}
	if codes := get(get(components, "schemas"), "ProblemCode"); codes != nil {
		all := &yaml.Node{Kind: yaml.SequenceNode}
		for _, class := range problem.Classes {
			all.Content = append(all.Content, text(string(class.Code)))
		}
		put(codes, "x-extensible-enum", all)
	}
	for _, example := range entries(get(components, "examples")) {
		if err := exemplify(get(components, "examples"), example); err != nil {
			return err
		}
	}
	for _, response := range entries(get(components, "responses")) {
		if links := get(response, "links"); links != nil {
			linked(links)
		}
		if codes := explained(response); len(codes.Content) > 0 && get(response, "content") == nil {
			examples := get(response, "examples")
			remove(response, "examples")
			put(response, "content", refusal(codes, examples))
		}
	}
	for _, link := range entries(get(components, "links")) {
		fromPath(link)
	}
	for key, parameter := range entries(get(components, "parameters")) {
		if get(parameter, "in") != nil && get(parameter, "schema") != nil {
			continue // of a header, or of what is forwarded
		}
		if err := fromRow(document, parameter); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
	}
	return nil
}

// page is the schema of a page of a list. A series is read by cursors alone.
func page(of string, offset bool) *yaml.Node {
	list, properties := object("array"), &yaml.Node{Kind: yaml.MappingNode}
	put(list, "maxItems", text("100"))
	put(list, "items", ref("schemas", of))
	put(properties, "items", list)
	put(properties, "limit", ref("schemas", "PageLimit"))
	if offset {
		put(properties, "offset", ref("schemas", "PageOffset"))
	}
	put(properties, "partial", ref("schemas", "PagePartial"))
	put(properties, "next", ref("schemas", "Next"))
	made := described("A page of a list.")
	put(made, "type", text("object"))
	put(made, "required", sequence(text("items"), text("limit")))
	put(made, "properties", properties)
	return made
}

// onlyPage is the example of a list with one item, which is an example, too.
func onlyPage(of string) *yaml.Node {
	item, value, made := &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}
	put(item, "$example", text(of))
	put(value, "items", sequence(item))
	put(value, "limit", text("50"))
	put(value, "offset", text("0"))
	put(made, "summary", text("The only page"))
	put(made, "value", value)
	return made
}

// describeOnly makes a schema of each property, at any depth, that is only the text of its description, or that text after
// the name of a schema.
func describeOnly(schema *yaml.Node) {
	for _, property := range entries(get(schema, "properties")) {
		words, of := *property, ""
		for key, value := range entries(property) {
			if len(property.Content) == 2 && unicode.IsUpper(rune(key.Value[0])) {
				words, of = *value, key.Value
			}
		}
		if words.Kind != yaml.ScalarNode || words.Tag == "!!null" {
			continue
		}
		*property = yaml.Node{Kind: yaml.MappingNode}
		put(property, "description", &words)
		if of != "" {
			put(property, "$ref", quoted("#/components/schemas/"+of))
		}
	}
	for _, inner := range schema.Content {
		describeOnly(inner)
	}
}

// linked refers to the components that links name.
func linked(links *yaml.Node) {
	for _, link := range entries(links) {
		if link.Kind == yaml.ScalarNode {
			*link = *ref("links", link.Value)
		}
		fromPath(link)
	}
}

// fromPath gives a link that names no parameters those of its operation's path, with the values of the present path.
func fromPath(link *yaml.Node) {
	id := get(link, "operationId")
	if id == nil || get(link, "parameters") != nil {
		return
	}
	for _, field := range table.Get(id.Value).Takes.Path {
		put(child(link, "parameters", yaml.MappingNode), field.Name, text("$request.path."+field.Name))
	}
}

// code is a problem's code before its explanation.
var code = regexp.MustCompile("`([A-Z_]+)`:")

// explained returns the codes that the description of an answer explains.
func explained(response *yaml.Node) *yaml.Node {
	codes, words := sequence(), get(response, "description")
	if words == nil {
		return codes
	}
	for _, match := range code.FindAllStringSubmatch(words.Value, -1) {
		codes.Content = append(codes.Content, text(match[1]))
	}
	return codes
}

func object(kind string) *yaml.Node {
	made := &yaml.Node{Kind: yaml.MappingNode}
	put(made, "type", text(kind))
	return made
}

// refusal is the content of a refusal with some codes.
func refusal(codes, examples *yaml.Node) *yaml.Node {
	schema := ref("schemas", "Problem")
	put(schema, "x-codes", codes) // generators make a class without fields of a reference with properties beside it
	made := content("application/problem+json", schema, examples)
	if media := get(made, "application/problem+json"); examples == nil {
		remove(media, "examples")
	}
	return made
}

// exemplify writes out an example: of a problem, type, title and status follow from its code.
func exemplify(examples, example *yaml.Node) error {
	says := get(example, "code")
	if says == nil {
		return insert(examples, get(example, "value"))
	}
	class, value := problem.ClassOf(problem.Code(says.Value)), &yaml.Node{Kind: yaml.MappingNode}
	put(value, "type", text(class.Code.Type()))
	put(value, "title", text(class.Title))
	put(value, "status", text(strconv.Itoa(class.Status)))
	put(value, "requestId", text("6f1c2b9e-3d44-4a43-9a43-0c5d2f7e8b11"))
	for key, member := range entries(example) {
		if key.Value != "summary" {
			put(value, key.Value, member)
		}
	}
	summary := get(example, "summary")
	*example = yaml.Node{Kind: yaml.MappingNode}
	put(example, "summary", summary)
	put(example, "value", value)
	return nil
}

// insert replaces $example in a value by the value of the example with that name.
func insert(examples, value *yaml.Node) error {
	if name := get(value, "$example"); name != nil {
		of := get(get(examples, name.Value), "value")
		if of == nil {
			return fmt.Errorf("there is no example %s", name.Value)
		}
		*value = *of
	}
	if value == nil {
		return nil
	}
	for _, inner := range value.Content {
		if err := insert(examples, inner); err != nil {
			return err
		}
	}
	return nil
}

// fromRow adds to a parameter where it is, whether it is required, and its rule: those of the first row that takes it. If
// there are a parameter of paths and one of queries with this name, the part says where it is.
func fromRow(document, parameter *yaml.Node) error {
	name, in := get(parameter, "name").Value, get(parameter, "in")
	var taken []input.Field
	var at string
	for _, op := range table.All {
		for place, fields := range map[string]input.Fields{"path": op.Takes.Path, "query": op.Takes.Query} {
			field, takes := fields.Find(name)
			if !takes || in != nil && in.Value != place {
				continue
			}
			if at != "" && at != place {
				return fmt.Errorf("it does not say where it is")
			}
			at, taken = place, append(taken, field)
		}
	}
	if at == "" {
		return fmt.Errorf("no operation takes it")
	}
	if in == nil {
		put(parameter, "in", text(at))
	}
	if (at == "path" || taken[0].Required) && get(parameter, "required") == nil {
		put(parameter, "required", text("true"))
	}
	if get(parameter, "schema") != nil {
		return nil
	}
	schema := &yaml.Node{Kind: yaml.MappingNode}
	put(parameter, "schema", schema)
	return typed(document, schema, member{name: name, field: &taken[0]})
}
