package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// Kept checks that a type keeps the recorded items of a kind: each is read and written, and every value must be what it
// was. So nothing that is stored was renamed, retyped or dropped. Attributes that no code knows, in each struct inside the
// items, must be kept, too. Each field of the type must be in some item. The largest items that the rules allow must fit into
// the store.
func Kept[T any](t *testing.T, id dynamo.TableID, kind string, most ...Most) {
	t.Helper()
	k := named(id, kind)
	items, found := []Item(nil), map[string]bool{}
	if os.Getenv(recording) != "again" {
		items, _ = k.items()
	}
	client := dynamotest.Embedded(t)
	db := dynamo.Open(client, time.Now)
	for _, i := range items {
		k.walk("", i.Plain, found)
		if k.Whole == "" {
			i.Plain = k.mark("", i.Plain).(Plain)
		}
		var v T
		if err := dynamo.Decode(id, Encoded(i.Plain), &v); err != nil {
			t.Error(err)
			continue
		}
		expect.OK(t, db.Commit(admission.Unlimited(t.Context()), dynamo.TransactPut("a", id, v, v, dynamo.Condition{})))
		for _, fault := range differences("", i.Plain, read(t, client, i)) {
			t.Errorf("%s %s: %s", id, i.Key(), fault)
		}
	}
	whole := expect.Value(PlainOf(expect.Value(dynamo.Encode(expect.Filled[T](len(items))))(t)))(t)
	wanted := map[string]bool{}
	k.walk("", whole, wanted)
	if len(most) == 0 {
		most = []Most{nil}
	}
	for _, m := range most {
		k.fits(t, whole, m)
	}
	maps.DeleteFunc(wanted, func(form string, _ bool) bool { return found[form] })
	switch {
	case len(wanted) == 0:
	case os.Getenv(recording) != "":
		expect.OK(t, k.record(whole))
	default:
		t.Errorf("no golden item has these; see package golden:\n%s", strings.Join(slices.Sorted(maps.Keys(wanted)), "\n"))
	}
}

// read returns what a store has under the key of an item.
func read(t *testing.T, client *dynamodb.Client, i Item) Plain {
	t.Helper()
	key, table := Encoded(i.Plain), dynamo.TableOf(i.Table)
	maps.DeleteFunc(key, func(name string, _ types.AttributeValue) bool { return name != table.Partition && name != table.Sort })
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(i.Table.Name()), Key: key})
	expect.OK(t, err)
	return expect.Value(PlainOf(out.Item))(t)
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

// differences lists what of a value is lost or other in a later one.
func differences(path string, was, now any) (list []string) {
	switch {
	case typeOf(was) != typeOf(now):
		return []string{fmt.Sprintf("%s: was %v, and is %v", path, was, now)}
	case typeOf(was) == "M":
		for _, name := range slices.Sorted(maps.Keys(was.(Plain))) {
			list = append(list, differences(strings.TrimPrefix(path+"."+name, "."), was.(Plain)[name], now.(Plain)[name])...)
		}
	case typeOf(was) == "L" && len(was.([]any)) == len(now.([]any)):
		for i := range was.([]any) {
			list = append(list, differences(fmt.Sprintf("%s[%d]", path, i), was.([]any)[i], now.([]any)[i])...)
		}
	case !same(was, now):
		return []string{fmt.Sprintf("%s: was %v, and is %v", path, was, now)}
	}
	return list
}

// same reports whether two values that are no maps are equal, in whatever form a number is written.
func same(was, now any) bool {
	m, numbers := was.(json.Number)
	if !numbers {
		return reflect.DeepEqual(was, now)
	}
	n, _ := now.(json.Number)
	x, ok := new(big.Rat).SetString(m.String())
	y, ok2 := new(big.Rat).SetString(n.String())
	return ok && ok2 && x.Cmp(y) == 0
}
