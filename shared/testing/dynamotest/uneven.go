package dynamotest

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
)

// An Uneven client pauses before some calls, so that parallel calls interleave at every step.
type Uneven struct{ dynamo.API }

// GetItem reads an item.
func (u Uneven) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	pause()
	return u.API.GetItem(ctx, in, o...)
}

// TransactWriteItems writes items.
func (u Uneven) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	pause()
	return u.API.TransactWriteItems(ctx, in, o...)
}

func pause() {
	if rand.IntN(2) == 0 {
		time.Sleep(rand.N(2 * time.Millisecond))
	}
}
