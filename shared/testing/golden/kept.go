package golden

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// Of returns the recorded items of a kind. It fails a test if there are none.
func Of(t testing.TB, id dynamo.TableID, kind string) []Item {
	t.Helper()
	all := expect.Value(Items())(t)
	var list []Item
	for _, i := range all {
		if k, err := KindOf(i.Table, i.Plain); err == nil && k.Table == id && k.Name == kind {
			list = append(list, i)
		}
	}
	expect.Must(t, len(list) != 0, "%s: %s: no golden item; %s adds one", id, kind, Command)
	return list
}

// Kept checks that a type keeps the recorded items of a kind: each is decoded and encoded again, and every value must
// be what it was. So nothing that is stored was renamed, retyped or dropped.
func Kept[T any](t *testing.T, id dynamo.TableID, kind string) {
	t.Helper()
	checkNested[T](t, id, kind)
	checkCovered[T](t, id, kind)
	for _, i := range Of(t, id, kind) {
		for _, fault := range kept[T](id, i.Plain) {
			t.Errorf("%s %s: %s", id, i.Key(), fault)
		}
	}
	if k := kindNamed(id, kind); k.Whole == "" {
		keepsForeign[T](t, id, kind)
	}
}

// keepsForeign checks that a write keeps what its code does not know, in each struct inside the recorded items.
func keepsForeign[T any](t *testing.T, id dynamo.TableID, kind string) {
	k := kindNamed(id, kind)
	marked := func(p Plain) Plain { return k.mark("", p).(Plain) }
	client := dynamotest.Embedded(t)
	db := dynamo.Open(client, time.Now)
	for _, i := range Of(t, id, kind) {
		var v T
		was := marked(i.Plain)
		expect.OK(t, dynamo.Decode(id, Encoded(was), &v))
		expect.OK(t, db.Commit(admission.Unlimited(t.Context()), dynamo.TransactPut("a", id, v, v, dynamo.Condition{})))
		for _, fault := range Differences("", was, read(t, client, id, i)) {
			t.Errorf("%s %s: %s", id, i.Key(), fault)
		}
	}
}

// mark adds an attribute that no code knows to each struct inside an item.
func (k Kind) mark(path string, v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = k.mark(path, v[i])
		}
		return list
	case Plain:
		m, free := Plain{}, slices.Contains(k.Free, path)
		for name := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			if free {
				at = path + ".*"
			}
			m[name] = k.mark(at, v[name])
		}
		if path != "" && !free {
			m["zForeign"] = "of another release at " + path
		}
		return m
	}
	return v
}

func kept[T any](id dynamo.TableID, p Plain) []string {
	item := Encoded(p)
	v := new(T)
	if err := dynamo.Decode(id, item, v); err != nil {
		return blame[T](id, item, err)
	}
	again, err := dynamo.Encode(v)
	if err != nil {
		return []string{err.Error()}
	}
	now, err := PlainOf(again)
	if err != nil {
		return []string{err.Error()}
	}
	return Differences("", p, now)
}

// blame finds the attributes that cannot be decoded.
func blame[T any](id dynamo.TableID, item map[string]types.AttributeValue, err error) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if err := dynamo.Decode(id, map[string]types.AttributeValue{name: item[name]}, new(T)); err != nil {
			list = append(list, name+": retyped: "+err.Error())
		}
	}
	if list == nil {
		list = []string{err.Error()}
	}
	return list
}

// Differences lists what of a value is lost or other in a later one, which may have more attributes.
func Differences(path string, was, now any) []string {
	switch {
	case typeOf(was) != typeOf(now):
		return []string{fmt.Sprintf("%s: retyped: %s is %s", path, typeOf(was), typeOf(now))}
	case typeOf(was) == "M":
		return membersDiffer(path, was.(Plain), now.(Plain))
	case typeOf(was) == "L":
		return listsDiffer(path, was.([]any), now.([]any))
	case !same(was, now):
		return []string{fmt.Sprintf("%s: changed: %v is %v", path, was, now)}
	}
	return nil
}

