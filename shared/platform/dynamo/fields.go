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
	of   reflect.Type // of a value that is a struct, or a list or map of them; nil for any other value
	// identity is set if the field says which thing the struct is about; see Unknown.
	identity bool
}

// fields has those of each type.
var fields sync.Map

// fieldsOf lists the attributes that a struct declares. Those of an embedded struct are the struct's own.
func fieldsOf(t reflect.Type) []field {
	if list, ok := fields.Load(t); ok {
		return list.([]field)
	}
	list := declared(t)
	fields.Store(t, list)
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
			add(field{cmp.Or(name, f.Name), holder(f.Type), f.Tag.Get("stored") == "identity"})
		}
	}
	return list
}

var marshaler = reflect.TypeFor[attributevalue.Marshaler]()

// holder returns a type without its pointer if its values are structs, or lists or maps of them; otherwise nil.
func holder(t reflect.Type) reflect.Type {
	switch {
	case t.Implements(marshaler) || t == reflect.TypeFor[time.Time]():
	case t.Kind() == reflect.Pointer:
		return holder(t.Elem())
	case t.Kind() == reflect.Struct, (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && holder(t.Elem()) != nil:
		return t
	}
	return nil
}

// identified reports whether a struct says which thing it is about.
func identified(t reflect.Type) bool {
	return slices.ContainsFunc(fieldsOf(t), func(f field) bool { return f.identity })
}

func declares(declared []field, name string) bool {
	return slices.ContainsFunc(declared, func(f field) bool { return f.name == name })
}
