package input_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/input"
)

// read reads a text with the given function and lists its faults, as "pointer code".
func read(t *testing.T, text string, shape *input.Shape, ask func(*input.Object)) []string {
	t.Helper()
	if err := input.CheckJSON([]byte(text)); err != nil {
		t.Fatalf("%s %v", text, err)
	}
	var faults input.Faults
	o := input.ObjectOf([]byte(text), shape, &faults)
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
	shape := &input.Shape{
		Fields: input.Fields{
			{Name: "id", Is: word},
			{Name: "steps", Is: &input.List{Most: 9, Of: &input.Shape{Fields: input.Fields{
				{Name: "name", Is: word},
				{Name: "inner", Is: &input.Shape{}},
			}}}},
			{Name: "tags", Is: &input.List{Of: word, Least: 1, Most: 9}},
			{Name: "missing", Is: word, Required: true},
			{Name: "one", Is: word},
			{Name: "other", Is: word},
		},
		AnyOf: []string{"one", "other"},
	}
	want := []string{"/id type", "/steps/1/name format", "/steps/1/more unknown", "/steps/2 type", "/steps/3/a~1b~0c unknown",
		"/steps/3/name duplicate", "/tags/2 duplicate", "/tags/3 format", "/tags/4 type", "/missing required", " required", "/extra unknown"}
	for name, ask := range map[string]func(*input.Object){
		"nothing is asked for": func(*input.Object) {},
		"everything is": func(o *input.Object) {
			o.Text("id")
			o.Objects("steps", func(step *input.Object) { step.Text("name") })
			o.Texts("tags")
			o.Text("missing")
			o.RequireAny()
		},
	} {
		if got := read(t, text, shape, ask); !slices.Equal(got, want) {
			t.Errorf("%s: got %q\nwant %q", name, got, want)
		}
	}
}

// TestObject_WhatIsNotDeclared_Panics: a handler cannot read what its operation does not declare.
func TestObject_WhatIsNotDeclared_Panics(t *testing.T) {
	shape := &input.Shape{Fields: input.Fields{{Name: "id", Is: word}}}
	for name, ask := range map[string]func(*input.Object){
		"another name":  func(o *input.Object) { o.Text("name") },
		"another type":  func(o *input.Object) { o.Integer("id") },
		"no such list":  func(o *input.Object) { o.Texts("id") },
		"no such shape": func(o *input.Object) { o.Object("id", func(*input.Object) {}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: was read", name)
				}
			}()
			ask(input.ObjectOf([]byte(`{}`), shape, &input.Faults{}))
		}()
	}
}

func TestObject_Open_TakesFurtherFields(t *testing.T) {
	shape := &input.Shape{Open: true, Fields: input.Fields{{Name: "words", Is: &input.List{}}}}
	var words []string
	faults := read(t, `{"more":1,"words":["a",2,{},"b"]}`, shape, func(o *input.Object) { words = o.Strings("words") })
	if len(faults) > 0 || !slices.Equal(words, []string{"a", "b"}) {
		t.Errorf("read %q with %q", words, faults)
	}
}

func TestObject_ListsAreBounded(t *testing.T) {
	for text, want := range map[string]string{`{"l":[]}`: "/l length", `{"l":["a"]}`: "", `{"l":["a","b"]}`: "", `{"l":["a","b","c","C"]}`: "/l length", `{"l":{}}`: "/l type"} {
		got := strings.Join(read(t, text, &input.Shape{Fields: input.Fields{{Name: "l", Is: &input.List{Of: word, Least: 1, Most: 2}}}}, func(*input.Object) {}), ",")
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
		faults := read(t, `{"n":`+literal+`}`, &input.Shape{Fields: input.Fields{{Name: "n", Is: input.Number{}}}}, func(o *input.Object) {
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
	var yes, no, absent bool
	shape := &input.Shape{Fields: input.Fields{
		{Name: "yes", Is: input.Boolean{}}, {Name: "no", Is: input.Boolean{}}, {Name: "absent", Is: input.Boolean{}}, {Name: "odd", Is: input.Boolean{}},
		{Name: "inner", Is: &input.Shape{Names: word, Texts: word, Most: 2}},
	}}
	text := `{"yes":true,"no":false,"inner":{"b":"x","a":1,"b":"z","C":"Y"},"odd":1}`
	faults := read(t, text, shape, func(o *input.Object) { yes, no, absent = o.Boolean("yes"), o.Boolean("no"), o.Boolean("absent") })
	want := []string{"/odd type", "/inner length", "/inner/a type", "/inner/C format", "/inner/C format", "/inner/b duplicate"}
	if !yes || no || absent || !slices.Equal(faults, want) {
		t.Errorf("got %v, %v, %v, %q", yes, no, absent, faults)
	}
}

func TestOptionalBoolean_False_IsGiven(t *testing.T) {
	for text, want := range map[string][2]bool{`{"b":true}`: {true, true}, `{"b":false}`: {false, true}, `{}`: {false, false}} {
		var b, given bool
		if faults := read(t, text, &input.Shape{Fields: input.Fields{{Name: "b", Is: input.Boolean{}}}}, func(o *input.Object) { b, given = o.OptionalBoolean("b") }); len(faults) > 0 || [2]bool{b, given} != want {
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
		shape := &input.Shape{Fields: input.Fields{{Name: "n", Is: &input.List{Of: &input.Integer{OneOf: []int{10, 50, 100}}, Most: 3}}}}
		faults := read(t, text, shape, func(o *input.Object) { got, _ = o.Integers("n") })
		if !slices.Equal(got, want.numbers) || !slices.Equal(faults, want.faults) {
			t.Errorf("%s: %v, faults %q; want %v, %q", text, got, faults, want.numbers, want.faults)
		}
	}
}
