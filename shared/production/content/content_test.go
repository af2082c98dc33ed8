package content_test

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/production/content"
	"wavegate/shared/testing/expect"
)

//go:embed testdata/*.json
var samples embed.FS

// sample returns the text of a real method: anodizing, milling or reflow.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	text := expect.Value(samples.ReadFile("testdata/" + name + ".json"))(t)
	return text
}

func parsed(t testing.TB, text []byte) content.Content {
	t.Helper()
	c, faults := content.Parse(text)
	expect.Must(t, len(faults) == 0, "%v in %s", faults, text)
	return c
}

// The hashes were computed once with two libraries for RFC 8785: rfc8785 (PyPI) and canonicalize (npm).
func TestParse_RealMethods_HaveNoFaultAndTheHashOfOtherLibraries(t *testing.T) {
	for name, want := range map[string]struct {
		bytes int
		hash  string
	}{
		"anodizing": {3695, "6f9965869675fb0b5183ab75d90b8e50e0efd7d9acd66e4dabd467456cf77233"},
		"milling":   {2806, "dc8d04bae4f72ef7c7f4c335325d25edea0f09fa9b81bfbbf09b54238230cfdb"},
		"reflow":    {3110, "28f923d1a86e7d136938b544b89090ebccf41760d885f43d1c5d1a00dcdeed98"},
	} {
		c := parsed(t, sample(t, name))
		if len(c.Bytes()) != want.bytes || c.SHA256() != want.hash {
			t.Errorf("%s: %d bytes, hash %s", name, len(c.Bytes()), c.SHA256())
		}
		all := func(string, string) bool { return true }
		missing := c.Missing(all)
		expect.That(t, len(missing) == 0, "%s: %v", name, missing)
	}
}

func TestEquipment_IsListedOnceInOrder(t *testing.T) {
	c := parsed(t, sample(t, "milling"))
	if got := c.Machines(); !slices.Equal(got, []string{"mill-03", "mill-04"}) {
		t.Errorf("machines %q", got)
	}
	got := c.Classes()
	expect.That(t, slices.Equal(got, []string{"band-saw", "cmm", "parts-washer"}), "classes %q", got)
}

// one is a small content with one of each element. Each case below adds one fault to it.
const one = `{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"attributes":{"erp":"R-1"},"steps":[
 {"id":"10","name":"Mill","equipment":{"machines":["m1","m2"]},"setup":"PT5M","run":{"time":"PT1M30.5S","per":{"quantity":1,"unit":"{piece}"}},
  "parameters":[{"id":"speed","name":"Speed","target":5,"min":4,"max":6,"unit":"/min","critical":true,"overrides":[{"machine":"m2","target":5.5}]},
   {"id":"program","text":"P1","overrides":[{"machine":"m1","text":"P2"}]},
   {"id":"heat","points":[{"x":0,"y":20,"min":10,"max":30},{"x":5.5,"y":180}],"xUnit":"min","unit":"Cel","overrides":[{"machine":"m1","points":[{"x":0,"y":21},{"x":5.5,"y":185}]}]}],
  "inputs":[{"material":"BAR","quantity":0.1,"unit":"m","lotTracked":true}],"outputs":[{"material":"PART","quantity":1,"unit":"{piece}"}],
  "checks":[{"id":"bore","name":"Bore","min":1,"max":2,"unit":"mm","every":{"quantity":5,"unit":"{piece}"},"standard":"ISO 1","critical":true},
   {"id":"look","name":"Look","accept":"no room in the scratch table"}],
  "instructions":"Line one.\n\tLine two.","documents":[{"title":"Plan","url":"https://docs.example.com/p","sha256":"@","machines":["m1"]}],"attributes":{"k":""}},
 {"id":"20","name":"Wash","equipment":{"class":"washer"}},{"id":"30","name":"By hand"}]}`

var digest = strings.Repeat("0a", 32)

