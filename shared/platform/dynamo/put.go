package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/admission"
)

// Put writes one item without a transaction, at half the price. It is for what the service
// observes, which has no audit event. Like TransactPut, it keeps attributes that the item's type does not
// declare. It returns a *ConditionError of "item" if the condition failed or a transaction was writing
// the item, and UNAVAILABLE if the store failed. In that case the item may have been written.
//
// Like Commit, it waits until the call is admitted.
func (db *DB) Put(ctx context.Context, table TableID, item any, when Condition) error {
	e, err := editOf(table, item, when)
	if err != nil {
		return err
	}
	if err := admission.Wait(ctx); err != nil {
		return err
	}
	_, err = db.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(table.Name()), Key: e.key, UpdateExpression: aws.String(e.expr),
		ConditionExpression:      optional(when.Expr),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
	_, collided := errors.AsType[*types.TransactionConflictException](err)
	if failed || collided {
		return &ConditionError{Parts: []string{"item"}, Collided: collided}
	}
	if err != nil {
		return unavailable(ctx, true, fmt.Errorf("dynamo: put into %s: %w", table, err))
	}
	return nil
}

// An edit writes every attribute that an item's type declares, and removes those that are empty. It keeps all others:
// a newer version of the service wrote them, and its functions may run beside this one or come back after a rollback.
type edit struct {
	key, values map[string]types.AttributeValue
	expr        string
	names       map[string]string
}

// nothing is removed from an item that has only its key, because DynamoDB requires an action. No item has it.
const nothing = "nothing"

func editOf(table TableID, item any, when Condition) (edit, error) {
	all, err := attributesOf(reflect.TypeOf(item))
	if err != nil {
		return edit{}, err
	}
	encoded, err := Encode(item)
	if err != nil {
		return edit{}, err
	}
	values, err := when.values(nil)
	if err != nil {
		return edit{}, err
	}
	e := edit{key: map[string]types.AttributeValue{}, values: values, names: names(when.Expr)}
	if e.names == nil {
		e.names = map[string]string{}
	}
	if e.values == nil {
		e.values = map[string]types.AttributeValue{}
	}
	var set, remove []string
	t := TableOf(table)
	for i, name := range all {
		v, ok := encoded[name]
		if name == t.Partition || name == t.Sort {
			e.key[name] = v
			continue
		}
		short := "a" + strconv.Itoa(i) // an expression has at most 4 KB
		e.names["#"+short] = name
		if !ok {
			remove = append(remove, "#"+short)
			continue
		}
		set = append(set, "#"+short+" = :"+short)
		e.values[":"+short] = v
	}
	if len(set)+len(remove) == 0 {
		e.names["#"+nothing] = nothing
		remove = []string{"#" + nothing}
	}
	if len(e.values) == 0 {
		e.values = nil
	}
	e.expr = strings.TrimSpace(action("SET", set) + " " + action("REMOVE", remove))
	return e, nil
}

func action(name string, on []string) string {
	if len(on) == 0 {
		return ""
	}
	return name + " " + strings.Join(on, ", ")
}

// attributes has the declared attributes of each type of item.
var attributes sync.Map

// attributesOf lists the attributes that a struct declares, as Encode names them.
func attributesOf(t reflect.Type) ([]string, error) {
	if known, ok := attributes.Load(t); ok {
		return known.([]string), nil
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("dynamo: an item is a struct, not %v", t)
	}
	list := declared(t)
	attributes.Store(t, list)
	return list, nil
}

func declared(t reflect.Type) (list []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, inner := range declared(f.Type) {
				if !slices.Contains(list, inner) {
					list = append(list, inner)
				}
			}
		case !f.IsExported() || name == "-":
		case !slices.Contains(list, cmp.Or(name, f.Name)):
			list = append(list, cmp.Or(name, f.Name))
		}
	}
	return list
}
