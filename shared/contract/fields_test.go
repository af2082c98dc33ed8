package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// answers are the types that the functions send, by the name of their schema.
var answers = map[string]any{
	"Channel":   release.Channel{},
	"Rollout":   rollout.Rollout{},
	"Factory":   factory.Factory{},
	"Method":    method.Method{},
	"Machine":   machine.Machine{},
	"Edge":      edge.Edge{},
	"Manifest":  edge.Manifest{},
	"Event":     audit.Event{},
	"Actor":     audit.Actor{},
	"Resource":  audit.Resource{},
	"Problem":   problem.Document{},
	"RateLimit": ratelimit.Arrangement{},
	"Standing":  ratelimit.Standing{},
}

func TestFields_OfAnswers_AreThoseOfTheCode(t *testing.T) {
	doc := document(t)
	for name, value := range answers {
		ref := doc.Components.Schemas[name]
		if ref == nil {
			t.Errorf("the contract has no schema %s", name)
			continue
		}
		want := fieldsOf(reflect.TypeOf(value))
		for field, w := range want {
			property := ref.Value.Properties[field]
			if property == nil {
				t.Errorf("%s: the code sends %s, which the contract does not have", name, field)
				continue
			}
			if g := property.Value.Type; w.kind != "" && !g.Is(w.kind) {
				t.Errorf("%s.%s is %v in the contract, %s in the code", name, field, g, w.kind)
			}
			if required := slices.Contains(ref.Value.Required, field); required == w.optional {
				t.Errorf("%s.%s: required is %v in the contract, left out when empty is %v in the code", name, field, required, w.optional)
			}
		}
		for field := range ref.Value.Properties {
			if _, there := want[field]; !there {
				t.Errorf("%s: the contract has %s, which the code does not send", name, field)
			}
		}
	}
}

// TestFields_EveryObjectThatIsAnswered_IsATypeOfTheCode finds a schema that answers use and that
// nothing above compares. Pages have one type in the code for all, which each list's own tests and
// the end-to-end suites check.
func TestFields_EveryObjectThatIsAnswered_IsATypeOfTheCode(t *testing.T) {
	named := map[*openapi3.Schema]string{}
	for name, ref := range document(t).Components.Schemas {
		named[ref.Value] = name
	}
	unknown := map[string]bool{}
	var visit func(*openapi3.SchemaRef)
	visit = func(ref *openapi3.SchemaRef) {
		if ref == nil {
			return
		}
		name := ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]
		if _, known := answers[name]; len(ref.Value.Properties) > 0 && !known && name != "Fault" && name != "MyRateLimits" && !strings.HasSuffix(name, "Page") {
			unknown[name] = true
		}
		visit(ref.Value.Items)
		for _, p := range ref.Value.Properties {
			visit(p)
		}
	}
	for _, item := range document(t).Paths.Map() {
		for _, op := range item.Operations() {
			for status, r := range op.Responses.Map() {
				for _, media := range r.Value.Content {
					if strings.HasPrefix(status, "2") {
						visit(media.Schema)
					}
				}
			}
		}
	}
	for name := range unknown {
		t.Errorf("answers use the schema %q, which is compared with no type of the code", name)
	}
}

// TestFields_OfAFault_AreThoseThatItIsWrittenWith: a fault is about a parameter or about the body.
func TestFields_OfAFault_AreThoseThatItIsWrittenWith(t *testing.T) {
	got := map[string]bool{}
	for _, f := range []problem.Fault{{Parameter: "limit"}, {Pointer: "/name"}} {
		b, err := json.Marshal(f)
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name := range m {
			got[name] = true
		}
	}
	want := document(t).Components.Schemas["Fault"].Value.Properties
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("the code writes %v, the contract has %v", got, want)
	}
}

// field is what the tag and the type of a struct's field say of its JSON.
type field struct {
	kind     string // the JSON type; empty: any
	optional bool   // left out when empty
}

func fieldsOf(of reflect.Type) map[string]field {
	fields := map[string]field{}
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(fields, fieldsOf(f.Type))
		case name == "-" || !f.IsExported():
		case name == "":
			panic(fmt.Sprintf("%s.%s has no JSON name", of, f.Name))
		default:
			fields[name] = field{kindOf(f.Type), strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")}
		}
	}
	return fields
}

func kindOf(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return openapi3.TypeString
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return openapi3.TypeString
	case reflect.Bool:
		return openapi3.TypeBoolean
	case reflect.Int, reflect.Int32, reflect.Int64:
		return openapi3.TypeInteger
	case reflect.Float64:
		return openapi3.TypeNumber
	case reflect.Slice:
		return openapi3.TypeArray
	case reflect.Struct, reflect.Map:
		return openapi3.TypeObject
	}
	return ""
}
