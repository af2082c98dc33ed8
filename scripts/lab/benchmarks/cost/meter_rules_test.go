package main

import (
	"encoding/json"
	"strings"
	"testing"

	"wavegate/shared/platform/dynamo"
)

func parse(t *testing.T, s string) item {
	t.Helper()
	var i item
	if err := json.Unmarshal([]byte(s), &i); err != nil {
		t.Fatal(err)
	}
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
		if got := parse(t, text).size(); got != want {
			t.Errorf("%s is %d bytes, want %d", text, got, want)
		}
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
		if got := audit.writeUnits(event(size), true); got != want {
			t.Errorf("an event of %d bytes takes %g units, want %g", size, got, want)
		}
	}
	// A row that moves to another partition of an index is deleted there and added again.
	edges := target{table: dynamo.TableOf(dynamo.Edges)}
	edges.before = parse(t, `{"edgeId":{"S":"e"},"pair":{"S":"a/b"},"organizationId":{"S":"o"}}`)
	if got := edges.writeUnits(parse(t, `{"edgeId":{"S":"e"},"pair":{"S":"a/c"},"organizationId":{"S":"o"}}`), false); got != 1+2+1 {
		t.Errorf("a move takes %g units", got)
	}
	if got := edges.writeUnits(edges.before, false); got != 1 {
		t.Errorf("a write that changes nothing takes %g units", got)
	}
}
