package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	yaml "github.com/oasdiff/yaml3"

	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

func TestBundle_TheContract_IsMadeOfItsParts(t *testing.T) {
	want := expect.Value(bundle(os.DirFS("../parts")))(t)
	got := expect.Value(os.ReadFile("../openapi.yaml"))(t)
	expect.That(t, bytes.Equal(got, want),
		"openapi.yaml is not the bundle of its parts; run go generate ./shared/contract")
	for name := range answers {
		expect.That(t, bytes.Contains(got, []byte("\n    "+name+":\n      description: ")),
			"the contract has no schema %s", name)
	}
}

const service = `
openapi: 3.1.0
x-every-answer: {headers: {Cache-Control: {schema: {}}}}
x-every-operation: {responses: {'500': {description: failed}}}
x-parts: [a.yaml, b/c.yaml]
`

func parts(a, c string) fstest.MapFS {
	return fstest.MapFS{root: {Data: []byte(service)}, "a.yaml": {Data: []byte(a)}, "b/c.yaml": {Data: []byte(c)}}
}

func TestBundle_HasTheTagsPathsAndComponentsOfAllParts(t *testing.T) {
	document := bundled(t, parts(
		"tags: [{name: A}]\npaths: {/a: {}}\ncomponents: {schemas: {A: {type: string}}}",
		"tags: [{name: C}]\npaths: {/c: {}}\ncomponents: {schemas: {C: {type: string}}, links: {C: {}}}"))
	for _, has := range []string{"tags: [{name: A}, {name: C}]", "paths: {/a: {}, /c: {}}", "schemas: {A: {type: string}, C: {type: string}}", "links: {C: {}}"} {
		expect.That(t, strings.Contains(document, has), "the bundle lacks %s:\n%s", has, document)
	}
	expect.That(t, !strings.Contains(document, "x-"), "the bundle contains what only bundling needs:\n%s", document)
}

func TestBundle_EveryOperation_HasTheAnswersOfAll(t *testing.T) {
	for responses, want := range map[string]string{
		"{'503': {$ref: r}, '200': {$ref: r}}": "{'200': {$ref: r}, '500': {description: failed}, '503': {$ref: r}}",
		"{'500': {$ref: r}}":                   "{'500': {$ref: r}}",
		"{default: {$ref: r}}":                 "{default: {$ref: r}}",
	} {
		document := bundled(t, parts("paths: {/a: {parameters: [], get: {responses: "+responses+"}}}", "tags: []"))
		expect.That(t, strings.Contains(document, "get: {responses: "+want+", x-codeSamples: "),
			"%s became\n%s", responses, document)
	}
}

func TestBundle_EveryAnswer_HasTheHeadersOfAll(t *testing.T) {
	for response, want := range map[string]string{
		"{description: d}":                       "{description: d, headers: {Cache-Control: {schema: {}}}}",
		"{headers: {ETag: {}}}":                  "{headers: {ETag: {}, Cache-Control: {schema: {}}}}",
		"{headers: {Cache-Control: {}}}":         "{headers: {Cache-Control: {}}}",
		"{x-any-answer: true}":                   "{x-any-answer: true}",
		"{$ref: '#/components/responses/Other'}": "{$ref: '#/components/responses/Other'}",
	} {
		inComponents := bundled(t, parts("components: {responses: {R: "+response+"}}", "tags: []"))
		expect.That(t, strings.Contains(inComponents, "responses: {R: "+want+"}"),
			"%s became\n%s", response, inComponents)
		ofOperation := bundled(t, parts("paths: {/a: {get: {responses: {default: "+response+"}}}}", "tags: []"))
		expect.That(t, strings.Contains(ofOperation, "responses: {default: "+want+"}"),
			"%s became\n%s", response, ofOperation)
	}
}

// TestBundle_WhatIsNotASCII_IsEscaped: spaces that look alike can be told apart, and keep their meaning.
func TestBundle_WhatIsNotASCII_IsEscaped(t *testing.T) {
	text := expect.Value(bundle(parts(`components: {schemas: {plain: ü😀, quoted: "a\u00a0b\u0085\u2028"}}`, "tags: []")))(t)
	expect.That(t, !strings.ContainsFunc(string(text), func(r rune) bool { return r >= 0x80 }),
		"the bundle is not ASCII: %q", text)
	var document struct {
		Components struct{ Schemas map[string]string }
	}
	expect.OK(t, yaml.Unmarshal(text, &document))
	want := map[string]string{"plain": "ü😀", "quoted": "a\u00a0b\u0085\u2028"}
	got := document.Components.Schemas
	expect.That(t, maps.Equal(got, want), "got %q, want %q", got, want)
}

