package main

import (
	"encoding/json"
	"math"
	"strings"
)

// An item is an item in DynamoDB's JSON: {"name": {"S": "text"}, …}.
type item map[string]json.RawMessage

// size is the size of the item in bytes, as DynamoDB counts it: its names and values ("DynamoDB item sizes and
// formats" in the Developer Guide). The hundred bytes that storage adds do not count for capacity.
func (i item) size() int {
	n := 0
	for name, value := range i {
		n += len(name) + valueSize(value)
	}
	return n
}

// valueSize is the size of one value. A text takes its bytes in UTF-8. A number takes one byte for two digits and one
// more. A list or map takes three bytes, and one for each member. The service stores no sets and no binary values.
func valueSize(raw json.RawMessage) int {
	var typed map[string]json.RawMessage
	if json.Unmarshal(raw, &typed) != nil {
		return 0
	}
	for kind, value := range typed {
		switch kind {
		case "S":
			return len(text(value))
		case "N":
			return numberSize(text(value))
		case "BOOL", "NULL":
			return 1
		case "M":
			var members item
			if json.Unmarshal(value, &members) != nil {
				return 0
			}
			return 3 + len(members) + members.size()
		case "L":
			var members []json.RawMessage
			if json.Unmarshal(value, &members) != nil {
				return 0
			}
			n := 3 + len(members)
			for _, m := range members {
				n += valueSize(m)
			}
			return n
		}
	}
	return 0
}

func numberSize(s string) int {
	n := 1
	if strings.HasPrefix(s, "-") {
		n++
	}
	digits := strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(s), "0")
	return n + (len(digits)+1)/2
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // other values have no size
	return s
}

// units is the number of units that n bytes take, at least one.
func units(n, each int) float64 { return math.Max(1, math.Ceil(float64(n)/float64(each))) }

// A read unit holds 4 KB and a write unit 1 KB.
const (
	readUnit  = 4096
	writeUnit = 1024
)
