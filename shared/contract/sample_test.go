package contract_test

import (
	"go/ast"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// sample holds operations for the tests of the comparison itself.
const sample = module + "shared/contract/testdata/sample"

// TestComparison_EveryDifference_IsFound changes one thing of the sample's contract at a time, which then
// is not what the sample's code does.
func TestComparison_EveryDifference_IsFound(t *testing.T) {
	text, err := os.ReadFile("testdata/sample.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if found := sampleDifferences(t, string(text)); found != nil {
		t.Fatalf("the sample as it is: %q", found)
	}
	for _, c := range []struct{ name, from, to, says string }{
		// Answers.
		{"a field that the code does not send", "id: {type: string}", "id: {type: string}\n                  extra: {type: string}", "read: 200: the contract has body.extra, which the code does not send"},
		{"a field that the contract lacks", "                  note: {type: string}\n", "", "read: 200: the code sends body.note, which the contract does not have"},
		{"the type of a field", "up: {type: boolean}", "up: {type: string}", "read: 200: body.up is &[string] in the contract, boolean (bool) in the code"},
		{"a number for an integer", "count: {type: integer}", "count: {type: number}", "read: 200: body.parts[].count is"},
		{"an integer for a number", "load: {type: number}", "load: {type: integer}", "body.load is"},
		{"a time without its format", "madeAt: {type: string, format: date-time}", "madeAt: {type: string}", "body.madeAt is"},
		{"one object for a list", "parts: {type: array, items: {$ref: '#/components/schemas/Part'}}", "parts: {type: object}", "body.parts is"},
		{"other values of a map", "additionalProperties: {type: string}", "additionalProperties: {type: integer}", "body.labels{} is"},
		{"a word that is never sent", "enum: [small, large]}\n                  parts", "enum: [small, large, huge]}\n                  parts", "body.kind is one of [huge large small] in the contract, of [large small] in the code"},
		{"a word that is missing", "enum: [small, large]}\n                  parts", "enum: [small]}\n                  parts", "body.kind is one of [small] in the contract"},
		{"a field that may be left out", "[id, kind, parts,", "[kind, parts,", "body.id: required is false in the contract, left out when empty is false in the code"},
		{"a field that is always there", "[id, kind, parts,", "[id, note, kind, parts,", "body.note: required is true in the contract, left out when empty is true in the code"},
		{"a field of what is anything", "any: {type: object}", "any: {type: object, properties: {a: {type: string}}}", "any is"},
		{"a field of an item of a page", "count: {type: integer}", "count: {type: string}", "list: 200: page.items[].count is"},
		{"a field of JSON that was made before", "count: {type: integer}", "count: {type: string}", "poll: 200: body.count is"},
		{"a field of a type within itself", "of: {type: array, items: {$ref: '#/components/schemas/Part'}}", "of: {type: array, items: {type: string}}", "body.of[] is"},
		{"a page that always has an offset", "required: [limit, items]", "required: [limit, items, offset]", "list: 200: page.offset: required is true"},
		{"a series with an offset", "required: [items, limit]\n                properties:", "required: [items, limit]\n                properties:\n                  offset: {type: integer}", "series: 200: the contract has page.offset"},
		{"another status", "'202':", "'200':", "written: the code answers 202, which the contract does not have"},
		{"a status more", "'202':", "'200': {description: More.}\n        '202':", "written: the contract has the answer 200, which the code does not give"},
		{"no body", "content: {application/json: {schema: {$ref: '#/components/schemas/Part'}}}", "x-none: true", "poll: 200: it has a body: false in the contract, true in the code"},
		{"a body", "description: Stored.", "description: Stored.\n          content: {application/json: {schema: {type: object}}}", "put: 204: it has a body: true in the contract, false in the code"},
		{"no Location", ", Location: {schema: {}}", "", "create: 201: the contract has the headers [Cache-Control RateLimit RateLimit-Policy], the code [Cache-Control Location"},
		{"no entity tag", ", ETag: {schema: {}}", "", "read: 200: the contract has the headers"},
		{"a header that is not sent", "X-Note: {schema: {}}", "X-Note: {schema: {}}, X-Other: {schema: {}}", "written: 202: the contract has the headers"},
		{"a tag without 304", "'304': {description: Not modified.}", "'404': {description: Missing.}", "read: 200: a read has all of an entity tag, If-None-Match and 304, or none"},
		{"a tag without If-None-Match", "- {name: If-None-Match, in: header, schema: {type: string}}\n      responses:\n        '200':\n          description: A part", "- {name: X-None, in: header, schema: {type: string}}\n      responses:\n        '200':\n          description: A part", "poll: 200: a read has all of an entity tag"},
		{"304 without a tag", "'204':", "'304': {description: Not modified.}\n        '204':", "put: 204: a read has all of an entity tag"},
		{"two media types", "content: {application/json: {schema: {$ref: '#/components/schemas/Part'}}}", "content: {application/json: {schema: {$ref: '#/components/schemas/Part'}}, text/plain: {schema: {}}}", "poll: 200: it has a body"},
		// Inputs.
		{"a parameter that is not read", "parameters:\n        - {name: id,", "parameters:\n        - {name: x, in: query, schema: {type: string}}\n        - {name: id,", "read: the contract has query x, which the code does not read"},
		{"a parameter that is missing", "- {name: cursor, in: query, schema: {type: string}}", "", "series: the code reads query cursor, which the contract does not have"},
		{"a parameter of another place", "name: cursor, in: query", "name: cursor, in: header", "series: the code reads query cursor"},
		{"a parameter that is required", "{name: cursor, in: query,", "{name: cursor, in: query, required: true,", "query cursor is required: true in the contract, false in the code"},
		{"a bound of a text without any", "{name: cursor, in: query, schema: {type: string}}", "{name: cursor, in: query, schema: {type: string, maxLength: 9}}", "query cursor has other lengths"},
		{"a pattern", "^[a-z]{1,8}$", "^[a-z]{1,9}$", "path id has the pattern ^[a-z]{1,9}$ in the contract, ^[a-z]{1,8}$ in the code"},
		{"a pattern without its end", "^[a-z]{1,8}$", "^[a-z]{1,8}", "path id has the pattern"},
		{"a choice that is anchored in part", "^([a-z]+|[0-9]+)$", "^[a-z]+|[0-9]+$", "body either has the pattern"},
		{"a word of a choice", "choice: {type: string, enum: [small, large]}", "choice: {type: string, enum: [small]}", "body choice has the pattern"},
		{"a length", "minLength: 1, maxLength: 20", "minLength: 1, maxLength: 21", "body short has other lengths"},
		{"a pattern that counts otherwise", "{0,38}", "{0,39}", "body note takes"},
		{"a time with a pattern", "{name: from, in: query, schema: {type: string, format: date-time}}", "{name: from, in: query, schema: {type: string, format: date-time, pattern: 'Z$'}}", "query from is not the format date-time alone"},
		{"a text that is a number", "short: {type: string, minLength: 1, maxLength: 20}", "short: {type: integer}", "body short is no string"},
		{"a list of numbers", "enum: [1, 2, 4]", "enum: [1, 2]", "body parts is not one of 1, 2, 4"},
		{"a highest number", "maximum: 90", "maximum: 91", "body size is not a whole number from -1 to 90"},
		{"a lowest number", "minimum: -1", "minimum: 0", "body size is not a whole number"},
		{"a default", "default: 50", "default: 25", "query limit is not a whole number from 1 to 100, 50 where it is left out"},
		{"the bound of an offset", "maximum: 10000", "maximum: 9999", "query offset is not"},
		{"a field of the body that is not read", "short: {type: string,", "other: {type: string}\n                short: {type: string,", "put: the contract has body other"},
		{"a field of the body that is not required", "required: [choice, either]", "required: [choice]", "body either is required: false in the contract, true in the code"},
		{"a body that takes any field", "additionalProperties: false", "additionalProperties: true", "take no field that is not named"},
		{"a body that may be left out", "requestBody:\n        required: true", "requestBody:\n        required: false", "the body must be required"},
		{"no choice of fields", "anyOf: [{required: [parts]}, {required: [size]}]", "", "one at least of these fields is given: [] in the contract, [[parts size]] in the code"},
		{"another choice of fields", "{required: [size]}]", "{required: [note]}]", "one at least of these fields is given: [[note parts]]"},
		{"one text for a list of them", "tags: {type: array, uniqueItems: true,", "tags: {type: string, uniqueItems: true,", "body tags is no list of 1 to 5 different elements"},
		{"a list that may hold a text twice", "uniqueItems: true, ", "", "body tags is no list of 1 to 5"},
		{"a list of more", "maxItems: 5", "maxItems: 6", "body tags is no list of 1 to 5"},
		{"a list that may be empty", "minItems: 1, ", "", "body tags is no list of 1 to 5"},
		{"other texts in a list", "items: {type: string, pattern: '^[a-z]{1,8}$'}}", "items: {type: string, pattern: '^[a-z]{1,9}$'}}", "body tags has the pattern"},
		{"a text for an object", "origin:\n                  type: object", "origin:\n                  type: string", "body origin is no object without further fields"},
		{"an object that takes any field", "type: object\n                  additionalProperties: false", "type: object\n                  additionalProperties: true", "body origin is no object without further fields"},
		{"a field of an object that is not required", "required: [place]", "required: []", "body origin.place is required: false in the contract, true in the code"},
		{"a field of an object that is not read", "properties: {place:", "properties: {other: {type: string}, place:", "put: the contract has body origin.other"},
		{"a field of an object that is missing", "properties: {place: {type: string, pattern: '^[a-z]{1,8}$'}}", "properties: {}", "put: the code reads body origin.place"},
		{"another rule of an object's field", "properties: {place: {type: string, pattern: '^[a-z]{1,8}$'}}", "properties: {place: {type: string, pattern: '^[a-z]{1,9}$'}}", "body origin.place has the pattern"},
		{"a body that is not read", "- {name: Idempotency-Key, in: header, schema: {type: string}}", "- {name: Idempotency-Key, in: header, schema: {type: string}}\n      requestBody: {required: true, content: {application/json: {schema: {type: object, additionalProperties: false}}}}", "create: it has a body: true in the contract, false in the code"},
		{"a header that is not read", "- {name: Idempotency-Key,", "- {name: If-Match, in: header, schema: {type: string}}\n        - {name: Idempotency-Key,", "create: the contract has header If-Match"},
	} {
		changed := strings.Replace(string(text), c.from, c.to, 1)
		if changed == string(text) {
			t.Errorf("%s: the sample has no %q", c.name, c.from)
			continue
		}
		if found := sampleDifferences(t, changed); !slices.ContainsFunc(found, func(d string) bool { return strings.Contains(d, c.says) }) {
			t.Errorf("%s: found %q, want %q", c.name, found, c.says)
		}
	}
}

// sampleDifferences compares the sample's operations with a contract.
func sampleDifferences(t *testing.T, contract string) []string {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(contract))
	if err != nil {
		t.Fatalf("%v in\n%s", err, contract)
	}
	var found []string
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			inCode, err := followSample(t, op.OperationID)
			if err != nil {
				t.Fatal(err)
			}
			for _, difference := range slices.Concat(inputDifferences(item, op, inCode), answerDifferences(code(t), op, inCode.answers)) {
				found = append(found, op.OperationID+": "+difference)
			}
		}
	}
	return found
}

