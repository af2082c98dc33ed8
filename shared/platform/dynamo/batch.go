package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// mostKeys is how many items one request may ask for.
const mostKeys = 100

// GetAll reads the items with the given keys, strongly consistent, in one request for each hundred. They cost what
// single reads cost. It returns the items that exist, in no order. The keys must differ. It returns UNAVAILABLE if the
// store does not answer, or keeps omitting items.
func GetAll[T any](ctx context.Context, db *DB, table TableID, keys []Key) ([]T, error) {
	var all []T
	for some := range slices.Chunk(keys, mostKeys) {
		items, err := db.batch(ctx, table, some)
		if err != nil {
			return nil, unavailable(ctx, false, fmt.Errorf("dynamo: get from %s: %w", table, err))
		}
		for _, item := range items {
			var v T
			if err := Decode(table, item, &v); err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// batch reads up to a hundred items. DynamoDB may omit some if it is busy, or if they have more than 16 MB together.
func (db *DB) batch(ctx context.Context, table TableID, keys []Key) ([]map[string]types.AttributeValue, error) {
	name := table.Name()
	asked := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, k := range keys {
		asked.Keys = append(asked.Keys, k.item())
	}
	var items []map[string]types.AttributeValue
	pause := pauseFirst
	for attempt := 1; ; attempt++ {
		out, err := db.api.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{name: asked}})
		if err != nil {
			return nil, err
		}
		items = append(items, out.Responses[name]...)
		rest, more := out.UnprocessedKeys[name]
		if !more || len(rest.Keys) == 0 {
			return items, nil
		}
		if attempt == commitAttempts || !wait(ctx, pause) {
			return nil, fmt.Errorf("%d of %d items were omitted", len(rest.Keys), len(keys))
		}
		asked, pause = rest, min(2*pause, pauseMost)
	}
}