// with returns one, with old replaced by other.
func with(t *testing.T, old, other string) []byte {
	t.Helper()
	text := strings.Replace(one, "@", digest, 1)
	expect.Must(t, strings.Contains(text, old), "no %s in the content", old)
	return []byte(strings.Replace(text, old, other, 1))
}

func TestParse_OneFault_HasItsPointer(t *testing.T) {
	parsed(t, with(t, "", ""))
	for _, c := range []struct{ old, other, want string }{
		{`"form":1,`, ``, "/form required"},
		{`"form":1,`, `"form":2,`, "/form range"},
		{`"form":1,`, `"form":1,"form":1,`, "/form duplicate"},
		{`"form":1,`, `"form":1,"title":"x",`, "/title unknown"},
		{`"basis":{"quantity":1,"unit":"{piece}"},`, ``, "/basis required"},
		{`"basis":{"quantity":1,`, `"basis":{`, "/basis/quantity required"},
		{`"basis":{"quantity":1,`, `"basis":{"quantity":0,`, "/basis/quantity range"},
		{`"basis":{"quantity":1,`, `"basis":{"quantity":"1",`, "/basis/quantity type"},
		{`"basis":{"quantity":1,`, `"basis":{"quantity":1.0000000000000001,`, "/basis/quantity format"},
		{`"basis":{"quantity":1,`, `"basis":{"quantity":1e16,`, "/basis/quantity range"},
		{`"id":"10"`, `"id":"1 0"`, "/steps/0/id format"},
		{`"id":"20"`, `"id":"10"`, "/steps/1/id duplicate"},
		{`"id":"20",`, ``, "/steps/1/id required"},
		{`"name":"Mill",`, `"name":" Mill",`, "/steps/0/name format"},
		{`"name":"Mill",`, `"name":"Mi\u2028ll",`, "/steps/0/name format"},
		{`"name":"Mill",`, `"name":null,`, "/steps/0/name type"},
		{`{"class":"washer"}`, `{}`, "/steps/1/equipment required"},
		{`{"class":"washer"}`, `{"class":"washer","machines":["m1"]}`, "/steps/1/equipment required"},
		{`["m1","m2"]`, `["m1","m2","m1"]`, "/steps/0/equipment/machines/2 duplicate"},
		{`["m1","m2"]`, `["m1","m2","",3]`, "/steps/0/equipment/machines/2 format"},
		{`"setup":"PT5M"`, `"setup":"P1D"`, "/steps/0/setup format"},
		{`"setup":"PT5M"`, `"setup":"PT"`, "/steps/0/setup format"},
		{`"time":"PT1M30.5S"`, `"time":"PT1M30.5555S"`, "/steps/0/run/time format"},
		{`,"per":{"quantity":1,"unit":"{piece}"}`, ``, "/steps/0/run/per required"},
		{`"target":5,"min"`, `"target":7,"min"`, "/steps/0/parameters/0/target range"},
		{`"min":4,"max":6,`, `"min":4.5,"max":4.4,`, "/steps/0/parameters/0/max range"},
		{`"unit":"/min",`, ``, "/steps/0/parameters/0/unit required"},
		{`"unit":"/min"`, `"unit":"RPM"`, "/steps/0/parameters/0/unit format"},
		{`"text":"P1",`, `"text":"P1","target":3,"unit":"1",`, "/steps/0/parameters/1 required"},
		{`"text":"P1",`, `"text":"P1","unit":"m",`, "/steps/0/parameters/1/unit exclusive"},
		{`"id":"program"`, `"id":"speed"`, "/steps/0/parameters/1/id duplicate"},
		{`"critical":true,"overrides"`, `"critical":1,"overrides"`, "/steps/0/parameters/0/critical type"},
		{`{"machine":"m2","target":5.5}`, `{"machine":"m2","target":6.5}`, "/steps/0/parameters/0/overrides/0/target range"},
		{`{"machine":"m2","target":5.5}`, `{"machine":"m2"}`, "/steps/0/parameters/0/overrides/0/target required"},
		{`{"machine":"m2","target":5.5}`, `{"machine":"m3","target":5.5}`, "/steps/0/parameters/0/overrides/0/machine reference"},
		{`{"machine":"m1","text":"P2"}`, `{"machine":"m1","target":1}`, "/steps/0/parameters/1/overrides/0/target exclusive"},
		{`{"machine":"m1","text":"P2"}`, `{"machine":"m1","text":"P2"},{"machine":"m1","text":"P3"}`, "/steps/0/parameters/1/overrides/1/machine duplicate"},
		{`[{"machine":"m1","text":"P2"}]`, `[]`, "/steps/0/parameters/1/overrides length"},
		{`{"x":5.5,"y":180}`, `{"x":0,"y":180}`, "/steps/0/parameters/2/points/1/x range"},
		{`{"x":5.5,"y":180}`, `{"x":-1,"y":180}`, "/steps/0/parameters/2/points/1/x range"},
		{`{"x":5.5,"y":180}`, `{"x":5.5}`, "/steps/0/parameters/2/points/1/y required"},
		{`"y":20,"min":10`, `"y":9,"min":10`, "/steps/0/parameters/2/points/0/y range"},
		{`"min":10,"max":30`, `"min":31,"max":30`, "/steps/0/parameters/2/points/0/max range"},
		{`,{"x":5.5,"y":180}]`, `]`, "/steps/0/parameters/2/points length"},
		{`"xUnit":"min",`, ``, "/steps/0/parameters/2/xUnit required"},
		{`"xUnit":"min","unit":"Cel",`, `"xUnit":"min",`, "/steps/0/parameters/2/unit required"},
		{`"xUnit":"min"`, `"xUnit":"mins"`, "/steps/0/parameters/2/xUnit format"},
		{`"unit":"Cel","overrides"`, `"unit":"Cel","text":"x","overrides"`, "/steps/0/parameters/2 required"},
		{`{"x":0,"y":21},`, `{"x":1,"y":21},`, "/steps/0/parameters/2/overrides/0/points reference"},
		{`{"x":0,"y":21},`, `{"x":0,"y":31},`, "/steps/0/parameters/2/overrides/0/points/0 range"},
		{`{"x":0,"y":21},`, `{"x":0,"y":21,"min":1},`, "/steps/0/parameters/2/overrides/0/points/0/min unknown"},
		{`"unit":"Cel","overrides"`, `"unit":"C","quantity":"Temperature","overrides"`, "/steps/0/parameters/2/unit format"},
		{`"unit":"Cel","overrides"`, `"unit":"C","quantity":"heat","overrides"`, "/steps/0/parameters/2/quantity format"},
		{`"text":"P1",`, `"text":"P1","quantity":"program",`, "/steps/0/parameters/1/quantity exclusive"},
		{`"material":"BAR"`, `"material":""`, "/steps/0/inputs/0/material length"},
		{`"lotTracked":true`, `"lotTracked":"yes"`, "/steps/0/inputs/0/lotTracked type"},
		{`"outputs":[{`, `"outputs":[{"material":"PART","quantity":1,"unit":"{piece}"},{`, "/steps/0/outputs/1/material duplicate"},
		{`"name":"Bore","min":1,"max":2,"unit":"mm",`, `"name":"Bore",`, "/steps/0/checks/0 required"},
		{`"name":"Bore","min":1,"max":2,`, `"name":"Bore","target":1,`, "/steps/0/checks/0 required"},
		{`"accept":"no room in the scratch table"`, `"accept":"no room in the scratch table","max":1,"unit":"mm"`, "/steps/0/checks/1 required"},
		{`"standard":"ISO 1"`, `"standard":7`, "/steps/0/checks/0/standard type"},
		{`Line two`, `Line\u0000two`, "/steps/0/instructions format"},
		{`https://docs`, `http://docs`, "/steps/0/documents/0/url format"},
		{digest, strings.ToUpper(digest), "/steps/0/documents/0/sha256 format"},
		{`"machines":["m1"]}`, `"machines":["m9"]}`, "/steps/0/documents/0/machines/0 reference"},
		{`{"k":""}`, `{"k":1}`, "/steps/0/attributes/k type"},
		{`{"k":""}`, `{"k k":""}`, "/steps/0/attributes/k k format"},
		{`{"erp":"R-1"}`, `[]`, "/attributes type"},
	} {
		text := with(t, c.old, c.other)
		_, faults := content.Parse(text)
		var got []string
		for _, f := range faults {
			got = append(got, f.Pointer+" "+f.Code)
		}
		if len(got) == 0 || got[0] != c.want || len(got) > 1 && !strings.Contains(c.other, ",3]") {
			t.Errorf("%s → %s: got %q, want %q", c.old, c.other, got, c.want)
		}
	}
}

