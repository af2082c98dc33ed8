package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
)

// Of returns the recorded items of a kind. It fails a test if there are none.
func Of(t testing.TB, id dynamo.TableID, kind string) []Item {
	t.Helper()
	all, err := Items()
	if err != nil {
		t.Fatal(err)
	}
	var list []Item
	for _, i := range all {
		if k, err := KindOf(i.Table, i.Plain); err == nil && k.Table == id && k.Name == kind {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s: %s: no golden item; %s adds one", id, kind, Command)
	}
	return list
}

// Kept checks that a type keeps the recorded items of a kind: each is decoded and encoded again, and every value must
// be what it was. So nothing that is stored was renamed, retyped or dropped.
func Kept[T any](t *testing.T, id dynamo.TableID, kind string) {
	t.Helper()
	for _, i := range Of(t, id, kind) {
		for _, fault := range kept[T](id, i.Plain) {
			t.Errorf("%s %s: %s", id, i.Key(), fault)
		}
	}
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
