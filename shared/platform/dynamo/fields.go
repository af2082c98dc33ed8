package dynamo

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
)

// A field is an attribute that a struct declares, as Encode names it.
type field struct {
	name string
	// of is the struct that the attribute has, or each entry of its list or map if many is set; nil for any other value.
	of   reflect.Type
	many bool
	// identity is set if the field says which thing the struct is about, by the tag stored:"identity". With another value, the
	// struct is about another thing.
	identity bool
}

// known has the fields of each type.
var known sync.Map

// fieldsOf lists the attributes that a struct declares. Those of an embedded struct are the struct's own.
func fieldsOf(t reflect.Type) []field {
	if list, ok := known.Load(t); ok {
		return list.([]field)
	}
	list := declared(t)
	known.Store(t, list)
	return list
}

func declared(t reflect.Type) (list []field) {
	add := func(f field) {
		if !slices.ContainsFunc(list, func(g field) bool { return g.name == f.name }) {
			list = append(list, f)
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, inner := range declared(f.Type) {
				add(inner)
			}
		case f.IsExported() && name != "-":
			of, many := nested(f.Type)
			add(field{cmp.Or(name, f.Name), of, many, f.Tag.Get("stored") == "identity"})
		}
	}
	return list
}

var marshaler = reflect.TypeFor[attributevalue.Marshaler]()

// nested returns the struct that a field of a type has, and whether it may have many.
func nested(t reflect.Type) (of reflect.Type, many bool) {
	switch {
	case t.Implements(marshaler) || t == reflect.TypeFor[time.Time]():
	case t.Kind() == reflect.Pointer:
		return nested(t.Elem())
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		of, _ = nested(t.Elem())
		return of, true
	case t.Kind() == reflect.Struct:
		return t, false
	}
	return nil, false
}

func identified(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.identity })
}