func followSample(t *testing.T, name string) (operation, error) {
	t.Helper()
	s := code(t)
	f, ok := s.packages[sample].Types.Scope().Lookup(name).(*types.Func)
	if !ok {
		t.Fatalf("the sample has no function %s", name)
	}
	return s.follow(s.functions[f])
}

// TestWalk_WhatCannotBeReadFromTheSource_Fails: nothing is passed over in silence.
func TestWalk_WhatCannotBeReadFromTheSource_Fails(t *testing.T) {
	for name, says := range map[string]string{
		"aNameMadeAtRunTime":    "Query(c.RequestID): the name is no constant",
		"aBoundMadeAtRunTime":   "the bound is no constant",
		"aRuleMadeAtRunTime":    "madeRule() is neither a literal",
		"aPatternMadeAtRunTime": "Pattern of a input.Text is new to this test, or no constant",
		"aCheckThatIsNotKnown":  "Check of a input.Text is new to this test",
		"aNumberMadeAtRunTime":  "Most of a input.Integer is new to this test, or no constant",
		"aStatusMadeAtRunTime":  "the status is no constant",
		"anAnswerThatIsChanged": "a.Status is changed after the answer was made",
		"bytesOfUnknownMaking":  "b: what it was made of is not found",
		"itself":                "itself calls itself",
	} {
		if _, err := followSample(t, name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want it to say %q", name, err, says)
		}
	}
}

// TestWalk_AMethodThatIsNew_Fails: a new method of package input, or a new kind of answer, has to be
// described to the tests before an operation can use it.
func TestWalk_AMethodThatIsNew_Fails(t *testing.T) {
	w := &walk{source: code(t)}
	w.read("Novel", &ast.CallExpr{}, scope{})
	w.answer(types.NewFunc(0, code(t).packages[lambdahttpPackage].Types, "Novel", types.NewSignatureType(nil, nil, nil, nil, nil, false)), nil, scope{})
	if len(w.faults) != 2 || !strings.Contains(w.faults[0].Error(), "request.Novel is new") || !strings.Contains(w.faults[1].Error(), "lambdahttp.Novel is new") {
		t.Errorf("got %v", w.faults)
	}
}
