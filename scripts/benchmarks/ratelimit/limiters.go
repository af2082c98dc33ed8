package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/dynamo"
)

// slotLogs are the service's own.
func slotLogs(w *world) []container {
	all := make([]container, w.pattern.containers)
	for i := range all {
		l := ratelimit.New(ratelimit.Config{
			Store: weighing{w}, Clock: w.clock, Deadline: time.Minute,
			Limits: ratelimit.Limits{User: limit, Organization: ratelimit.Highest, CopilotUser: limit, CopilotOrganization: ratelimit.Highest},
		})
		caller := ratelimit.Caller{User: w.key, Organization: w.pattern.organization}
		all[i] = func(ctx context.Context) (result, error) {
			d := l.Admit(ctx, caller, w.pattern.class)
			return result{d.Outcome == ratelimit.Admitted, d.RetryAfter, d.Writes, d.RoundTrips}, d.Unchecked
		}
	}
	return all
}

// weighing looks at the size of the items that come back, by DynamoDB's rules.
type weighing struct{ *world }

func (w weighing) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := w.client.UpdateItem(ctx, in, options...)
	if err != nil {
		return out, err
	}
	size := 0
	for name, a := range out.Attributes {
		switch a := a.(type) {
		case *types.AttributeValueMemberS:
			size += len(name) + len(a.Value)
		case *types.AttributeValueMemberN:
			size += len(name) + (len(a.Value)+1)/2 + 1
		}
	}
	w.weigh(size)
	return out, nil
}

// fixedWindows count in windows that begin with each minute.
func fixedWindows(w *world) []container {
	one := func(ctx context.Context) (result, error) {
		t := w.clock()
		window := t.Truncate(ratelimit.Window)
		_, applied, err := update(ctx, w.client, w.key+window.Format(time.RFC3339),
			"ADD n :one", "attribute_not_exists(n) OR n < :limit", map[string]int64{":one": 1, ":limit": limit})
		return result{applied, ceil(window.Add(ratelimit.Window).Sub(t)), 1, 1}, err
	}
	return slices.Repeat([]container{one}, w.pattern.containers)
}

// gcras keep the theoretical arrival time (ATM Forum, Traffic Management 4.0), with room for a burst of
// the limit: less room would refuse clients that keep to the limit.
func gcras(w *world) []container {
	const interval = int64(ratelimit.Window/time.Microsecond) / limit
	one := func(ctx context.Context) (result, error) {
		t := w.clock().UnixMicro()
		// A container that has not been told otherwise tries as if nothing had come yet.
		expression, values := "attribute_not_exists(tat) OR tat <= :now", map[string]int64{":now": t, ":next": t + interval}
		for tries := 1; ; tries++ {
			tat, applied, err := update(ctx, w.client, w.key, "SET tat = :next", expression, values)
			if err != nil || applied {
				return result{applied, 0, tries, tries}, err
			}
			if free := max(tat, t) + interval - limit*interval; free > t {
				return result{false, ceil(time.Duration(free-t) * time.Microsecond), tries, tries}, nil
			}
			expression, values = "tat = :seen", map[string]int64{":seen": tat, ":next": max(tat, t) + interval}
		}
	}
	return slices.Repeat([]container{one}, w.pattern.containers)
}

func ceil(d time.Duration) time.Duration {
	return max(d+time.Second-1, time.Second).Truncate(time.Second)
}

// update is one conditional write; it returns the attribute tat as it stood when the condition failed.
func update(ctx context.Context, client *dynamodb.Client, key, set, condition string, numbers map[string]int64) (tat int64, applied bool, err error) {
	values := map[string]types.AttributeValue{}
	for name, n := range numbers {
		values[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	_, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:        aws.String(dynamo.RateCounters.Name()),
		Key:              map[string]types.AttributeValue{"subject": &types.AttributeValueMemberS{Value: key}},
		UpdateExpression: aws.String(set), ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return 0, err == nil, err
	}
	if n, ok := failed.Item["tat"].(*types.AttributeValueMemberN); ok {
		tat, err = strconv.ParseInt(n.Value, 10, 64)
		return tat, false, err
	}
	return 0, false, nil
}
