package main

import (
	"testing"

	yaml "github.com/oasdiff/yaml3"

	"wavegate/shared/testing/expect"
)

const calls = `
paths:
  /a/{id}:
    parameters:
      - $ref: '#/components/parameters/ID'
      - {name: of, in: query, required: true, example: a&b}
      - {name: limit, in: query, example: 5}
      - {name: by, in: query, example: x}
      - {name: If-Match, in: header, example: '"3"'}
    get: {x-sample-query: [by]}
    put:
      requestBody: {$ref: '#/components/requestBodies/A'}
components:
  parameters:
    ID: {name: id, in: path, required: true, example: b/ox 1}
  requestBodies:
    A: {content: {application/json: {examples: {one: {$ref: '#/components/examples/A'}, two: {value: {}}}}}}
  examples:
    A:
      value:
        z: it's <5 "ü"
        a: [1, 0.5, true, null, '2026-03-02T10:00:00.000Z', {}]
`

func TestCurl_IsTheCallOfAnOperation_WithItsExamples(t *testing.T) {
	var root yaml.Node
	expect.OK(t, yaml.Unmarshal([]byte(calls), &root))
	document := root.Content[0]
	expect.OK(t, illustrate(document))
	for method, want := range map[string]string{
		"get": `curl -i "$BASE/a/b%2Fox%201?of=a%26b&by=x" \
  -H "Authorization: Bearer $TOKEN"`,
		"put": `curl -i -X PUT "$BASE/a/b%2Fox%201?of=a%26b" \
  -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' \
  -d '{
  "z": "it'\''s <5 \"ü\"",
  "a": [
    1,
    0.5,
    true,
    null,
    "2026-03-02T10:00:00.000Z",
    {}
  ]
}'`,
	} {
		operation := get(get(get(document, "paths"), "/a/{id}"), method)
		sample := get(operation, "x-codeSamples").Content[0]
		got := get(sample, "source").Value
		expect.That(t, got == want && get(sample, "label").Value == "curl", "%s: got\n%s\nwant\n%s", method, got, want)
	}
}
