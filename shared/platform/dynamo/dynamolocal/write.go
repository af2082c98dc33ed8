package dynamolocal

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// A write is one action on one item, alone or as a part of a transaction.
type write struct {
	action    action
	table     *string
	key       item    // not in a put
	item      item    // in a put alone
	update    *string // in an update alone
	condition *string
	names     map[string]string
	values    map[string]*server.AttributeValue
	onFailure types.ReturnValuesOnConditionCheckFailure
}

type action string

// The actions, as a transaction's parts name them.
const (
	actionPut    action = "Put"
	actionUpdate action = "Update"
	actionDelete action = "Delete"
	actionCheck  action = "ConditionCheck"
)

// A change is what a write makes of its item.
type change struct {
	table   string
	key     item
	was, is item
}

// write carries out a write that stands alone.
func (e *engine) write(ctx context.Context, w write) (change, error) {
	if err := e.check(w); err != nil {
		return change{}, err
	}
	c, err := e.try(ctx, w)
	if err != nil {
		return change{}, err
	}
	return c, e.apply(ctx, c)
}

// check refuses what DynamoDB refuses before it looks at the item.
func (e *engine) check(w write) error {
	if err := e.find(w.table, nil); err != nil {
		return err
	}
	for _, name := range e.tables[*w.table].all() {
		for _, v := range []*server.AttributeValue{w.key[name], w.item[name]} {
			if v != nil && v.S != nil && *v.S == "" {
				return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
			}
		}
	}
	return w.wellFormed()
}

// try finds out what a write makes of its item, and changes nothing that is stored. A condition that
// does not hold is a *failure with the item, if the write asks for it.
func (e *engine) try(ctx context.Context, w write) (change, error) {
	key, err := e.keyOf(w)
	if err != nil {
		return change{}, err
	}
	found, err := e.stored.GetItem(ctx, &server.GetItemInput{TableName: w.table, Key: key})
	if err != nil {
		return change{}, err
	}
	c := change{table: *w.table, key: key, was: found.Item}
	if err := e.scratch.ClearTable(c.table); err != nil {
		return change{}, err
	}
	if c.was != nil {
		if _, err := e.scratch.PutItem(ctx, &server.PutItemInput{TableName: w.table, Item: c.was}); err != nil {
			return change{}, err
		}
	}
	switch w.action {
	case actionPut:
		_, err = e.scratch.PutItem(ctx, &server.PutItemInput{TableName: w.table, Item: w.item,
			ConditionExpression: w.condition, ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values})
	case actionUpdate:
		_, err = e.scratch.UpdateItem(ctx, &server.UpdateItemInput{TableName: w.table, Key: key, UpdateExpression: w.update,
			ConditionExpression: w.condition, ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values})
	case actionDelete, actionCheck: // a check is a removal that is not made
		_, err = e.scratch.DeleteItem(ctx, &server.DeleteItemInput{TableName: w.table, Key: key,
			ConditionExpression: w.condition, ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values})
	}
	if err != nil {
		f := failureOf(err)
		if f.Type == conditionFailed && w.onFailure == types.ReturnValuesOnConditionCheckFailureAllOld {
			f.Item = c.was
		}
		return change{}, f
	}
	if w.action == actionCheck {
		c.is = c.was
		return c, nil
	}
	found, err = e.scratch.GetItem(ctx, &server.GetItemInput{TableName: w.table, Key: key})
	if err != nil {
		return change{}, err
	}
	c.is = found.Item
	if w.action == actionUpdate {
		w.correct(&c)
	}
	return c, nil
}

// apply stores a change. It was tried before, so that no error is a caller's.
func (e *engine) apply(ctx context.Context, c change) error {
	table := aws.String(c.table)
	// minidyn keeps an item in an index that it is put out of, unless it is deleted first.
	if c.was != nil && (c.is == nil || e.leavesAnIndex(c)) {
		if _, err := e.stored.DeleteItem(ctx, &server.DeleteItemInput{TableName: table, Key: c.key}); err != nil {
			return errors.New(err.Error())
		}
	}
	if c.is != nil {
		if _, err := e.stored.PutItem(ctx, &server.PutItemInput{TableName: table, Item: c.is}); err != nil {
			return errors.New(err.Error())
		}
	}
	return nil
}

func (e *engine) leavesAnIndex(c change) bool {
	return slices.ContainsFunc(e.tables[c.table].all(), func(a string) bool { return c.was[a] != nil && c.is[a] == nil })
}

// keyOf is the key of the item that a write is for.
func (e *engine) keyOf(w write) (item, error) {
	if w.action != actionPut {
		return w.key, nil // minidyn compares it with the table
	}
	key := item{}
	for _, name := range e.tables[*w.table].primary {
		if w.item[name] == nil {
			return nil, invalid("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		key[name] = w.item[name]
	}
	return key, nil
}

func (e *engine) putItem(ctx context.Context, in *server.PutItemInput) (*attributesAnswer, error) {
	return e.answer(ctx, in.ReturnValues, write{action: actionPut, table: in.TableName, item: in.Item, condition: in.ConditionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, onFailure: in.ReturnValuesOnConditionCheckFailure})
}

func (e *engine) updateItem(ctx context.Context, in *server.UpdateItemInput) (*attributesAnswer, error) {
	return e.answer(ctx, in.ReturnValues, write{action: actionUpdate, table: in.TableName, key: in.Key, update: in.UpdateExpression, condition: in.ConditionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, onFailure: in.ReturnValuesOnConditionCheckFailure})
}

func (e *engine) deleteItem(ctx context.Context, in *server.DeleteItemInput) (*attributesAnswer, error) {
	return e.answer(ctx, in.ReturnValues, write{action: actionDelete, table: in.TableName, key: in.Key, condition: in.ConditionExpression,
		names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, onFailure: in.ReturnValuesOnConditionCheckFailure})
}

// answer carries out a write that stands alone and returns what the call asks for.
func (e *engine) answer(ctx context.Context, returned types.ReturnValue, w write) (*attributesAnswer, error) {
	switch returned {
	case "", types.ReturnValueNone, types.ReturnValueAllOld, types.ReturnValueAllNew:
	default:
		return nil, invalid("The embedded store does not return %s.", returned)
	}
	c, err := e.write(ctx, w)
	if err != nil {
		return nil, err
	}
	switch returned {
	case types.ReturnValueAllOld:
		return &attributesAnswer{c.was}, nil
	case types.ReturnValueAllNew:
		return &attributesAnswer{c.is}, nil
	}
	return &attributesAnswer{}, nil
}

func (e *engine) batchWriteItem(ctx context.Context, in *server.BatchWriteItemInput) (*server.BatchWriteItemOutput, error) {
	for table, requests := range in.RequestItems {
		for _, r := range requests {
			w := write{table: aws.String(table)}
			switch {
			case r.PutRequest != nil:
				w.action, w.item = actionPut, r.PutRequest.Item
			case r.DeleteRequest != nil:
				w.action, w.key = actionDelete, r.DeleteRequest.Key
			default:
				return nil, invalid("a request of a batch neither puts nor deletes an item")
			}
			if _, err := e.write(ctx, w); err != nil {
				return nil, err
			}
		}
	}
	return &server.BatchWriteItemOutput{}, nil
}
