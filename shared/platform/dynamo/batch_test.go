package dynamo_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

type boxed struct {
	EdgeID string `json:"edgeId"`
}

// busy answers only the first key of a batch, and says that the rest was omitted.
type busy struct {
	dynamo.API
	always bool // not even the first
	asked  int
}

func (b *busy) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	b.asked++
	if b.always {
		return &dynamodb.BatchGetItemOutput{UnprocessedKeys: in.RequestItems}, nil
	}
	rest := map[string]types.KeysAndAttributes{}
	for table, asked := range in.RequestItems {
		if first, others := asked.Keys[:1], asked.Keys[1:]; len(others) > 0 {
			asked.Keys = others
			rest[table] = asked
			asked.Keys = first
			in.RequestItems[table] = asked
		}
	}
	out, err := b.API.BatchGetItem(ctx, in, o...)
	if err == nil {
		out.UnprocessedKeys = rest
	}
	return out, err
}

func stored(t *testing.T, db *dynamo.DB, n int) (keys []dynamo.Key, ids []string) {
	t.Helper()
	for range n {
		id := uuid.NewString()
		expect.OK(t, db.Put(call(t), dynamo.Edges, nil, boxed{id}, dynamo.Absent("edgeId")))
		keys, ids = append(keys, dynamo.Key{"edgeId": id}), append(ids, id)
	}
	slices.Sort(ids)
	return keys, ids
}

func read(t *testing.T, db *dynamo.DB, keys []dynamo.Key) (ids []string) {
	t.Helper()
	all := expect.Value(dynamo.GetAll[boxed](t.Context(), db, dynamo.Edges, keys))(t)
	for _, b := range all {
		ids = append(ids, b.EdgeID)
	}
	slices.Sort(ids)
	return ids
}

func TestGetAll_MoreThanAHundred_AndSomeThatAreNotThere_FindsTheRest(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db := dynamo.Open(client, time.Now)
		keys, ids := stored(t, db, 101)
		expect.Equal(t, read(t, db, append(keys, dynamo.Key{"edgeId": "nowhere"})), ids, "found")
		expect.Equal(t, read(t, db, nil), nil, "for no key, found")
	})
}

func TestGetAll_StoreLeavesItemsOut_AsksAgain(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		store := &busy{API: client}
		db := dynamo.Open(store, time.Now)
		keys, ids := stored(t, db, 4)
		if got := read(t, db, keys); !slices.Equal(got, ids) || store.asked != 4 {
			t.Errorf("found %d of %d in %d requests", len(got), len(ids), store.asked)
		}
		store.always = true
		if _, err := dynamo.GetAll[boxed](t.Context(), db, dynamo.Edges, keys); !problem.Has(err, problem.Unavailable) {
			t.Errorf("got %v", err)
		}
	})
}
