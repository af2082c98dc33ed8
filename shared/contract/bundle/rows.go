package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// operate adds the paths of the operations that a part describes. What a part says of an operation is its description,
// the schemas and the examples; everything else comes from the operation's row.
func operate(document, part *yaml.Node) error {
	for id, words := range entries(get(part, "operations")) {
		at := slices.IndexFunc(table.All, func(op operations.Operation) bool { return op.ID == id.Value })
		if at < 0 {
			return fmt.Errorf("there is no operation %s", id.Value)
		}
		op := table.All[at]
		made, err := operation(document, part, op, words)
		if err != nil {
			return fmt.Errorf("%s: %w", op.ID, err)
		}
		item := child(child(document, "paths", yaml.MappingNode), strings.ReplaceAll(op.Path, "+}", "}"), yaml.MappingNode)
		if get(item, "parameters") == nil && len(op.Takes.Path) > 0 {
			parameters, err := parametersOf(document, "path", op.Takes.Path, get(words, "parameters"))
			if err != nil {
				return fmt.Errorf("%s: %w", op.ID, err)
			}
			put(item, "parameters", parameters)
		}
		put(item, strings.ToLower(op.Method), made)
	}
	return nil
}

// operation is the OpenAPI of one operation.
func operation(document, part *yaml.Node, op operations.Operation, words *yaml.Node) (*yaml.Node, error) {
	for key := range entries(words) {
		if !slices.Contains([]string{"tags", "description", "parameters", "body", "examples", "answers", "refusals", "x-sample-query"}, key.Value) {
			return nil, fmt.Errorf("%s is not known here", key.Value)
		}
	}
	made := &yaml.Node{Kind: yaml.MappingNode}
	put(made, "operationId", text(op.ID))
	if asked := get(words, "x-sample-query"); asked != nil {
		put(made, "x-sample-query", asked)
	}
	if op.Takes.Hears {
		put(made, "x-hears", text("true"))
	}
	tags := get(words, "tags")
	if tags == nil { // those of the part
		tags = sequence(get(get(part, "tags").Content[0], "name"))
	}
	put(made, "tags", tags)
	put(made, "summary", text(op.Summary))
	description := get(words, "description")
	if description == nil {
		return nil, fmt.Errorf("it has no description")
	}
	roles, security := rolesOf(op)
	put(made, "description", &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.LiteralStyle, Value: strings.TrimSpace(description.Value) + "\n\n" + hears(op) + roles + "\n"})
	put(made, "security", security)
	parameters, err := parametersOf(document, "query", op.Takes.Query, get(words, "parameters"))
	if err != nil {
		return nil, err
	}
	parameters.Content = append(parameters.Content, conditions(op)...)
	if len(parameters.Content) > 0 {
		put(made, "parameters", parameters)
	}
	if op.Takes.Body != nil {
		body := get(words, "body")
		if body == nil {
			return nil, fmt.Errorf("it has no body")
		}
		request := &yaml.Node{Kind: yaml.MappingNode}
		put(request, "required", text("true"))
		put(request, "content", content("application/json", ref("schemas", body.Value), examplesOf(document, words, body.Value)))
		put(made, "requestBody", request)
	}
	responses, err := responsesOf(document, op, words)
	put(made, "responses", responses)
	return made, err
}

// hears says whether an operation takes what boxes say as they say it.
func hears(op operations.Operation) string {
	if !op.Takes.Hears {
		return ""
	}
	return "What a box says never fails this call (see What boxes say).\n\n"
}

// rolesOf says in words and in OpenAPI which roles may call.
func rolesOf(op operations.Operation) (words string, security *yaml.Node) {
	security = &yaml.Node{Kind: yaml.SequenceNode}
	var names []string
	for _, role := range op.Roles {
		scope := strings.Trim(string(role), "()")
		names = append(names, "`"+scope+"`")
		one := &yaml.Node{Kind: yaml.MappingNode}
		put(one, "accessToken", sequence(text(scope)))
		security.Content = append(security.Content, one)
	}
	return "Roles: " + strings.Join(names, " or ") + ".", security
}

// parametersOf refers to the component of each field. Of several components with the name of a field, one must be chosen.
func parametersOf(document *yaml.Node, in string, fields input.Fields, chosen *yaml.Node) (*yaml.Node, error) {
	all := &yaml.Node{Kind: yaml.SequenceNode}
	for _, field := range fields {
		var found []string
		for name, parameter := range entries(get(get(document, "components"), "parameters")) {
			if get(parameter, "name").Value == field.Name && get(parameter, "in").Value == in {
				found = append(found, name.Value)
			}
		}
		if len(found) > 1 {
			found = slices.DeleteFunc(found, func(name string) bool { return !lists(chosen, name) })
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("%d components describe the %s parameter %s", len(found), in, field.Name)
		}
		all.Content = append(all.Content, ref("parameters", found[0]))
	}
	return all, nil
}

// conditions are the headers that an operation takes.
func conditions(op operations.Operation) (all []*yaml.Node) {
	if op.Takes.Conditions {
		all = append(all, ref("parameters", "IfMatch"), ref("parameters", "IfNoneMatchOnWrite"))
	}
	if op.Takes.IdempotencyKey {
		all = append(all, ref("parameters", "IdempotencyKey"))
	}
	if slices.Contains(op.Gives, http.StatusNotModified) {
		all = append(all, ref("parameters", "IfNoneMatch"))
	}
	return all
}

