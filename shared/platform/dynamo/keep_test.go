package dynamo_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A rich item has every kind of attribute that stored items have.
type rich struct {
	ID string `json:"factoryId"`
	inner
	Number  int64             `json:"number"`
	Text    string            `json:"text,omitempty"`
	At      *time.Time        `json:"at,omitempty"`
	Nested  *thing            `json:"nested,omitempty"`
	List    []string          `json:"list"`
	Map     map[string]string `json:"map,omitempty"`
	private int
	Hidden  string `json:"-"`
}

type inner struct {
	Inner string `json:"inner,omitempty"`
	Named thing  `json:"named"`
}

// writes are the ways to store an item that keep what its type does not declare.
var writes = map[string]func(ctx context.Context, db *dynamo.DB, item any) error{
	"in a transaction": func(ctx context.Context, db *dynamo.DB, item any) error {
		return db.Commit(ctx, dynamo.TransactPut("a", dynamo.Factories, nil, item, dynamo.Condition{}))
	},
	"alone": func(ctx context.Context, db *dynamo.DB, item any) error {
		return db.Put(ctx, dynamo.Factories, nil, item, dynamo.Condition{})
	},
}

func raw(t *testing.T, client *dynamodb.Client, table dynamo.TableID, key map[string]string) map[string]any {
	t.Helper()
	k := expect.Value(attributevalue.MarshalMap(key))(t)
	out := expect.Value(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table.Name()), Key: k}))(t)
	var item map[string]any
	expect.OK(t, attributevalue.UnmarshalMap(out.Item, &item))
	return item
}

// foreign adds attributes that no type of this package declares.
func foreign(t *testing.T, client *dynamodb.Client, id string) {
	t.Helper()
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(dynamo.Factories.Name()), Key: map[string]types.AttributeValue{"factoryId": &types.AttributeValueMemberS{Value: id}},
		UpdateExpression: aws.String("SET pin = :pin, held = :held"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pin":  &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"version": &types.AttributeValueMemberS{Value: "1.4.0"}}},
			":held": &types.AttributeValueMemberN{Value: "12345678901234567"}}})
	expect.OK(t, err)
}

func TestPut_KeepsWhatItsTypeDoesNotDeclare_AndNothingElse(t *testing.T) {
	at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	full := rich{inner: inner{"i", thing{"n", "N", 1}}, Number: 12345678901234567, Text: "t", At: &at, Nested: &thing{"a", "A", 3},
		List: []string{"x"}, Map: map[string]string{"k": "v"}, private: 1, Hidden: "h"}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
				db, id := dynamo.Open(client, time.Now), uuid.NewString()
				full, empty := full, rich{}
				full.ID, empty.ID = id, id
				for _, item := range []rich{full, empty, full} {
					expect.OK(t, write(call(t), db, item))
					foreign(t, client, id)
					expect.OK(t, write(call(t), db, item))
					want := item
					want.private, want.Hidden = 0, "" // are not stored
					if item.Text == "" {
						want.List = nil
					}
					var got rich
					expect.Value(db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &got))(t)
					expect.Equal(t, got, want, "the item")
					encoded := expect.Value(dynamo.Encode(item))(t)
					all := raw(t, client, dynamo.Factories, map[string]string{"factoryId": id})
					names := append(slices.Collect(maps.Keys(encoded)), "pin", "held")
					expect.Equal(t, slices.Sorted(maps.Keys(all)), slices.Sorted(slices.Values(names)), "the stored attributes")
					if pin, _ := all["pin"].(map[string]any); pin["version"] != "1.4.0" || all["held"] != 12345678901234567.0 {
						t.Errorf("pin %v, held %v", all["pin"], all["held"])
					}
				}
			})
		})
	}
}

// onlyKey is an item with nothing but its key.
type onlyKey struct {
	Place    string `json:"place"`
	MethodID string `json:"methodId"`
}

func TestPutPart_OnlyAKey_IsMadeAndKept(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, item := dynamo.Open(client, time.Now), onlyKey{"p", uuid.NewString()}
		key := map[string]string{"place": item.Place, "methodId": item.MethodID}
		for range 2 {
			expect.OK(t, db.Commit(call(t), dynamo.TransactPut("a", dynamo.MethodPlaces, nil, item, dynamo.Condition{})))
			expect.Equal(t, len(raw(t, client, dynamo.MethodPlaces, key)), 2, "the number of stored attributes is")
		}
	})
}

func TestNewPart_KeepsNothing(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, id := dynamo.Open(client, time.Now), uuid.NewString()
		item := thing{id, "A", 1}
		expect.OK(t, writes["alone"](call(t), db, item))
		foreign(t, client, id)
		expect.OK(t, db.Commit(call(t), dynamo.TransactNew("a", dynamo.Factories, item, dynamo.AtRevision("factoryId", 1))))
		got := raw(t, client, dynamo.Factories, map[string]string{"factoryId": id})
		expect.Equal(t, len(got), 3, "the number of stored attributes is")
	})
}

func TestPut_NotAStruct_IsRefused(t *testing.T) {
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	for name, item := range map[string]any{"a map": map[string]string{"factoryId": "a"}, "nothing": nil, "a pointer": &thing{}} {
		t.Run(name, func(t *testing.T) {
			err := db.Put(call(t), dynamo.Factories, nil, item, dynamo.Condition{})
			expect.Error(t, err, "an item is a struct", "got")
		})
	}
}

// wrongly reads the nested revision, a number, as a list.
type wrongly struct {
	Nested struct {
		Revision []string `json:"revision"`
	} `json:"nested"`
}

func TestGet_AttributeOfTheWrongType_IsNamedWithItsTableAndKey(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, id := dynamo.Open(client, time.Now), uuid.NewString()
		expect.OK(t, writes["alone"](call(t), db, struct {
			ID       string `json:"factoryId"`
			Name     string `json:"name"`
			Revision string `json:"revision"`
			Nested   thing  `json:"nested"`
		}{id, "A", "one", thing{}}))
		for name, into := range map[string]any{
			"revision":        new(thing),
			"nested.revision": new(wrongly),
		} {
			_, err := db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, into)
			if err == nil || !strings.Contains(err.Error(), "factories") || !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}