func TestDoubts_NameEachUnitThatIsProbablyNotMeant_Once(t *testing.T) {
	expect.Equal(t, len(parsed(t, with(t, "", "")).Doubts()), 0, "doubts of a content whose units are meant")
	list := parsed(t, with(t, `"unit":"Cel","overrides"`, `"unit":"C","overrides"`)).Doubts()
	expect.Must(t, len(list) == 1, "%v", list)
	expect.Equal(t, list[0].Pointer, "/steps/0/parameters/2/unit", "the pointer")
	expect.Equal(t, list[0].Detail, "C is coulomb, a unit of electric charge; for temperature, write Cel", "the sentence")
	meant := parsed(t, with(t, `"unit":"Cel","overrides"`, `"unit":"C","quantity":"electric charge","overrides"`))
	expect.Equal(t, len(meant.Doubts()), 0, "doubts of a unit that is said to be meant")
	expect.Equal(t, meant.Units()["C"], "coulomb", "the name of a unit")
}

func TestParse_Bounds(t *testing.T) {
	step := func(i int, more string) string { return fmt.Sprintf(`{"id":"%d","name":"s"%s}`, i, more) }
	steps := func(n int, more func(int) string) []byte {
		list := make([]string, n)
		for i := range list {
			list[i] = step(i, more(i))
		}
		return []byte(`{"form":1,"basis":{"quantity":1,"unit":"1"},"steps":[` + strings.Join(list, ",") + `]}`)
	}
	nothing := func(int) string { return "" }
	class := func(i int) string { return fmt.Sprintf(`,"equipment":{"class":"c%d"}`, i) }
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"no step":         {steps(0, nothing), ""},
		"100 steps":       {steps(100, nothing), ""},
		"101 steps":       {steps(101, nothing), "/steps length"},
		"40 classes":      {steps(40, class), ""},
		"41 classes":      {steps(41, class), "/steps/40/equipment length"},
		"4000 characters": {steps(1, func(int) string { return `,"instructions":"` + strings.Repeat("ß", 4000) + `"` }), ""},
		"4001 characters": {steps(1, func(int) string { return `,"instructions":"` + strings.Repeat("ß", 4001) + `"` }), "/steps/0/instructions length"},
		"long spelling":   {steps(100, func(int) string { return `,"attributes":{` + longNumbers() + `}` }), "/steps/0/attributes/a0 type"},
		"not an object":   {[]byte(`[]`), " type"},
		"two values":      {[]byte(`{} {}`), " format"},
		"nothing":         {nil, " format"},
	} {
		_, faults := content.Parse(c.text)
		got := ""
		if len(faults) > 0 {
			got = faults[0].Pointer + " " + faults[0].Code
		}
		expect.Equal(t, got, c.want, "%s:", name)
	}
}

