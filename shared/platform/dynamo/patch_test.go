package dynamo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A passenger is a struct in an attribute of an item. Two are the same if they have the same id.
type passenger struct {
	ID   string `json:"id" stored:"identity"`
	Seat int64  `json:"seat"`
	Note string `json:"note,omitempty"`
}

// A carrier is an item that carries a passenger, and what a patch of it writes.
type carrier struct {
	ID   string `json:"factoryId"`
	Name string `json:"name"`
	boarding
}

type boarding struct {
	Passenger *passenger `json:"passenger,omitempty"`
	inner
}

// change changes an item as other code does, by an update expression.
func change(t *testing.T, client *dynamodb.Client, id, expression string, values map[string]any) {
	t.Helper()
	encoded := expect.Value(dynamo.Encode(values))(t)
	if len(encoded) == 0 {
		encoded = nil
	}
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(dynamo.Factories.Name()), Key: expect.Value(dynamo.Encode(map[string]any{"factoryId": id}))(t),
		UpdateExpression: &expression, ExpressionAttributeValues: encoded})
	expect.OK(t, err)
}

func TestPatch_WritesWhatItDeclares_AndKeepsAllElse_OnEachLevel(t *testing.T) {
	const large = 12345678901234567
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, id := dynamo.Open(client, time.Now), uuid.NewString()
		expect.OK(t, writes["alone"](call(t), db, carrier{id, "A", boarding{&passenger{"p", 1, "window"}, inner{"i", thing{"n", "N", 1}}}}))
		change(t, client, id, "SET pin = :x, passenger.meal = :x, named.more = :x", map[string]any{":x": map[string]any{"a": "b"}})
		patch := boarding{&passenger{ID: "p", Seat: large}, inner{Named: thing{"m", "M", large}}}
		expect.OK(t, db.Commit(call(t), dynamo.TransactPatch("a", dynamo.Factories, dynamo.Key{"factoryId": id}, patch, dynamo.Condition{})))
		other := map[string]any{"a": "b"}
		expect.Equal(t, raw(t, client, dynamo.Factories, map[string]string{"factoryId": id}), map[string]any{
			"factoryId": id, "name": "A", "pin": other,
			"passenger": map[string]any{"id": "p", "seat": float64(large), "meal": other},
			"named":     map[string]any{"factoryId": "m", "name": "M", "revision": float64(large), "more": other},
		}, "the item")
		var got carrier
		expect.Value(db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &got))(t)
		expect.Equal(t, got, carrier{id, "A", patch}, "the item")
	})
}

func TestPatch_ThingInItIsGoneOrAnother_IsRefused(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		for name, prepare := range map[string]func(id string){
			"no item": func(string) {},
			"absent": func(id string) {
				change(t, client, id, "SET named = :x", map[string]any{":x": map[string]any{"name": "N"}})
			},
			"removed": func(id string) {
				change(t, client, id, "SET passenger = :p", map[string]any{":p": passenger{ID: "p"}})
				change(t, client, id, "REMOVE passenger", nil)
			},
			"replaced": func(id string) { change(t, client, id, "SET passenger = :p", map[string]any{":p": passenger{ID: "q"}}) },
		} {
			t.Run(name, func(t *testing.T) {
				db, id := dynamo.Open(client, time.Now), uuid.NewString()
				prepare(id)
				was := raw(t, client, dynamo.Factories, map[string]string{"factoryId": id})
				err := db.Commit(call(t), dynamo.TransactPatch("a", dynamo.Factories, dynamo.Key{"factoryId": id}, struct {
					Passenger passenger `json:"passenger"`
				}{passenger{ID: "p", Seat: 2}}, dynamo.Condition{}))
				expect.That(t, dynamo.Refused(err, "a"), "got %v", err)
				expect.Equal(t, raw(t, client, dynamo.Factories, map[string]string{"factoryId": id}), was, "the item")
			})
		}
	})
}
