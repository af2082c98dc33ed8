package dynamolocal

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// A write is one action on one item: the body of a call that writes, or a part of a transaction.
type write struct {
	action action

	TableName                           *string
	Key                                 item    // not in a put
	Item                                item    // only in a put
	UpdateExpression                    *string // only in an update
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           item
	ReturnValuesOnConditionCheckFailure types.ReturnValuesOnConditionCheckFailure
	ReturnValues                        types.ReturnValue // not in a transaction
}

// An action has its name in a transaction.
type action string

const (
	put    action = "Put"
	update action = "Update"
	remove action = "Delete"
	check  action = "ConditionCheck"
)

var actions = []action{put, update, remove, check}

type change struct {
	table   string
	key     item
	was, is item
}

func (e *engine) write(ctx context.Context, w write) (change, error) {
	if err := e.wellFormed(w); err != nil {
		return change{}, err
	}
	c, err := e.try(ctx, w)
	if err != nil {
		return change{}, err
	}
	return c, e.apply(ctx, c)
}

// wellFormed refuses what DynamoDB refuses before it reads the item.
func (e *engine) wellFormed(w write) error {
	if err := e.known(w.TableName, nil); err != nil {
		return err
	}
	for _, name := range e.tables[*w.TableName].all() {
		for _, v := range []*server.AttributeValue{w.Key[name], w.Item[name]} {
			if v != nil && v.S != nil && *v.S == "" {
				return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
			}
		}
	}
	if err := e.fits(w); err != nil {
		return err
	}
	return w.expressions()
}

// try computes the result of a write without storing it. If a condition fails, the error is a
// *failure, with the item if the write asks for it.
func (e *engine) try(ctx context.Context, w write) (change, error) {
	key, err := e.keyOf(w)
	if err != nil {
		return change{}, err
	}
	found, err := e.stored.GetItem(ctx, &server.GetItemInput{TableName: w.TableName, Key: key})
	if err != nil {
		return change{}, err
	}
	c := change{table: *w.TableName, key: key, was: found.Item}
	if err := e.scratch.ClearTable(c.table); err != nil {
		return change{}, err
	}
	if c.was != nil {
		if _, err := e.scratch.PutItem(ctx, &server.PutItemInput{TableName: w.TableName, Item: c.was}); err != nil {
			return change{}, err
		}
	}
	switch w.action {
	case put:
		_, err = e.scratch.PutItem(ctx, &server.PutItemInput{TableName: w.TableName, Item: w.Item, ConditionExpression: w.ConditionExpression,
			ExpressionAttributeNames: w.ExpressionAttributeNames, ExpressionAttributeValues: w.ExpressionAttributeValues})
	case update:
		_, err = e.scratch.UpdateItem(ctx, &server.UpdateItemInput{TableName: w.TableName, Key: key, UpdateExpression: w.UpdateExpression, ConditionExpression: w.ConditionExpression,
			ExpressionAttributeNames: w.ExpressionAttributeNames, ExpressionAttributeValues: w.ExpressionAttributeValues})
	case remove, check: // a check is a removal that is not stored
		_, err = e.scratch.DeleteItem(ctx, &server.DeleteItemInput{TableName: w.TableName, Key: key, ConditionExpression: w.ConditionExpression,
			ExpressionAttributeNames: w.ExpressionAttributeNames, ExpressionAttributeValues: w.ExpressionAttributeValues})
	}
	if err != nil {
		f := failureOf(err)
		if f.Type == conditionFailed && w.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld {
			f.Item = c.was
		}
		return change{}, f
	}
	if w.action == check {
		c.is = c.was
		return c, nil
	}
	found, err = e.scratch.GetItem(ctx, &server.GetItemInput{TableName: w.TableName, Key: key})
	if err != nil {
		return change{}, err
	}
	c.is = found.Item
	if w.action == update {
		w.correct(&c)
		return c, cmp.Or(e.keyed(c), c.large())
	}
	return c, nil
}

// keyed refuses an update after which a key attribute of an index is empty, as DynamoDB does once it has read the item.
func (e *engine) keyed(c change) error {
	for _, name := range e.tables[c.table].all() {
		if v := c.is[name]; v != nil && v.S != nil && *v.S == "" {
			return invalid("One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. " +
				"The AttributeValue for a key attribute cannot contain an empty string value.")
		}
	}
	return nil
}

// apply stores a change. It was tried before, so an error is never the caller's.
func (e *engine) apply(ctx context.Context, c change) error {
	table := aws.String(c.table)
	// When an item leaves an index, minidyn keeps it there unless it is deleted first.
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

func (e *engine) keyOf(w write) (item, error) {
	if w.action != put {
		return w.Key, nil // minidyn checks it against the table
	}
	key := item{}
	for _, name := range e.tables[*w.TableName].primary {
		if w.Item[name] == nil {
			return nil, invalid("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		key[name] = w.Item[name]
	}
	return key, nil
}

// single runs a write that is its own call, and answers with what the call asks for.
func (e *engine) single(a action) func(context.Context, *write) (*attributesAnswer, error) {
	return func(ctx context.Context, w *write) (*attributesAnswer, error) {
		switch w.ReturnValues {
		case "", types.ReturnValueNone, types.ReturnValueAllOld, types.ReturnValueAllNew:
		default:
			return nil, invalid("The embedded store does not return %s.", w.ReturnValues)
		}
		w.action = a
		c, err := e.write(ctx, *w)
		if err != nil {
			return nil, err
		}
		switch w.ReturnValues {
		case types.ReturnValueAllOld:
			return &attributesAnswer{c.was}, nil
		case types.ReturnValueAllNew:
			return &attributesAnswer{c.is}, nil
		}
		return &attributesAnswer{}, nil
	}
}

type batch struct {
	RequestItems map[string][]struct{ PutRequest, DeleteRequest *write }
}

func (e *engine) batchWriteItem(ctx context.Context, in *batch) (*struct{}, error) {
	n := 0
	for _, requests := range in.RequestItems {
		n += len(requests)
	}
	if n > manyWrites {
		return nil, invalid("Too many items requested for the BatchWriteItem call")
	}
	for table, requests := range in.RequestItems {
		for _, r := range requests {
			var w write
			switch {
			case r.PutRequest != nil:
				w = write{action: put, TableName: aws.String(table), Item: r.PutRequest.Item}
			case r.DeleteRequest != nil:
				w = write{action: remove, TableName: aws.String(table), Key: r.DeleteRequest.Key}
			default:
				return nil, invalid("A request of a batch neither puts nor deletes an item.")
			}
			if _, err := e.write(ctx, w); err != nil {
				return nil, err
			}
		}
	}
	return &struct{}{}, nil
}