func TestBundle_FaultsOfTheParts_AreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		parts fstest.MapFS
		says  string
	}{
		"a path of two parts":          {parts("paths: {/a: {}}", "paths: {/a: {}}"), "b/c.yaml: /a is given twice"},
		"a component of two parts":     {parts("components: {schemas: {A: {}}}", "components: {schemas: {A: {}}}"), "b/c.yaml: schemas: A is given twice"},
		"a key given twice in a part":  {parts("paths: {}\npaths: {}", "tags: []"), `a.yaml: yaml: unmarshal errors`},
		"what belongs to the service":  {parts("info: {}", "tags: []"), "info belongs in service.yaml"},
		"a part that is not a mapping": {parts("[]", "tags: []"), "a.yaml: yaml: unmarshal errors"},
		"an empty part":                {parts("", "tags: []"), "a.yaml: the part is empty"},
		"a part that is not listed":    {with(parts("tags: []", "tags: []"), "d.yaml"), "d.yaml is not listed"},
		"a part that is not there":     {fstest.MapFS{root: {Data: []byte(service)}}, "a.yaml"},
		"a service that is not there":  {fstest.MapFS{}, root},
		"no value for a path":          {parts("paths: {'/a/{b}': {parameters: [{name: b, in: path, required: true}], get: {}}}", "tags: []"), "get /a/{b}: the parameter b has no example"},
		"no value for a query":         {parts("paths: {/a: {get: {parameters: [{name: b, in: query, required: true}]}}}", "tags: []"), "get /a: the parameter b has no example"},
		"no value for a body":          {parts("paths: {/a: {put: {requestBody: {content: {application/json: {}}}}}}", "tags: []"), "put /a: the body has no example"},
	} {
		if _, err := bundle(c.parts); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want it to say %q", name, err, c.says)
		}
	}
}

func with(parts fstest.MapFS, name string) fstest.MapFS {
	parts[name] = &fstest.MapFile{Data: []byte("tags: []")}
	return parts
}

// bundled is the bundle in the flow style of the parts above.
func bundled(t *testing.T, parts fstest.MapFS) string {
	t.Helper()
	document := expect.Value(bundle(parts))(t)
	var n yaml.Node
	expect.OK(t, yaml.Unmarshal(document, &n))
	return inFlow(t, &n)
}

// inFlow is a node in flow style.
func inFlow(t *testing.T, n *yaml.Node) string {
	t.Helper()
	flow(n)
	text := expect.Value(yaml.Marshal(n))(t)
	return strings.TrimSpace(string(text))
}

func flow(n *yaml.Node) {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	for _, inner := range n.Content {
		flow(inner)
	}
}

func TestBundle_Operations_SayWhatTheirRowsDoNot(t *testing.T) {
	const page = "description: Frozen., schema: Freeze, examples: {freeze: Freeze}"
	const freeze = "get-freeze: {description: Reads it., answers: {'200': {" + page + "}}}"
	for name, c := range map[string]struct{ operations, fault string }{
		"all is there":                        {freeze, ""},
		"no row":                              {"get-thaw: {}", "there is no operation get-thaw"},
		"no description":                      {"get-freeze: {}", "get-freeze: it has no description"},
		"no answer":                           {"get-freeze: {description: a}", "get-freeze: it has no answer 200"},
		"an answer that is a misspelt schema": {"get-freeze: {description: a, answers: {'200': Freezer}}", "get-freeze: there is no response and no schema Freezer"},
		"an answer without a description":     {"get-freeze: {description: a, answers: {'200': Bare}}", "get-freeze: the schema Bare has no description"},
		"an answer too many":                  {"get-freeze: {description: a, answers: {'200': {description: a}, '201': {description: a}}}", "its row gives no answer 201"},
		"a word that is not known":            {"get-freeze: {summary: a}", "get-freeze: summary is not known here"},
		"a parameter that nothing describes":  {"get-edge: {description: a, answers: {'200': {description: a}}}", "get-edge: 0 components describe the path parameter edgeId"},
		"no body":                             {"put-freeze: {description: a}", "put-freeze: it has no body"},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := bundle(parts("tags: [{name: A}]\noperations: {"+c.operations+"}", "components: {parameters: {IfNoneMatch: {name: If-None-Match, in: header, schema: {}}}, schemas: {Bare: {}}, examples: {Freeze: {value: {}}}}"))
			if c.fault != "" {
				expect.That(t, err != nil && strings.Contains(err.Error(), c.fault), "the bundle says %v", err)
				return
			}
			expect.OK(t, err)
			for _, has := range []string{"/api/ota/freeze:", "operationId: get-freeze", "tags: [A]", "summary: Read the freeze", "Roles: `platform_owner` or `platform_viewer`.",
				"- accessToken: [platform_viewer]", "'#/components/parameters/IfNoneMatch'", "'#/components/headers/ETag'", "'304':\n", "'404':\n", "'400':\n",
				"'#/components/schemas/Freeze'", "freeze:\n"} {
				expect.That(t, strings.Contains(string(document), has), "the bundle lacks %s:\n%s", has, document)
			}
		})
	}
}

