package dynamo

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// An edit changes the attributes that a type declares, and removes those of them that are empty. It keeps all others:
// a newer version of the service wrote them, and its functions may run beside this one or come back after a rollback.
type edit struct {
	key, values map[string]types.AttributeValue
	names       map[string]string
	short       map[string]string // the placeholders of attributes: an expression has at most 4 KB
	set, remove []string
	when        string
}

// editOf begins an edit with a condition.
func editOf(when Condition) (*edit, error) {
	values, err := when.values(nil)
	e := &edit{names: map[string]string{}, values: map[string]types.AttributeValue{}, short: map[string]string{}, when: when.Expr}
	maps.Copy(e.names, names(when.Expr))
	maps.Copy(e.values, values)
	return e, err
}

// put returns the edit that writes an item as a whole, given what was read.
func put(table TableID, was, item any, when Condition) (*edit, error) {
	declared, encoded, err := encodedOf(item)
	if err != nil {
		return nil, err
	}
	keep(was, reflect.TypeOf(item), encoded)
	e, err := editOf(when)
	if err != nil {
		return nil, err
	}
	t := TableOf(table)
	e.key = map[string]types.AttributeValue{}
	for _, f := range declared {
		if f.name == t.Partition || f.name == t.Sort {
			e.key[f.name] = encoded[f.name]
			continue
		}
		e.write(e.name(f.name), encoded[f.name])
	}
	return e, nil
}

// TransactPatch writes the attributes that a struct declares, and no others, of an item that need not have been read. Each
// is removed if it is empty. A struct that the patch has in an attribute is patched in its place: the item keeps what that
// type does not declare, too. The part fails unless the attribute is there and still is the same thing, by its identity.
func TransactPatch(name string, table TableID, key Key, patch any, when Condition) TransactItem {
	declared, encoded, err := encodedOf(patch)
	if err != nil {
		return TransactItem{name: name, err: err}
	}
	e, err := editOf(when)
	e.key = key.item()
	e.patch("", declared, encoded)
	return e.part(name, table, err)
}

func (e *edit) patch(path string, declared []field, level map[string]types.AttributeValue) {
	for _, f := range declared {
		at := path + e.name(f.name)
		nested, is := level[f.name].(*types.AttributeValueMemberM)
		switch {
		case path != "" && f.identity:
			e.require(at + " = " + e.value(level[f.name]))
		case is && f.of != nil && f.of.Kind() == reflect.Struct:
			if !identified(f.of) {
				e.require("attribute_exists(" + at + ")")
			}
			e.patch(at+".", fieldsOf(f.of), nested.Value)
		default:
			e.write(at, level[f.name])
		}
	}
}

func (e *edit) require(condition string) {
	if e.when != "" {
		condition = "(" + e.when + ") AND " + condition
	}
	e.when = condition
}

// write sets what is at a path; nil removes it.
func (e *edit) write(path string, v types.AttributeValue) {
	if v == nil {
		e.remove = append(e.remove, path)
		return
	}
	e.set = append(e.set, path+" = "+e.value(v))
}

func (e *edit) name(attribute string) string {
	short, known := e.short[attribute]
	if !known {
		short = "#a" + strconv.Itoa(len(e.short))
		e.short[attribute], e.names[short] = short, attribute
	}
	return short
}

func (e *edit) value(v types.AttributeValue) string {
	short := ":a" + strconv.Itoa(len(e.values))
	e.values[short] = v
	return short
}

// nothing is removed from an item that has only its key, because DynamoDB requires an action. No item has it.
const nothing = "nothing"

func (e *edit) text() string {
	if len(e.set)+len(e.remove) == 0 {
		e.remove = []string{e.name(nothing)}
	}
	if len(e.values) == 0 {
		e.values = nil
	}
	return strings.TrimSpace(action("SET", e.set) + " " + action("REMOVE", e.remove))
}

// part is the edit as a part of a transaction.
func (e *edit) part(name string, table TableID, err error) TransactItem {
	if err != nil {
		return TransactItem{name: name, err: err}
	}
	text := e.text()
	return TransactItem{name: name, item: types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(table.Name()), Key: e.key, UpdateExpression: &text, ConditionExpression: optional(e.when),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}}
}

func action(name string, on []string) string {
	if len(on) == 0 {
		return ""
	}
	return name + " " + strings.Join(on, ", ")
}

// encodedOf returns the fields of a struct and what they are encoded as.
func encodedOf(item any) ([]field, map[string]types.AttributeValue, error) {
	t := reflect.TypeOf(item)
	if t == nil || t.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("dynamo: an item is a struct, not %v", t)
	}
	encoded, err := Encode(item)
	return fieldsOf(t), encoded, err
}
