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

// BoxTally is the key, in the table of rate counters, of the count of an organization's boxes.
func BoxTally(organizationID string) string { return "edges#" + organizationID }

// Tally updates one item that counts something, without a transaction, and reads the item as it is then into out. If the
// condition fails, nothing is written, and applied is false. Like Commit, it waits until the call is admitted. If a lost
// answer makes the client send the update again, it may count twice.
func (db *DB) Tally(ctx context.Context, table TableID, key Key, update string, values map[string]any, when Condition, out any) (applied bool, err error) {
	encoded, err := when.values(values)
	if err != nil {
		return false, err
	}
	if err := admission.Wait(ctx); err != nil {
		return false, err
	}
	done, err := db.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(table.Name()), Key: key.item(),
		UpdateExpression: aws.String(update), ConditionExpression: optional(when.Expr),
		ExpressionAttributeNames: names(update, when.Expr), ExpressionAttributeValues: encoded,
		ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return false, Decode(table, failed.Item, out)
	}
	if err != nil {
		return false, unavailable(ctx, true, fmt.Errorf("dynamo: update %s: %w", table, err))
	}
	return true, Decode(table, done.Attributes, out)
}

// Count returns how many items a selection has. It reads all of them.
func (db *DB) Count(ctx context.Context, s Selection) (n int, err error) {
	in := s.input("")
	in.Select = types.SelectCount
	for {
		out, err := db.api.Query(ctx, in)
		if err != nil {
			return 0, unavailable(ctx, false, fmt.Errorf("dynamo: count in %s: %w", s.Table, err))
		}
		n += int(out.Count)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return n, nil
		}
	}
}