func TestBundle_AnswersBodiesAndExamples_HaveShortForms(t *testing.T) {
	const put = `put-freeze: {description: a, body: Wish, answers: {'201': Rollouts are frozen.%s}}, get-freeze: {description: a, answers: {'200': Freeze}}`
	document := func(more string) string {
		return bundled(t, parts("tags: [{name: A}]\noperations: {"+fmt.Sprintf(put, more)+"}", `components:
  parameters:
    IfMatch: {name: If-Match, in: header, schema: {}}
    IfNoneMatchOnWrite: {name: If-None-Match, in: header, schema: {}}
    IfNoneMatch: {name: If-None-Match, in: header, schema: {}}
  responses: {Done: {description: Done.}}
  schemas: {Freeze: {description: "A freeze. It ends.", properties: {reason: {type: string}, until: Its end.}}, Wish: {properties: {until: {type: string}, reason: {type: string}}}}
  examples: {Freeze: {value: {}}, Wish: {value: {}}}`))
	}
	short, named := document(""), document(", '204': Done")
	for has, in := range map[string]string{
		"'201': {description: Rollouts are frozen.":                                                                   short,
		"'204': {description: What you asked for holds now.":                                                          short,
		"'204': {$ref: '#/components/responses/Done'}":                                                                named,
		"'200': {description: A freeze., headers: ":                                                                   short,
		"{schema: {$ref: '#/components/schemas/Freeze'}, examples: {freeze: {$ref: '#/components/examples/Freeze'}}}": short,
		"{schema: {$ref: '#/components/schemas/Wish'}, examples: {wish: {$ref: '#/components/examples/Wish'}}}":       short,
	} {
		expect.That(t, strings.Contains(in, has), "the bundle lacks %s:\n%s", has, in)
	}
}

func TestBundle_Schemas_FollowFromShapesAndTypes(t *testing.T) {
	const words = `components:
  parameters:
    EdgeId: {name: edgeId}
    Match: {name: If-Match, in: header, schema: {}}
    NoneMatch: {name: If-None-Match, in: header, schema: {}}
  responses:
    Refused: {description: "\u0060CONFLICT\u0060: no.", examples: {one: One}}
    Done: {description: done, links: {next: Next}}
  links:
    Next: {operationId: get-edge}
  examples:
    Taken: {summary: It is taken, code: CONFLICT, detail: Taken., instance: /api/a, errors: [{code: unknown}]}
    Page: {value: {items: [{$example: Freeze}]}}
    Freeze: {value: {reason: rest}}
  schemas:
    ProblemCode: {type: string}
    FreezePage: {page: Freeze}
    FreezeSeries: {series: Freeze}
    %s
`
	for name, c := range map[string]struct{ schemas, has string }{
		"a page":                          {"A: {}", "FreezePage: {description: A page of a list., type: object, required: [items, limit], properties: {items: {type: array, maxItems: 100, items: {$ref: '#/components/schemas/Freeze'}}, limit: {$ref: '#/components/schemas/PageLimit'}, offset: "},
		"a series":                        {"A: {}", "limit: {$ref: '#/components/schemas/PageLimit'}, partial: {$ref: '#/components/schemas/PagePartial'}, next: "},
		"a refusal":                       {"A: {}", "application/problem+json: {schema: {$ref: '#/components/schemas/Problem', x-codes: [CONFLICT]}, examples: {one: {$ref: '#/components/examples/One'}}}"},
		"a description":                   {"A: {oneOf: [{properties: {b: What it is.}}]}", "A: {oneOf: [{properties: {b: {description: What it is.}}}]}"},
		"a schema before its description": {"A: {properties: {b: {Freeze: What it is.}}}", "A: {properties: {b: {description: What it is., $ref: '#/components/schemas/Freeze'}}}"},
		"the only page":                   {"A: {}", "FreezePage: {summary: The only page, value: {items: [{reason: rest}], limit: 50, offset: 0}}"},
		"a link":                          {"A: {}", "links: {next: {$ref: '#/components/links/Next'}}"},
		"its path":                        {"A: {}", "Next: {operationId: get-edge, parameters: {edgeId: $request.path.edgeId}}"},
		"the codes":                       {"A: {}", "ProblemCode: {type: string, x-extensible-enum: [INVALID_JSON, "},
		"a problem": {"A: {}", "Taken: {summary: It is taken, value: {type: 'urn:wavegate:problem:conflict', title: The resource is in conflict with the request, status: 409, " +
			"requestId: 6f1c2b9e-3d44-4a43-9a43-0c5d2f7e8b11, code: CONFLICT, detail: Taken., instance: /api/a, errors: [{code: unknown}]}}"},
		"an example in another": {"A: {}", "Page: {value: {items: [{reason: rest}]}}"},
		"a parameter":           {"A: {}", "EdgeId: {name: edgeId, in: path, required: true, schema: {type: string, pattern: '^[A-Za-z0-9]"},
	} {
		t.Run(name, func(t *testing.T) {
			document := bundled(t, parts("tags: []", fmt.Sprintf(words, c.schemas)))
			expect.That(t, strings.Contains(document, c.has), "the bundle lacks %s:\n%s", c.has, document)
		})
	}
}

