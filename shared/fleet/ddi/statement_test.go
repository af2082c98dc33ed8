package ddi

import (
	"testing"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestStatement_AttributesFollowTheModeOfHawkBit(t *testing.T) {
	type said = map[string]string
	before := said{"a": "1", "b": "2"}
	for body, want := range map[string]said{
		`{"data":{"installed":"1.0.0"}}`:                                        before,
		`{"data":{"b":"3","c":"4"}}`:                                            {"a": "1", "b": "3", "c": "4"},
		`{"mode":"merge","data":{"b":"3"},"id":"","time":"x"}`:                  {"a": "1", "b": "3"},
		`{"mode":"replace","data":{"b":"3","installed":"1.0.0"}}`:               {"b": "3"},
		`{"mode":"replace","data":{"installed":"1.0.0"}}`:                       nil,
		`{"mode":"remove","data":{"b":"","x":"1"}}`:                             {"a": "1"},
		`{"mode":7,"data":{"c":"\u0000","d e":"1","e":{"f":"1"},"g":1,"h":""}}`: {"a": "1", "b": "2", "d_e": "1", "g": "1"},
	} {
		s, _ := hear(body, StatementOf)
		row, _ := report.Next(report.Row{EdgeID: "box-1", Said: before}, s)
		expect.Equal(t, row.Said, want, "after %s, the box says", body)
	}
}

// FuzzStatement: whatever a client says, only attributes that a box may have are kept, and the same again changes nothing.
func FuzzStatement(f *testing.F) {
	f.Add(`{"mode":"replace","data":{"installed":"1.0.0","hw":"\u202e","board":"C","n":7}}`)
	f.Add(`{"mode":"remove","data":{"board":""}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s, _ := hear(body, StatementOf)
		row, _ := report.Next(report.Row{EdgeID: "box-1", Said: map[string]string{"board": "A"}}, s)
		kept := report.Fitting(row.Said, nil)
		expect.That(t, len(kept) == len(row.Said), "of %v, %v are valid", row.Said, kept)
		_, changed := report.Next(row, s)
		expect.That(t, !changed, "%q again changes %v", body, row)
	})
}
