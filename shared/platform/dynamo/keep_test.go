package dynamo_test

import (
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

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
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

// write stores an item in each way that keeps what its type does not declare.
var writes = map[string]func(t *testing.T, db *dynamo.DB, item any){
	"in a transaction": func(t *testing.T, db *dynamo.DB, item any) {
		if err := db.Commit(admission.Unlimited(t.Context()), dynamo.TransactPut("a", dynamo.Factories, item, dynamo.Condition{})); err != nil {
			t.Fatal(err)
		}
	},
	"alone": func(t *testing.T, db *dynamo.DB, item any) {
		if err := db.Put(admission.Unlimited(t.Context()), dynamo.Factories, item, dynamo.Condition{}); err != nil {
			t.Fatal(err)
		}
	},
}

func raw(t *testing.T, client *dynamodb.Client, table dynamo.TableID, key map[string]string) map[string]any {
	t.Helper()
	k, err := attributevalue.MarshalMap(key)
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table.Name()), Key: k})
	if err != nil {
		t.Fatal(err)
	}
	var item map[string]any
	if err := attributevalue.UnmarshalMap(out.Item, &item); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
					write(t, db, item)
					foreign(t, client, id)
					write(t, db, item)
					var got rich
					if _, err := db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &got); err != nil {
						t.Fatal(err)
					}
					want, err := dynamo.Encode(item)
					if err != nil {
						t.Fatal(err)
					}
					again, err := dynamo.Encode(got)
					if err != nil {
						t.Fatal(err)
					}
					all := raw(t, client, dynamo.Factories, map[string]string{"factoryId": id})
					if names := slices.Sorted(maps.Keys(all)); !slices.Equal(names, slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(want)), "pin", "held")))) {
						t.Errorf("stored %v", names)
					}
					if len(again) != len(want) || got.Number != item.Number || got.Text != item.Text || (got.At == nil) != (item.At == nil) || got.inner != item.inner {
						t.Errorf("got  %+v\nwant %+v", got, item)
					}
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
			if err := db.Commit(admission.Unlimited(t.Context()), dynamo.TransactPut("a", dynamo.MethodPlaces, item, dynamo.Condition{})); err != nil {
				t.Fatal(err)
			}
			if got := raw(t, client, dynamo.MethodPlaces, key); len(got) != 2 {
				t.Fatalf("stored %v", got)
			}
		}
	})
}

func TestNewPart_KeepsNothing(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, id := dynamo.Open(client, time.Now), uuid.NewString()
		item := thing{id, "A", 1}
		writes["alone"](t, db, item)
		foreign(t, client, id)
		if err := db.Commit(admission.Unlimited(t.Context()), dynamo.TransactNew("a", dynamo.Factories, item, dynamo.AtRevision("factoryId", 1))); err != nil {
			t.Fatal(err)
		}
		if got := raw(t, client, dynamo.Factories, map[string]string{"factoryId": id}); len(got) != 3 {
			t.Errorf("stored %v", got)
		}
	})
}

func TestPut_NotAStruct_IsRefused(t *testing.T) {
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	for name, item := range map[string]any{"a map": map[string]string{"factoryId": "a"}, "nothing": nil, "a pointer": &thing{}} {
		t.Run(name, func(t *testing.T) {
			err := db.Put(admission.Unlimited(t.Context()), dynamo.Factories, item, dynamo.Condition{})
			if err == nil || !strings.Contains(err.Error(), "an item is a struct") {
				t.Errorf("got %v", err)
			}
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
		writes["alone"](t, db, struct {
			ID       string `json:"factoryId"`
			Name     string `json:"name"`
			Revision string `json:"revision"`
			Nested   thing  `json:"nested"`
		}{id, "A", "one", thing{}})
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