// responsesOf are the answers of an operation. Refusals that a part does not name are the usual ones.
func responsesOf(document *yaml.Node, op operations.Operation, words *yaml.Node) (*yaml.Node, error) {
	all, answers, refusals := &yaml.Node{Kind: yaml.MappingNode}, get(words, "answers"), get(words, "refusals")
	for _, status := range op.Gives {
		key := strconv.Itoa(status)
		answer := get(answers, key)
		switch {
		case answer == nil && status == http.StatusNotModified:
			answer = ref("responses", "NotModified")
		case answer == nil && status == http.StatusNoContent:
			answer = inline(document, op, described("What you asked for holds now."))
		case answer == nil:
			return nil, fmt.Errorf("it has no answer %d", status)
		case answer.Kind == yaml.ScalarNode:
			var err error
			if answer, err = short(document, op, answer.Value); err != nil {
				return nil, err
			}
		default:
			answer = inline(document, op, answer)
		}
		put(all, key, answer)
	}
	for key := range entries(answers) {
		if get(all, key.Value) == nil {
			return nil, fmt.Errorf("its row gives no answer %s", key.Value)
		}
	}
	usual := map[int]string{http.StatusBadRequest: badRequest(op), http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict",
		http.StatusPreconditionFailed: "PreconditionFailed", http.StatusRequestEntityTooLarge: "BodyTooLarge",
		http.StatusUnsupportedMediaType: "UnsupportedMediaType", http.StatusUnprocessableEntity: "KeyReused"}
	for _, code := range op.Problems() {
		status := problem.ClassOf(code).Status
		key, name := strconv.Itoa(status), usual[status]
		if own := get(refusals, key); own != nil {
			name = own.Value
		}
		if name != "" && get(all, key) == nil {
			put(all, key, ref("responses", name))
		}
	}
	return all, nil
}

// badRequest names the answer to bad input, which depends on what there is to be wrong.
func badRequest(op operations.Operation) string {
	takes := func(name string) bool {
		return slices.ContainsFunc(op.Takes.Query, func(f input.Field) bool { return f.Name == name })
	}
	switch {
	case op.Takes.Body != nil:
		return "BadBody"
	case takes("offset"):
		return "BadPage"
	case takes("cursor"):
		return "BadSeries"
	}
	return "BadParameters"
}

// short is an answer that a part gives in one word or sentence: the name of a response, the name of a schema, whose
// description begins with that of the answer, or a description.
func short(document *yaml.Node, op operations.Operation, says string) (*yaml.Node, error) {
	if component(document, "responses", says) != nil {
		return ref("responses", says), nil
	}
	schema := component(document, "schemas", says)
	if schema == nil {
		if !strings.HasSuffix(says, ".") {
			return nil, fmt.Errorf("there is no response and no schema %s", says)
		}
		return inline(document, op, described(says)), nil
	}
	description := get(schema, "description")
	if description == nil {
		return nil, fmt.Errorf("the schema %s has no description", says)
	}
	first, _, more := strings.Cut(strings.Join(strings.Fields(description.Value), " "), ". ")
	if more {
		first += "."
	}
	words := described(first)
	put(words, "schema", text(says))
	return inline(document, op, words), nil
}

func described(description string) *yaml.Node {
	made := &yaml.Node{Kind: yaml.MappingNode}
	put(made, "description", text(description))
	return made
}

// component is one of the document's components, or nil.
func component(document *yaml.Node, kind, name string) *yaml.Node {
	return get(get(get(document, "components"), kind), name)
}

// examplesOf are the examples of a schema that a part names, or else the one with the schema's name.
func examplesOf(document, words *yaml.Node, schema string) *yaml.Node {
	named := get(words, "examples")
	if named == nil && component(document, "examples", schema) != nil {
		named = &yaml.Node{Kind: yaml.MappingNode}
		put(named, strings.ToLower(schema[:1])+schema[1:], text(schema))
	}
	return named
}

// inline is an answer with a description of its own.
func inline(document *yaml.Node, op operations.Operation, words *yaml.Node) *yaml.Node {
	made := &yaml.Node{Kind: yaml.MappingNode}
	put(made, "description", get(words, "description"))
	headers := get(words, "headers")
	if headers == nil && op.Method == http.MethodGet {
		headers = &yaml.Node{Kind: yaml.MappingNode}
		if slices.Contains(op.Gives, http.StatusNotModified) {
			put(headers, "ETag", ref("headers", "ETag"))
		}
		if slices.ContainsFunc(op.Takes.Query, func(f input.Field) bool { return f.Name == "cursor" }) {
			put(headers, "Link", ref("headers", "Link"))
		}
	}
	if headers != nil && len(headers.Content) > 0 {
		put(made, "headers", headers)
	}
	if schema := get(words, "schema"); schema != nil {
		put(made, "content", content("application/json", ref("schemas", schema.Value), examplesOf(document, words, schema.Value)))
	} else if raw := get(words, "content"); raw != nil {
		put(made, "content", raw)
	}
	if links := get(words, "links"); links != nil {
		linked(links)
		put(made, "links", links)
	}
	return made
}

// content is a body with a schema and its examples, which a part gives by name.
func content(mediaType string, schema, examples *yaml.Node) *yaml.Node {
	all, media, refs := &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}
	for key, name := range entries(examples) {
		put(refs, key.Value, ref("examples", name.Value))
	}
	put(media, "schema", schema)
	put(media, "examples", refs)
	put(all, mediaType, media)
	return all
}

func ref(kind, name string) *yaml.Node {
	made := &yaml.Node{Kind: yaml.MappingNode}
	put(made, "$ref", quoted("#/components/"+kind+"/"+name))
	return made
}

func text(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }

// put adds an entry to a mapping. A key that looks like a number is a text.
func put(mapping *yaml.Node, key string, value *yaml.Node) {
	name := text(key)
	if _, err := strconv.Atoi(key); err == nil {
		name.Style = yaml.SingleQuotedStyle
	}
	mapping.Content = append(mapping.Content, name, value)
}
