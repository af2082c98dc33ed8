package dynamo

import (
	"context"
	"errors"
	"fmt"

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
func (db *DB) Put(ctx context.Context, table TableID, was, item any, when Condition) error {
	e, err := put(table, was, item, when)
	if err != nil {
		return err
	}
	if err := admission.Wait(ctx); err != nil {
		return err
	}
	text := e.text()
	_, err = db.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(table.Name()), Key: e.key, UpdateExpression: &text, ConditionExpression: optional(e.when),
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
