package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
)

func TestPut_ConditionFails_IsRefusedAndWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		ctx := admission.Unlimited(t.Context())
		if err := db.Put(ctx, dynamo.Factories, thing{id, "A", 1}, dynamo.Absent("factoryId")); err != nil {
			t.Fatal(err)
		}
		if err := db.Put(ctx, dynamo.Factories, thing{id, "B", 2}, dynamo.AtRevision("factoryId", 7)); !dynamo.Refused(err, "item") {
			t.Errorf("got %v", err)
		}
		if got := get(t, db, id); got.Name != "A" {
			t.Errorf("stored %v", got)
		}
		if err := db.Put(ctx, dynamo.Factories, thing{id, "C", 2}, dynamo.AtRevision("factoryId", 1)); err != nil {
			t.Fatal(err)
		}
		if got := get(t, db, id); got.Name != "C" {
			t.Errorf("stored %v", got)
		}
	})
}

func TestPut_CallIsNotAdmitted_NothingIsWritten(t *testing.T) {
	each(t, func(t *testing.T, db *dynamo.DB, id string) {
		refusal := errors.New("over the limit")
		a := admission.Ask(func() (http.Header, error) { return nil, refusal })
		if err := db.Put(a.Context(t.Context()), dynamo.Factories, thing{id, "A", 1}, dynamo.Condition{}); !errors.Is(err, refusal) {
			t.Errorf("got %v", err)
		}
		if err := db.Put(t.Context(), dynamo.Factories, thing{id, "A", 1}, dynamo.Condition{}); err == nil {
			t.Error("a write without a call was admitted")
		}
		if got := get(t, db, id); got != (thing{}) {
			t.Errorf("stored %v", got)
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
		db, ctx := dynamo.Open(client, time.Now), admission.Unlimited(t.Context())
		shard := uuid.NewString()
		var want []placed
		for i := range 50 {
			p := placed{ID: fmt.Sprintf("%s-%02d", shard, i), Shard: shard, StateKey: fmt.Sprintf("b%02d", i), Running: "1.0.0", Subject: "s"}
			if err := db.Put(ctx, dynamo.Reports, p, dynamo.Condition{}); err != nil {
				t.Fatal(err)
			}
			if i%3 == 0 { // moves within the shard
				p.StateKey = fmt.Sprintf("a%02d", i)
			}
			if i%5 == 0 { // moves to another shard
				p.Shard += "-other"
			}
			if err := db.Put(ctx, dynamo.Reports, p, dynamo.Condition{}); err != nil {
				t.Fatal(err)
			}
			if p.Subject = ""; i%5 != 0 {
				want = append(want, p)
			}
		}
		slices.SortFunc(want, func(a, b placed) int {
			if a.StateKey < b.StateKey {
				return -1
			}
			return 1
		})
		of := dynamo.Selection{Table: dynamo.Reports, Index: "byState", Partition: shard}
		walk := func(after dynamo.Key) (got []placed) {
			if err := dynamo.Walk(ctx, db, of, after, 7, func(p placed) error { got = append(got, p); return nil }); err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := walk(nil); !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		last := want[9]
		if got := walk(dynamo.Key{"edgeId": last.ID, "shard": last.Shard, "stateKey": last.StateKey}); !slices.Equal(got, want[10:]) {
			t.Errorf("after the tenth: %v", got)
		}
		stop := errors.New("enough")
		if err := dynamo.Walk(ctx, db, of, nil, 0, func(placed) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("got %v", err)
		}
	})
}

// A lockedStore refuses to write an item, as DynamoDB does while a transaction writes it.
type lockedStore struct{ dynamo.API }

func (lockedStore) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, fmt.Errorf("operation error DynamoDB: %w", &types.TransactionConflictException{})
}

func TestPut_ATransactionWritesTheItem_IsRefused(t *testing.T) {
	db := dynamo.Open(lockedStore{dynamotest.Embedded(t)}, time.Now)
	err := db.Put(admission.Unlimited(t.Context()), dynamo.Factories, thing{uuid.NewString(), "A", 1}, dynamo.Condition{})
	if !dynamo.Refused(err, "item") || !dynamo.Collided(err) {
		t.Errorf("got %v", err)
	}
}