func longNumbers() string {
	list := make([]string, 20)
	for i := range list {
		list[i] = fmt.Sprintf(`"a%d":1e15`, i)
	}
	return strings.Join(list, ",")
}

func TestParse_Faults_AreAllFoundAtOnce(t *testing.T) {
	var text map[string]any
	expect.OK(t, json.Unmarshal(sample(t, "anodizing"), &text))
	for _, s := range text["steps"].([]any) {
		for i := range 20 {
			s.(map[string]any)[fmt.Sprintf("extra%d", i)] = i
		}
	}
	broken := expect.Value(json.Marshal(text))(t)
	_, faults := content.Parse(broken)
	expect.That(t, len(faults) == 160, "%d faults, want 160", len(faults))
}

func TestMissing_ListsWhyAContentIsIncomplete(t *testing.T) {
	factory := func(machine, _ string) bool { return machine != "m2" }
	got := []string{}
	for _, f := range parsed(t, with(t, `"outputs":[{"material":"PART","quantity":1,"unit":"{piece}"}],`, "")).Missing(factory) {
		got = append(got, f.Pointer+" "+f.Code)
	}
	want := []string{"/steps/0/equipment/machines/1 reference", "/steps/1/run required", "/steps/2/run required", "/steps required"}
	expect.That(t, slices.Equal(got, want), "got %q, want %q", got, want)
	empty := parsed(t, []byte(`{"form":1,"basis":{"quantity":1,"unit":"1"},"steps":[]}`))
	faults := empty.Missing(factory)
	expect.That(t, len(faults) == 1 && faults[0].Pointer == "/steps", "without steps: %v", faults)
}