// A thing is an answer.
type thing struct {
	Name  string     `json:"name"`
	At    *time.Time `json:"at,omitempty"`
	Count int        `json:"count"`
	Yes   bool       `json:"yes,omitempty"`
	Inner inner      `json:"inner"`
	inner
	Hidden string `json:"-"`
}

type inner struct {
	Deep string `json:"deep"`
}

func TestComplete_FieldsTypesAndWhatIsRequired_FollowFromGo(t *testing.T) {
	for name, c := range map[string]struct {
		words, want, fault string
		of                 known
	}{
		"an answer": {"{description: A., properties: {count: {minimum: 0}, inner: {$ref: '#/components/schemas/Inner'}}}",
			"{description: A., type: object, required: [name, count, inner, deep], properties: {name: {$ref: '#/components/schemas/Name'}, at: {$ref: '#/components/schemas/Time'}, " +
				"count: {minimum: 0, type: integer}, yes: {type: boolean}, inner: {$ref: '#/components/schemas/Inner'}, deep: {type: string}}}", "", known{goes: reflect.TypeFor[thing]()}},
		"a field that is not one": {"{properties: {other: {type: string}, inner: {type: object}}}", "", "it has no field other", known{goes: reflect.TypeFor[thing]()}},
		"a struct without words":  {"{}", "", "inner: its schema does not follow from main.inner", known{goes: reflect.TypeFor[thing]()}},
		"a body": {"{properties: {b: {description: B.}}}",
			"{type: object, additionalProperties: false, required: [a], properties: {a: {type: string, enum: [x, y]}, b: {description: B., type: integer, minimum: 1, maximum: 5}, " +
				"c: {type: [string, 'null'], pattern: '^[a-z]{1,8}$'}, d: {type: integer, enum: [1, 10]}, e: {type: boolean}, f: {type: string, pattern: '^(a|[b|c]d)$', minLength: 1, maxLength: 2}}}", "",
			known{shape: &input.Shape{Fields: input.Fields{{Name: "a", Is: &input.Text{Pattern: "x|y"}, Required: true}, {Name: "b", Is: &input.Integer{Least: 1, Most: 5}},
				{Name: "c", Is: &input.Text{Pattern: "[a-z]{1,8}"}, Clearable: true}, {Name: "d", Is: &input.Integer{OneOf: []int{1, 10}}}, {Name: "e", Is: input.Boolean{}},
				{Name: "f", Is: &input.Text{Pattern: "a|[b|c]d", Min: 1, Max: 2}}}}}},
		"a list": {"{properties: {a: {items: {type: string}}, b: {items: {type: object}, maxItems: 2}}}",
			"{type: object, additionalProperties: false, properties: {a: {items: {type: string}, type: array, minItems: 1, maxItems: 5, uniqueItems: true}, " +
				"b: {items: {type: object}, maxItems: 2, type: array}}}", "", known{shape: &input.Shape{Fields: input.Fields{
				{Name: "a", Is: &input.List{Of: input.Name, Least: 1, Most: 5}}, {Name: "b", Is: &input.List{Of: &input.Shape{}, Most: 3}}}}}},
		"a text with a check": {"{}", "", "a: the rule of its text has more than a pattern", known{shape: &input.Shape{Fields: input.Fields{{Name: "a", Is: input.DisplayName}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var document, schema yaml.Node
			for text, into := range map[string]*yaml.Node{"x-names: {name: Name}": &document, c.words: &schema} {
				expect.OK(t, yaml.Unmarshal([]byte(text), into))
			}
			_, err := complete(document.Content[0], schema.Content[0], c.of)
			if c.fault != "" {
				expect.That(t, err != nil && strings.Contains(err.Error(), c.fault), "the fault is %v", err)
				return
			}
			got := inFlow(t, schema.Content[0])
			expect.That(t, err == nil && got == c.want, "%v\n got %s\nwant %s", err, got, c.want)
		})
	}
}
