package census_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/fleet/census"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// spoil writes a value of another type into an item, as only a person with access to the table could.
func spoil(t *testing.T, client *dynamodb.Client, table dynamo.TableID, key map[string]string, attribute string) {
	t.Helper()
	item := map[string]types.AttributeValue{}
	for name, value := range key {
		item[name] = &types.AttributeValueMemberS{Value: value}
	}
	_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{TableName: aws.String(table.Name()), Key: item,
		UpdateExpression: aws.String("SET #a = :a"), ExpressionAttributeNames: map[string]string{"#a": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":a": &types.AttributeValueMemberS{Value: "spoilt"}}})
	expect.OK(t, err)
}

// TestTick_WhatCannotBeRead_StopsNothingElse spoils one item besides a rollout that should be counted.
func TestTick_WhatCannotBeRead_StopsNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, client *dynamodb.Client, spoilt, box string)
		// counted is the number of rollouts that are counted.
		counted int
	}{
		"a rollout": {func(t *testing.T, client *dynamodb.Client, spoilt, _ string) {
			spoil(t, client, dynamo.Rollouts, map[string]string{"id": spoilt}, "staged_percent")
		}, 1},
		"a policy": {func(t *testing.T, client *dynamodb.Client, spoilt, _ string) {
			spoil(t, client, dynamo.Rollouts, map[string]string{"id": spoilt}, "terms")
		}, 1},
		"a count": {func(t *testing.T, client *dynamodb.Client, spoilt, _ string) {
			spoil(t, client, dynamo.Progress, map[string]string{"subject": spoilt, "part": "latest"}, "answer")
		}, 1},
		"a box": {func(t *testing.T, client *dynamodb.Client, _, box string) {
			spoil(t, client, dynamo.Reports, map[string]string{"edgeId": box}, "since")
		}, 2},
		"a box's place": {func(t *testing.T, client *dynamodb.Client, _, box string) {
			spoil(t, client, dynamo.Reports, map[string]string{"edgeId": box}, "stateKey")
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamotest.Embedded(t)
			f := newFleet(t, client, 1)
			good := f.start(t, 100)
			box, other := "box-"+f.edgeType, "other-"+f.edgeType
			f.register(t, box, f.channel, "")
			f.register(t, other, f.channel, "")
			f.poll(t, box, "1.0.0")
			f.poll(t, other, "1.0.0")
			f.publish(t, "beta", "1.0.0")
			f.channel = "beta"
			spoilt := f.start(t, 1)
			tick := func() (census.Tally, error) {
				f.now = f.now.Add(time.Minute)
				return f.progress.Tick(f.ctx, census.GuardOrigin("the tick"))
			}
			if tally, err := tick(); err != nil || tally.Counted != 2 || tally.Unreadable.Items != 0 {
				t.Fatalf("before: %+v, %v", tally, err)
			}
			c.spoil(t, client, spoilt, box)
			tally, err := tick()
			if err != nil || !tally.Listed || tally.Active != 2 || tally.Counted != c.counted || tally.Oldest != 0 {
				t.Errorf("the tally is %+v, %v", tally, err)
			}
			named, offered := spoilt, 2
			if c.counted == 2 { // only a box is not counted
				named, offered = box, 1
			}
			if u := tally.Unreadable; u.Items != 1 || len(u.Causes) != 1 || !strings.Contains(u.Causes[0].Error(), named) {
				t.Errorf("unreadable are %+v, want %s", u, named)
			}
			p, err := f.progress.Rollout(f.ctx, good, false, false)
			expect.That(t, err == nil && p.AsOf.Equal(f.now) && census.Total(p.Stages).Offered == offered,
				"the other rollout: %+v, %v", p, err)
		})
	}
}
