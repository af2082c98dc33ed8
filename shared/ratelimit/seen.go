package ratelimit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// Subject is the key of a user's count of ordinary calls.
func Subject(user string) string { return userKey(user) }

// LastSeen returns a function that returns when a subject's last call was admitted, within half a second. The function
// reads the count of calls, and writes nothing. It returns zero if that is unknown: the subject made no call in the last
// 35 days, or its item was lost. Rejected calls do not count, nor do calls that were admitted unchecked while the store
// failed.
func LastSeen(api Getter) func(ctx context.Context, subject string) (time.Time, error) {
	return func(ctx context.Context, subject string) (time.Time, error) {
		out, err := api.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(dynamo.RateCounters.Name()),
			Key:       map[string]types.AttributeValue{attrSubject: &types.AttributeValueMemberS{Value: subject}},
		})
		if err != nil {
			return time.Time{}, problem.Wrap(fmt.Errorf("ratelimit: read a counter: %w", err), problem.Unavailable,
				"When a box was last seen cannot be read right now.").After(time.Second)
		}
		it, err := slotLog.decode(out.Item)
		if err != nil {
			return time.Time{}, err
		}
		newest, found := it.newest()
		if !found {
			return time.Time{}, nil
		}
		return slotLog.start(newest), nil
	}
}

// Calls are when the caller made its latest calls that were admitted, to half a second, the newest first: all of the last
// minute, and up to 60 of the last 33 minutes. Nil: unknown.
func (d Result) Calls() (at []time.Time) {
	for _, s := range slices.Backward(slices.Sorted(maps.Keys(d.own.slots))) {
		at = append(at, slices.Repeat([]time.Time{slotLog.start(s)}, d.own.slots[s])...)
	}
	return at
}

func (r rules) start(s slot) time.Time { return time.UnixMilli(int64(s) * r.slot.Milliseconds()).UTC() }
