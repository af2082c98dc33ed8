package dynamolocal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/server"
)

// What DynamoDB takes at the most.
const (
	manyParts = 100 // of a transaction
	longToken = 36  // characters
)

// A reason says why a part of a transaction was not carried out; "None" if the part was right.
type reason struct {
	Code    string
	Message string `json:",omitempty"`
	Item    item   `json:",omitempty"`
}

// transactWriteItems carries out all parts or none. Every part is tried, so that every reason is
// given.
func (e *engine) transactWriteItems(ctx context.Context, in *server.TransactWriteItemsInput) (*server.TransactWriteItemsOutput, error) {
	writes, err := e.writesOf(in)
	if err != nil {
		return nil, err
	}
	token := aws.ToString(in.ClientRequestToken)
	if token != "" {
		if done, err := e.tokens.known(token, in.TransactItems); done || err != nil {
			return &server.TransactWriteItemsOutput{}, err
		}
	}
	changes := make([]change, len(writes))
	reasons := make([]reason, len(writes))
	cancelled := false
	for i, w := range writes {
		c, err := e.try(ctx, w)
		changes[i], reasons[i] = c, reasonOf(err)
		cancelled = cancelled || err != nil
	}
	if cancelled {
		return nil, cancellation(reasons)
	}
	for i, c := range changes {
		if writes[i].action == actionCheck {
			continue
		}
		if err := e.apply(ctx, c); err != nil {
			return nil, err
		}
	}
	if token != "" {
		e.tokens.remember(token, in.TransactItems)
	}
	return &server.TransactWriteItemsOutput{}, nil
}

func reasonOf(err error) reason {
	if err == nil {
		return reason{Code: "None"}
	}
	f := failureOf(err)
	if f.Type == conditionFailed {
		return reason{Code: "ConditionalCheckFailed", Message: f.Message, Item: f.Item}
	}
	return reason{Code: "ValidationError", Message: f.Message}
}

func cancellation(reasons []reason) error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.Code
	}
	return &failure{
		Type: "TransactionCanceledException",
		Message: fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]",
			strings.Join(codes, ", ")),
		CancellationReasons: reasons,
	}
}

// writesOf is a transaction's parts. It refuses a transaction that is wrong as a whole, before it looks
// at any item.
func (e *engine) writesOf(in *server.TransactWriteItemsInput) ([]write, error) {
	const constraint = "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must have length %s"
	token := aws.ToString(in.ClientRequestToken)
	switch n := len(in.TransactItems); {
	case n == 0:
		return nil, invalid(constraint, "[]", "transactItems", "greater than or equal to 1")
	case n > manyParts:
		return nil, invalid(constraint, "[...]", "transactItems", "less than or equal to 100")
	case len(token) > longToken:
		return nil, invalid(constraint, token, "clientRequestToken", "less than or equal to 36")
	}
	var writes []write
	targets := map[string]bool{}
	for i, t := range in.TransactItems {
		w, err := writeOf(t)
		if err != nil {
			return nil, err
		}
		if w.action == actionUpdate && w.update == nil || w.action == actionCheck && w.condition == nil {
			return nil, invalid("1 validation error detected: Value null at 'transactItems.%d.member' failed to satisfy constraint: Member must not be null", i+1)
		}
		if err := e.check(w); err != nil {
			return nil, err
		}
		if key, err := e.keyOf(w); err == nil {
			target, err := json.Marshal([]any{*w.table, key})
			if err != nil {
				return nil, err
			}
			if targets[string(target)] {
				return nil, invalid("Transaction request cannot include multiple operations on one item")
			}
			targets[string(target)] = true
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// writeOf is the one action that a part of a transaction has.
func writeOf(t server.TransactWriteItem) (write, error) {
	var all []write
	if p := t.Put; p != nil {
		all = append(all, write{action: actionPut, table: p.TableName, item: p.Item, condition: p.ConditionExpression,
			names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues, onFailure: p.ReturnValuesOnConditionCheckFailure})
	}
	if p := t.Update; p != nil {
		all = append(all, write{action: actionUpdate, table: p.TableName, key: p.Key, update: p.UpdateExpression, condition: p.ConditionExpression,
			names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues, onFailure: p.ReturnValuesOnConditionCheckFailure})
	}
	if p := t.Delete; p != nil {
		all = append(all, write{action: actionDelete, table: p.TableName, key: p.Key, condition: p.ConditionExpression,
			names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues, onFailure: p.ReturnValuesOnConditionCheckFailure})
	}
	if p := t.ConditionCheck; p != nil {
		all = append(all, write{action: actionCheck, table: p.TableName, key: p.Key, condition: p.ConditionExpression,
			names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues, onFailure: p.ReturnValuesOnConditionCheckFailure})
	}
	if len(all) != 1 {
		return write{}, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return all[0], nil
}
