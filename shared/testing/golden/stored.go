package golden

import (
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// Stored is Kept for items whose type has no name: a part of a transaction stores what was read of each again.
func Stored[T any](t *testing.T, id dynamo.TableID, kind string, write func(v T, was Plain) dynamo.TransactItem) {
	t.Helper()
	checkNested[T](t, id, kind)
	client := dynamotest.Embedded(t)
	db := dynamo.Open(client, time.Now)
	for _, i := range Of(t, id, kind) {
		item, v := Encoded(i.Plain), new(T)
		if err := dynamo.Decode(id, item, v); err != nil {
			for _, fault := range blame[T](id, item, err) {
				t.Errorf("%s %s: %s", id, i.Key(), fault)
			}
			continue
		}
		expect.OK(t, db.Commit(admission.Unlimited(t.Context()), write(*v, i.Plain)))
		for _, fault := range Differences("", i.Plain, read(t, client, id, i)) {
			t.Errorf("%s %s: %s", id, i.Key(), fault)
		}
	}
}

// read returns what a store has under the key of an item.
func read(t *testing.T, client *dynamodb.Client, id dynamo.TableID, i Item) Plain {
	t.Helper()
	key, table := Encoded(i.Plain), dynamo.TableOf(id)
	maps.DeleteFunc(key, func(name string, _ types.AttributeValue) bool { return name != table.Partition && name != table.Sort })
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(dynamolocal.TableName(id)), Key: key})
	expect.OK(t, err)
	return expect.Value(PlainOf(out.Item))(t)
}
