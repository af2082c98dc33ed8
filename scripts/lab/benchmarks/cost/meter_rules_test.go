package main

import (
	"encoding/json"
	"strings"
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

func parse(t *testing.T, s string) item {
	t.Helper()
	var i item
	expect.OK(t, json.Unmarshal([]byte(s), &i))
	return i
}

func TestSize_FollowsTheDeveloperGuide(t *testing.T) {
	for text, want := range map[string]int{
		`{}`:                                  0,
		`{"ab": {"S": "grün"}}`:               2 + 5,
		`{"n": {"N": "27"}}`:                  1 + 2,
		`{"n": {"N": "-27"}}`:                 1 + 3,
		`{"n": {"N": "100"}}`:                 1 + 2,
		`{"n": {"N": "123.45"}}`:              1 + 4,
		`{"t": {"BOOL": true}}`:               1 + 1,
		`{"t": {"NULL": true}}`:               1 + 1,
		`{"l": {"L": []}}`:                    1 + 3,
		`{"l": {"L": [{"S": "a"}]}}`:          1 + 3 + 1 + 1,
		`{"m": {"M": {"k": {"S": "value"}}}}`: 1 + 3 + 1 + 1 + 5,
	} {
		expect.Equal(t, parse(t, text).size(), want, "the bytes of %s:", text)
	}
}

func TestWriteUnits_ATransactionIsTwice_AndIndexesComeOnTop(t *testing.T) {
	audit := target{table: dynamo.TableOf(dynamo.Audit)}
	event := func(bytes int) item {
		i := parse(t, `{"stream":{"S":"s"},"position":{"S":"p"},"streamResource":{"S":"r"},"streamActor":{"S":"a"},"streamResourceActor":{"S":"x"}}`)
		i["pad"] = json.RawMessage(`{"S":"` + strings.Repeat("x", bytes-i.size()-3) + `"}`)
		return i
	}
	for size, want := range map[int]float64{1024: 2 + 3, 1025: 4 + 6} {
		expect.Equal(t, audit.writeUnits(event(size), true), want, "the units of an event of %d bytes:", size)
	}
	// A row that moves to another partition of an index is deleted there and added again.
	edges := target{table: dynamo.TableOf(dynamo.Edges)}
	edges.before = parse(t, `{"edgeId":{"S":"e"},"pair":{"S":"a/b"},"organizationId":{"S":"o"}}`)
	expect.Equal(t, edges.writeUnits(parse(t, `{"edgeId":{"S":"e"},"pair":{"S":"a/c"},"organizationId":{"S":"o"}}`),
		false), 1+2+1, "the units of a move:")
	expect.Equal(t, edges.writeUnits(edges.before, false), 1, "the units of a write that changes nothing:")
}