// In a step with a class, overrides and documents are only for machines that have the class.
func TestMissing_OverrideOrDocumentForNoMachine_IsToldWithItsPointer(t *testing.T) {
	text := strings.NewReplacer(`{"machines":["m1","m2"]}`, `{"class":"mill"}`, "@", digest).Replace(one)
	c, faults := content.Parse([]byte(text))
	expect.Must(t, len(faults) == 0, "%v", faults)
	expect.Equal(t, strings.Join(c.Named(), " "), "m1 m2", "named:")
	var got []string
	for _, f := range c.Missing(func(machine, class string) bool { return machine == "m1" && class == "mill" }) {
		got = append(got, f.Pointer)
	}
	want := "/steps/0/parameters/0/overrides/0/machine /steps/1/run /steps/2/run"
	expect.That(t, strings.Join(got, " ") == want, "got %q, want %q", got, want)
	var at []string
	for _, f := range c.Missing(func(string, string) bool { return false }) {
		if f.Code == "reference" {
			at = append(at, f.Pointer)
		}
	}
	want = "/steps/0/parameters/0/overrides/0/machine /steps/0/parameters/1/overrides/0/machine /steps/0/parameters/2/overrides/0/machine /steps/0/documents/0/machines/0"
	expect.That(t, strings.Join(at, " ") == want, "got %q, want %q", at, want)
}

func TestRoute_IsTheStepsThatMachinesDo(t *testing.T) {
	c := parsed(t, with(t, "Line one", "Line"))
	var got []string
	for _, s := range c.Route() {
		got = append(got, s.Pointer+" "+s.ID+" "+s.Equipment())
	}
	expect.That(t, strings.Join(got, "|") == "/steps/0 10 m1, m2|/steps/1 20 class washer", "got %q", got)
}

// The bytes of a content are hashed, so a text is refused, not normalized.
func TestParse_TextNotInNFC_OrThatCannotBeSeen_IsRefusedWithItsPointer(t *testing.T) {
	for text, pointer := range map[string]string{
		string(with(t, `"name":"Mill"`, `"name":"Fra\u0308sen"`)):                      "/steps/0/name",
		string(with(t, `"name":"Mill"`, `"name":"Mill\u202e"`)):                        "/steps/0/name",
		string(with(t, "Line one", "Line \u200bone")):                                  "/steps/0/instructions",
		string(with(t, "Line one", "Li\u006e\u0303e one")):                             "/steps/0/instructions",
		string(with(t, `"material":"BAR"`, `"material":"BAR\ufdd0"`)):                  "/steps/0/inputs/0/material",
		string(with(t, `"attributes":{"erp":"R-1"}`, `"attributes":{"erp":"\u2066"}`)): "/attributes/erp",
	} {
		_, faults := content.Parse([]byte(text))
		expect.That(t, len(faults) == 1 && faults[0].Pointer == pointer && faults[0].Code == "format",
			"%s: %v", pointer, faults)
	}
}
