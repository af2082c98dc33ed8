package contract_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/shared/production/content"
	"wavegate/shared/testing/expect"
)

// TestContent_OfContractAndCode_AreTheSame compares the contents of real methods, and each of them with one change. If
// the code says more than a schema can, the contract may accept what the code refuses.
func TestContent_OfContractAndCode_AreTheSame(t *testing.T) {
	schema := document(t).Components.Schemas["MethodContent"].Value
	taken := func(text string) bool {
		var v any
		expect.OK(t, json.Unmarshal([]byte(text), &v))
		return schema.VisitJSON(v) == nil
	}
	const folder = "../production/content/testdata/"
	files := expect.Value(filepath.Glob(folder + "*.json"))(t)
	expect.Must(t, len(files) >= 13, "only %d contents", len(files))
	for _, name := range files {
		text := expect.Value(os.ReadFile(name))(t)
		if _, faults := content.Parse(text); len(faults) > 0 || !taken(string(text)) {
			t.Errorf("%s: faults %v, the contract takes it: %v", name, faults, taken(string(text)))
		}
	}
	anodizing := expect.Value(os.ReadFile(folder + "anodizing.json"))(t)
	for _, c := range []struct {
		from, to       string
		code, contract bool // which of them take it
	}{
		{`"form": 1`, `"form": 2`, false, false},
		{`"form": 1`, `"form": 1, "colour": "red"`, false, false},
		{`"unit": "{piece}"},
  "attributes"`, `"unit": "ä"},
  "attributes"`, false, false},
		{`"quantity": 40, "unit": "{piece}"},
  "attributes"`, `"quantity": 0, "unit": "{piece}"},
  "attributes"`, false, false},
		{`"PT10M"`, `"P1D"`, false, false},
		{`"PT10M"`, `"PT"`, false, false},
		{`"PT10M"`, `"PT10H9M8.125S"`, true, true},
		{`"PT10M"`, `"PT8.125S"`, true, true},
		{`"PT10M"`, `"PT8.1255S"`, false, false},
		{`"name": "Degrease"`, `"name": " Degrease"`, false, false},
		{`"name": "Degrease"`, `"name": "D"`, true, true},
		{`"name": "Degrease"`, `"name": ""`, false, false},
		{`"name": "Degrease"`, `"name": "a\u2028b"`, false, false},
		{`"name": "Degrease"`, `"name": "` + strings.Repeat("x", 200) + `"`, true, true},
		{`"name": "Degrease"`, `"name": "` + strings.Repeat("x", 201) + `"`, false, false},
		{`"critical": true}]}`, `"critical": "yes"}]}`, false, false},
		{`{"class": "anodizing-line"}`, `{}`, false, false},
		{`{"class": "anodizing-line"}`, `{"class": "a", "machines": ["b"]}`, false, false},
		{`["anod-tank-1", "anod-tank-2"]`, `["anod-tank-2", "anod-tank-2"]`, false, false},
		{`"R-4711"`, `""`, true, true},
		{`"R-4711"`, `7`, false, false},
		{`Titanium racks`, `Titanium\tracks`, true, true},
		{`Titanium racks`, `Titanium\u0007racks`, false, false},
		{`https://docs`, `http://docs`, false, false},
		{`"6f1b3a4c`, `"6F1B3A4C`, false, false},
		// What a schema cannot express, or what this test's library ignores.
		{`"erpRouting"`, `"erp routing"`, false, true},
		{`"unit": "Cel"`, `"unit": "degC"`, false, true},
		{`"target": 55, "min": 50`, `"target": 49, "min": 50`, false, true},
		{`"id": "20"`, `"id": "10"`, false, true},
		{`"machine": "anod-tank-2"`, `"machine": "anod-tank-3"`, false, true},
		{`"text": "P07"`, `"text": "P07", "max": 3, "unit": "s"`, false, true},
	} {
		text := string(anodizing)
		expect.Must(t, strings.Contains(text, c.from), "the sample has no %s", c.from)
		text = strings.Replace(text, c.from, c.to, 1)
		_, faults := content.Parse([]byte(text))
		if code, contract := len(faults) == 0, taken(text); code != c.code || contract != c.contract {
			t.Errorf("%s → %s: the code takes it: %v, the contract: %v; %v", c.from, c.to, code, contract, faults)
		}
	}
}
