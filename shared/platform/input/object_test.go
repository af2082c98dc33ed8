package input_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/input"
)

// read reads a text with the given function and lists its faults, as "pointer code".
func read(t *testing.T, text string, ask func(*input.Object)) []string {
	t.Helper()
	if err := input.CheckJSON([]byte(text)); err != nil {
		t.Fatalf("%s %v", text, err)
	}
	var faults input.Faults
	o := input.ObjectOf([]byte(text), &faults)
	ask(o)
	o.Unread(&faults)
	var list []string
	for _, f := range faults.List() {
		list = append(list, f.Pointer+" "+f.Code)
	}
	return list
}

func TestObject_NestedFaults_HaveTheirPointers(t *testing.T) {
	text := `{"id":7,"steps":[{"name":"a"},{"name":"B!","more":1},3,{"a/b~c":[],"name":"x","name":"y"}],"tags":["a","b","a","B",1],"extra":null}`
	got := read(t, text, func(o *input.Object) {
		o.Text("id", word)
		o.Objects("steps", 0, 9, func(step *input.Object) {
			step.Text("name", word)
			step.Object("inner", func(*input.Object) {})
		})
		o.Texts("tags", 1, 9, word)
		o.Text("missing", word)
		o.Require("one", "other")
	})
	want := []string{"/id type", "/steps/1/name format", "/steps/1/more unknown", "/steps/2 type", "/steps/3/a~1b~0c unknown",
		"/steps/3/name duplicate", "/tags/2 duplicate", "/tags/3 format", "/tags/4 type", "/missing required", " required", "/extra unknown"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestObject_ListsAreBounded(t *testing.T) {
	for text, want := range map[string]string{`{"l":[]}`: "/l length", `{"l":["a"]}`: "", `{"l":["a","b"]}`: "", `{"l":["a","b","c","C"]}`: "/l length", `{"l":{}}`: "/l type"} {
		got := strings.Join(read(t, text, func(o *input.Object) { o.Texts("l", 1, 2, word) }), ",")
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestOptionalNumber_AcceptsNumbersThatFitFloat64(t *testing.T) {
	for literal, want := range map[string]string{
		"0": "0", "-0": "-0", "0.00": "0", "1": "1", "-1.5": "-1.5", "1e3": "1000", "0.1": "0.1", "123456789012345": "1.23456789012345e+14",
		"1.234567890123450": "1.23456789012345", "1234567890123456": "range", "12345678901234.56": "format", "0.1234567890123456": "format", "1e15": "1e+15",
		"1000000000000001": "range", "1e16": "range", "-1e300": "range", "1e400": "range", "1e-15": "1e-15", "1e-16": "range", "1e-400": "range",
		`"1"`: "type", "null": "type", "true": "type",
	} {
		var got string
		faults := read(t, `{"n":`+literal+`}`, func(o *input.Object) {
			n, _, _ := o.OptionalNumber("n")
			got = fmt.Sprint(n)
		})
		if len(faults) > 0 {
			got = strings.TrimPrefix(faults[0], "/n ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", literal, got, want)
		}
	}
}

func TestObject_NamesAndBooleans(t *testing.T) {
	var names []string
	var yes, no, absent bool
	faults := read(t, `{"yes":true,"no":false,"inner":{"b":"x","a":"y","b":"z"},"odd":1}`, func(o *input.Object) {
		yes, no, absent = o.Boolean("yes"), o.Boolean("no"), o.Boolean("absent")
		o.Object("inner", func(inner *input.Object) { names = inner.Names() })
		o.Boolean("odd")
	})
	if !yes || no || absent || !slices.Equal(names, []string{"b", "a"}) || !slices.Equal(faults, []string{"/inner/b duplicate", "/odd type"}) {
		t.Errorf("got %v, %v, %v, %q, %q", yes, no, absent, names, faults)
	}
}

func TestOptionalBoolean_False_IsGiven(t *testing.T) {
	for text, want := range map[string][2]bool{`{"b":true}`: {true, true}, `{"b":false}`: {false, true}, `{}`: {false, false}} {
		var b, given bool
		if faults := read(t, text, func(o *input.Object) { b, given = o.OptionalBoolean("b") }); len(faults) > 0 || [2]bool{b, given} != want {
			t.Errorf("%s: %v, given: %v, faults %q", text, b, given, faults)
		}
	}
}

func TestIntegers_AreDifferentAndFollowTheirRule(t *testing.T) {
	for text, want := range map[string]struct {
		numbers []int64
		faults  []string
	}{
		`{"n":[50,1e1]}`:          {[]int64{50, 10}, nil},
		`{"n":[]}`:                {nil, nil},
		`{}`:                      {nil, nil},
		`{"n":[10,10.0,11,"10"]}`: {[]int64{10}, []string{"/n length", "/n/1 duplicate", "/n/2 range"}},
		`{"n":[10.5,"10",null]}`:  {nil, []string{"/n/0 range", "/n/1 type", "/n/2 type"}},
		`{"n":10}`:                {nil, []string{"/n type"}},
	} {
		var got []int64
		faults := read(t, text, func(o *input.Object) {
			got, _ = o.Integers("n", 0, 3, &input.Integer{OneOf: []int{10, 50, 100}})
		})
		if !slices.Equal(got, want.numbers) || !slices.Equal(faults, want.faults) {
			t.Errorf("%s: %v, faults %q; want %v, %q", text, got, faults, want.numbers, want.faults)
		}
	}
}
