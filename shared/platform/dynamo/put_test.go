package dynamo_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

func TestPut_ConditionFails_IsRefusedAndWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		for _, step := range []struct {
			name   string
			when   dynamo.Condition
			stored string
		}{
			{"A", dynamo.Absent("factoryId"), "A"}, {"B", dynamo.AtRevision("factoryId", 7), "A"}, {"C", dynamo.AtRevision("factoryId", 1), "C"},
		} {
			err := db.Put(call(t), dynamo.Factories, nil, thing{id, step.name, 1}, step.when)
			expect.Equal(t, dynamo.Refused(err, "item"), step.name != step.stored, "%s is refused (%v):", step.name, err)
			expect.Equal(t, get(t, db, id).Name, step.stored, "after %s, stored is", step.name)
		}
	})
}

// placed is a row of the reports table with the keys of its index.
type placed struct {
	ID       string `json:"edgeId"`
	Shard    string `json:"shard"`
	StateKey string `json:"stateKey"`
	Running  string `json:"running,omitempty"`
	Subject  string `json:"subject,omitempty"`
}

func TestWalk_ItemMovesInTheIndex_IsFoundOnce(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, ctx := dynamo.Open(client, time.Now), call(t)
		shard := uuid.NewString()
		var want []placed
		for i := range 50 {
			p := placed{fmt.Sprintf("%s-%02d", shard, i), shard, fmt.Sprintf("b%02d", i), "1.0.0", "s"}
			expect.OK(t, db.Put(ctx, dynamo.Reports, nil, p, dynamo.Condition{}))
			if i%3 == 0 { // moves within the shard
				p.StateKey = fmt.Sprintf("a%02d", i)
			}
			if i%5 == 0 { // moves to another shard
				p.Shard += "-other"
			}
			expect.OK(t, db.Put(ctx, dynamo.Reports, nil, p, dynamo.Condition{}))
			if p.Subject = ""; i%5 != 0 {
				want = append(want, p)
			}
		}
		slices.SortFunc(want, func(a, b placed) int { return cmp.Compare(a.StateKey, b.StateKey) })
		of := dynamo.Selection{Table: dynamo.Reports, Index: "byState", Partition: shard}
		walk := func(after dynamo.Key) (got []placed) {
			expect.OK(t, dynamo.Walk(ctx, db, of, after, 7, func(p placed) error { got = append(got, p); return nil }))
			return got
		}
		expect.Equal(t, walk(nil), want, "the walk")
		last := want[9]
		expect.Equal(t, walk(dynamo.Key{"edgeId": last.ID, "shard": last.Shard, "stateKey": last.StateKey}), want[10:], "the walk after the tenth")
		stop := errors.New("enough")
		err := dynamo.Walk(ctx, db, of, nil, 0, func(placed) error { return stop })
		expect.That(t, errors.Is(err, stop), "got %v", err)
	})
}

// A lockedStore refuses to write an item, as DynamoDB does while a transaction writes it.
type lockedStore struct{ dynamo.API }

func (lockedStore) UpdateItem(
	context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	return nil, fmt.Errorf("operation error DynamoDB: %w", &types.TransactionConflictException{})
}

func TestPut_ATransactionWritesTheItem_IsRefused(t *testing.T) {
	db := dynamo.Open(lockedStore{dynamotest.Embedded(t)}, time.Now)
	err := db.Put(call(t), dynamo.Factories, nil, thing{uuid.NewString(), "A", 1}, dynamo.Condition{})
	expect.That(t, dynamo.Refused(err, "item") && dynamo.Collided(err), "got %v", err)
}
