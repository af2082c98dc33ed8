package dynamo

import (
	"fmt"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"reflect"
)

// Unknown has what was stored in the structs inside an item, and is not declared by their types: a newer version of the
// service wrote it. It is empty unless the item was read and there is such a thing. A type of items that have structs in
// them embeds it. TransactPut writes it back to the struct that it was in, if that is still there and the same thing.
//
// Two structs in the same place are the same thing if their types name no identity, or if the attributes with the tag
// stored:"identity" are the same. In a list, a struct whose type names no identity is the same if all of its attributes
// are.
type Unknown struct{ in *places }

// places has the unknown attributes of each struct inside an item, by its place: its path, with the identities.
type places map[string]map[string]types.AttributeValue

func (u *Unknown) learn(p places) {
	if u.in = nil; len(p) > 0 {
		u.in = &p
	}
}

func (u Unknown) learned() places {
	if u.in == nil {
		return nil
	}
	return *u.in
}

// learn gives an item that was decoded what its type does not know.
func learn(out any, item map[string]types.AttributeValue) {
	to, is := out.(interface{ learn(places) })
	if !is {
		return
	}
	found := places{}
	inside(reflect.TypeOf(out).Elem(), item, func(place string, declared []field, level map[string]types.AttributeValue) {
		for name, v := range level {
			if declares(declared, name) {
				continue
			}
			if found[place] == nil {
				found[place] = map[string]types.AttributeValue{}
			}
			found[place][name] = v
		}
	})
	to.learn(found)
}

// keep adds to an encoded item what was not known when it was read.
func keep(was any, t reflect.Type, item map[string]types.AttributeValue) {
	from, is := was.(interface{ learned() places })
	if !is || from.learned() == nil {
		return
	}
	inside(t, item, func(place string, declared []field, level map[string]types.AttributeValue) {
		for name, v := range from.learned()[place] {
			if !declares(declared, name) {
				level[name] = v
			}
		}
	})
}

// inside calls a function with each struct inside an item of a type.
func inside(t reflect.Type, item map[string]types.AttributeValue, each func(place string, declared []field, level map[string]types.AttributeValue)) {
	for _, f := range fieldsOf(t) {
		if f.of != nil {
			walkStructs(f.name, f.of, item[f.name], each)
		}
	}
}

func walkStructs(place string, t reflect.Type, v types.AttributeValue, each func(string, []field, map[string]types.AttributeValue)) {
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		of := elem(t)
		for _, entry := range v.Value {
			at := place + "[]"
			if m, is := entry.(*types.AttributeValueMemberM); is && of.Kind() == reflect.Struct && !identified(of) {
				at += identity(m.Value, fieldsOf(of), func(field) bool { return true })
			}
			walkStructs(at, of, entry, each)
		}
	case *types.AttributeValueMemberM:
		if t.Kind() == reflect.Map {
			for name, entry := range v.Value {
				walkStructs(place+"."+name, elem(t), entry, each)
			}
			return
		}
		place += identity(v.Value, fieldsOf(t), func(f field) bool { return f.identity })
		inside(t, v.Value, func(inner string, declared []field, level map[string]types.AttributeValue) {
			each(place+"."+inner, declared, level)
		})
		each(place, fieldsOf(t), v.Value)
	}
}

// identity is a text that differs for structs with other values in some of their fields.
func identity(level map[string]types.AttributeValue, declared []field, counts func(field) bool) (text string) {
	for _, f := range declared {
		if counts(f) {
			text += fmt.Sprintf("(%v)", known(f.of, level[f.name]))
		}
	}
	return text
}

// known is the part of a value that its type declares, without pointers.
func known(t reflect.Type, v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i := range v.Value {
			list[i] = known(elem(t), v.Value[i])
		}
		return list
	case *types.AttributeValueMemberM:
		m := map[string]any{} // is printed in the order of its names
		if t != nil && t.Kind() == reflect.Struct {
			for _, f := range fieldsOf(t) {
				m[f.name] = known(f.of, v.Value[f.name])
			}
			return m
		}
		for name := range v.Value {
			m[name] = known(elem(t), v.Value[name])
		}
		return m
	}
	return nil
}

// elem is what a list or map of structs holds; nil for other types.
func elem(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	return holder(t.Elem())
}
