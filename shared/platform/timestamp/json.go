package timestamp

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// JSON encodes a value as encoding/json does, with two exceptions: times have the form of Text, and the characters <, >
// and & are not escaped. A type with a MarshalJSON method encodes its own times. The option string of a tag is not
// supported.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b, reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	marshaler = reflect.TypeFor[json.Marshaler]()
	textual   = reflect.TypeFor[encoding.TextMarshaler]()
)

func write(b *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	t := v.Type()
	switch {
	case t == timeType:
		b.WriteString(`"` + Text(v.Interface().(time.Time)) + `"`)
		return nil
	case (t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface) && v.IsNil():
		b.WriteString("null")
		return nil
	case t.Kind() == reflect.Interface, t.Kind() == reflect.Pointer && t.Elem() == timeType:
		return write(b, v.Elem())
	case !mayHold(t):
		return plain(b, v)
	case t.Kind() == reflect.Pointer:
		return write(b, v.Elem())
	case t.Kind() == reflect.Struct:
		return object(b, v)
	case t.Kind() == reflect.Map && !v.IsNil():
		return table(b, v)
	case t.Kind() == reflect.Array, t.Kind() == reflect.Slice && !v.IsNil():
		return list(b, v)
	}
	return plain(b, v)
}

// plain writes a value without times with encoding/json.
func plain(b *bytes.Buffer, v reflect.Value) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(v.Interface())
	if err == nil {
		b.Truncate(b.Len() - 1) // the end of the line
	}
	return err
}

func object(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('{')
	first := true
	for _, f := range fieldsOf(v.Type()) {
		value, err := v.FieldByIndexErr(f.index)
		if err != nil || f.omitEmpty && empty(value) || f.omitZero && value.IsZero() {
			continue // an error is an embedded pointer that is nil
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(f.name)
		if err := write(b, value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// table writes a map with texts as keys. mayHold is false for any other map.
func table(b *bytes.Buffer, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	b.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := plain(b, reflect.ValueOf(key.String())); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := write(b, v.MapIndex(key)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func list(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(b, v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// empty reports whether the option omitempty omits a value.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

var holding sync.Map // of reflect.Type: whether mayHold

// mayHold reports whether a value of a type may hold a time that this package has to write.
func mayHold(t reflect.Type) bool {
	if known, ok := holding.Load(t); ok {
		return known.(bool)
	}
	holds := holds(t, map[reflect.Type]bool{})
	holding.Store(t, holds)
	return holds
}

func holds(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == timeType || t.Kind() == reflect.Pointer && t.Elem() == timeType {
		return true // before its own MarshalJSON counts
	}
	if seen[t] || t.Implements(marshaler) || t.Implements(textual) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holds(t.Elem(), seen)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && !t.Key().Implements(textual) && holds(t.Elem(), seen)
	case reflect.Struct:
		return slices.ContainsFunc(fieldsOf(t), func(f field) bool { return holds(t.FieldByIndex(f.index).Type, seen) })
	}
	return false
}

// A field is one member of an object.
type field struct {
	index               []int
	name                string // quoted, with the colon
	omitEmpty, omitZero bool
}

var plans sync.Map // of reflect.Type: its []field

// fieldsOf lists the members of a struct's object, in order.
func fieldsOf(t reflect.Type) []field {
	if known, ok := plans.Load(t); ok {
		return known.([]field)
	}
	all := collect(t, nil)
	// Of members with one name, that of the outermost struct counts.
	depth := map[string]int{}
	for _, f := range all {
		if d, known := depth[f.name]; !known || len(f.index) < d {
			depth[f.name] = len(f.index)
		}
	}
	all = slices.DeleteFunc(all, func(f field) bool { return len(f.index) > depth[f.name] })
	plans.Store(t, all)
	return all
}

func collect(t reflect.Type, at []int) (all []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-":
		case f.Anonymous && tag == "" && inner.Kind() == reflect.Struct:
			all = append(all, collect(inner, index)...)
		case f.IsExported():
			name := tag
			if name == "" {
				name = f.Name
			}
			has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
			if has("string") {
				panic("timestamp: the option string of " + t.String() + "." + f.Name)
			}
			all = append(all, field{index, `"` + name + `":`, has("omitempty"), has("omitzero")})
		}
	}
	return all
}
