package input_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

// read reads a text with the given function and lists its faults, as "pointer code".
func read(t *testing.T, text string, ask func(*input.Object)) []string {
	t.Helper()
	err := input.CheckJSON([]byte(text))
	expect.Must(t, err == nil, "%s %v", text, err)
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
	want := []string{"/id type", "/steps/1/name format", "/steps/1/more unknown", "/steps/2 type", "/steps/3/a~1b~0c unknown",
		"/steps/3/name duplicate", "/tags/2 duplicate", "/tags/3 format", "/tags/4 type", "/missing required", " required", "/extra unknown"}
	ask := func(o *input.Object) {
		o.OptionalText("id", word)
		o.OptionalObjects("steps", 0, 9, func(step *input.Object) {
			step.OptionalText("name", word)
			step.OptionalObject("inner", func(*input.Object) {})
		})
		o.OptionalTexts("tags", word, 1, 9)
		o.Text("missing", word)
		o.OptionalText("one", word)
		o.OptionalText("other", word)
		o.RequireAny("one", "other")
	}
	expect.Equal(t, read(t, text, ask), want, "the faults")
}

// TestDeclare_IsWhatReadingAsksFor: the row of an operation, and so the contract, follows from the function that reads
// its requests.
func TestDeclare_IsWhatReadingAsksFor(t *testing.T) {
	got := input.Takes{Conditions: true}.Declare(func(in *input.Reader) {
		in.Path("id", word)
		in.RequiredQuery("state", word)
		in.QueryIf(false, "issuer", word)
		in.QueryInteger("limit", upTo100, 50)
		body := in.Body()
		body.Text("name", title)
		body.ClearableText("box", word)
		body.Objects("steps", 1, 9, func(step *input.Object) {
			step.OptionalTexts("tags", word, 0, 3)
			step.OptionalObject("attributes", func(a *input.Object) { a.Names(word, title, 2) })
		})
		body.RequireAny("name", "box")
		body.Open()
	})
	want := input.Takes{
		Path:       input.Fields{{Name: "id", Is: word}},
		Query:      input.Fields{{Name: "state", Is: word, Required: true}, {Name: "issuer", Is: word}, {Name: "limit", Is: upTo100, Default: 50}},
		Conditions: true,
		Body: &input.Shape{Open: true, AnyOf: []string{"name", "box"}, Fields: input.Fields{
			{Name: "name", Is: title, Required: true}, {Name: "box", Is: word, Clearable: true},
			{Name: "steps", Required: true, Is: &input.List{Least: 1, Most: 9, Of: &input.Shape{Fields: input.Fields{
				{Name: "tags", Is: &input.List{Of: word, Most: 3}}, {Name: "attributes", Is: &input.Shape{Names: word, Values: title, Most: 2}},
			}}}},
		}},
	}
	if !reflect.DeepEqual(got, want) { // rules contain functions, which have no difference to show
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestObject_Open_TakesFurtherFields(t *testing.T) {
	var words []string
	faults := read(t, `{"more":1,"words":["a",2,{},"b"]}`, func(o *input.Object) {
		o.Open()
		words = o.Strings("words")
	})
	expect.That(t, len(faults) == 0 && slices.Equal(words, []string{"a", "b"}), "read %q with %q", words, faults)
}

func TestObject_ListsAreBounded(t *testing.T) {
	for text, want := range map[string]string{`{"l":[]}`: "/l length", `{"l":["a"]}`: "", `{"l":["a","b"]}`: "", `{"l":["a","b","c","C"]}`: "/l length", `{"l":{}}`: "/l type"} {
		got := strings.Join(read(t, text, func(o *input.Object) { o.OptionalTexts("l", word, 1, 2) }), ",")
		expect.Equal(t, got, want, "the faults of %s are", text)
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
		expect.Equal(t, got, want, "%s gives", literal)
	}
}

func TestObject_NamesAndBooleans(t *testing.T) {
	var yes, no, absent bool
	text := `{"yes":true,"no":false,"inner":{"b":"x","a":1,"b":"z","C":"Y"},"odd":1}`
	faults := read(t, text, func(o *input.Object) {
		yes, no, absent = o.Boolean("yes"), o.Boolean("no"), o.Boolean("absent")
		o.Boolean("odd")
		o.OptionalObject("inner", func(inner *input.Object) { inner.Names(word, word, 2) })
	})
	want := []string{"/odd type", "/inner length", "/inner/a type", "/inner/C format", "/inner/C format", "/inner/b duplicate"}
	expect.That(t, yes && !no && !absent && slices.Equal(faults, want), "got %v, %v, %v, %q", yes, no, absent, faults)
}

func TestObject_NamedObjects_AreReadByName(t *testing.T) {
	kept := map[string]string{}
	each := func(name string, o *input.Object) { kept[name] = o.Text("is", word) }
	faults := read(t, `{"inner":{"a":{"is":"x"},"b":1,"C":{"is":"y"},"d":{}}}`, func(o *input.Object) {
		o.OptionalObject("inner", func(inner *input.Object) { inner.NamedObjects(word, 3, each) })
	})
	want := []string{"/inner length", "/inner/b type", "/inner/C format", "/inner/d/is required"}
	expect.That(t, slices.Equal(faults, want) && kept["a"] == "x" && kept["C"] == "y",
		"%q with the faults %q", kept, faults)
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
		list := &input.List{Of: &input.Integer{OneOf: []int{10, 50, 100}}, Most: 3}
		faults := read(t, text, func(o *input.Object) { got, _ = o.Integers("n", list) })
		expect.That(t, slices.Equal(got, want.numbers) && slices.Equal(faults, want.faults),
			"%s: %v, faults %q; want %v, %q", text, got, faults, want.numbers, want.faults)
	}
}