func membersDiffer(path string, was, now Plain) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		v, found := now[name]
		if found {
			list = append(list, Differences(at, was[name], v)...)
			continue
		}
		lost := at + ": lost"
		for _, other := range slices.Sorted(maps.Keys(now)) {
			if _, old := was[other]; !old && Differences("", was[name], now[other]) == nil {
				lost = at + ": renamed to " + other
			}
		}
		list = append(list, lost)
	}
	return list
}

func listsDiffer(path string, was, now []any) (list []string) {
	if len(was) != len(now) {
		return []string{fmt.Sprintf("%s: changed: %d entries are %d", path, len(was), len(now))}
	}
	for i := range was {
		list = append(list, Differences(fmt.Sprintf("%s[%d]", path, i), was[i], now[i])...)
	}
	return list
}

// same reports whether two values of a simple type are equal, in whatever form a number is written.
func same(was, now any) bool {
	m, numbers := was.(json.Number)
	if !numbers {
		return was == now
	}
	n, _ := now.(json.Number)
	x, ok := new(big.Rat).SetString(m.String())
	y, ok2 := new(big.Rat).SetString(n.String())
	return ok && ok2 && x.Cmp(y) == 0
}

// replaced are the kinds that are made again all the time, from other items. So their nested values may gain fields, and
// not all of their fields are recorded.
var replaced = []string{"census of a rollout", "census of a channel", "hour"}

// checkNested fails a test if a nested value of a type has a field that the first release did not have. Code of an earlier
// release writes a nested value as a whole, and would erase it: a new field is an attribute, or in an item of its own.
func checkNested[T any](t testing.TB, id dynamo.TableID, kind string) {
	t.Helper()
	if slices.Contains(replaced, kind) {
		return
	}
	for _, path := range fieldsIn(reflect.TypeFor[T](), "") {
		form := fmt.Sprintf("%s: %s: %s", id, kind, path)
		if strings.Contains(path, ".") && !slices.Contains(nested(), form) {
			t.Errorf("%s is a new field of a nested value, which an earlier release erases; make it an attribute, or an item of its own", form)
		}
	}
}

//go:embed testdata/nested.txt
var nestedFields string

// nested lists the fields of the nested values of the first release, and of attributes that are as a whole newer.
var nested = sync.OnceValue(func() []string { return strings.Split(nestedFields, "\n") })

// fieldsIn lists the paths of the fields that a type stores.
func fieldsIn(t reflect.Type, path string) (list []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		if t.Kind() == reflect.Map {
			path += ".*"
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return []string{path}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			list = append(list, fieldsIn(f.Type, path)...)
		default:
			list = append(list, fieldsIn(f.Type, strings.TrimPrefix(path+"."+cmp.Or(name, f.Name), "."))...)
		}
	}
	return list
}

// never are fields that no item has, and why.
var never = map[string]string{
	"gateways: gateway: tokens.endedAt": "only the tokens of a box are ended; those of a gateway are removed",
}

// checkCovered fails a test if a type declares a field that no recorded item has: nothing would notice if it were dropped.
func checkCovered[T any](t testing.TB, id dynamo.TableID, kind string) {
	t.Helper()
	if slices.Contains(replaced, kind) {
		return
	}
	k := kindNamed(id, kind)
	found := map[string]bool{}
	for _, i := range Of(t, id, kind) {
		k.walk("", i.Plain, found)
	}
	has := map[string]bool{}
	for form := range found {
		path, _, _ := strings.Cut(form, " ")
		has[strings.ReplaceAll(path, "[]", "")] = true
	}
	for _, path := range fieldsIn(reflect.TypeFor[T](), "") {
		if form := fmt.Sprintf("%s: %s: %s", id, kind, path); !has[path] && never[form] == "" {
			t.Errorf("no golden item has %s; %s adds one, after the calls that store it were added to scripts/lab/forms", form, Command)
		}
	}
}
