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
		table := dynamo.TableOf(id)
		maps.DeleteFunc(item, func(name string, _ types.AttributeValue) bool { return name != table.Partition && name != table.Sort })
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(dynamolocal.TableName(id)), Key: item})
		expect.OK(t, err)
		now := expect.Value(PlainOf(out.Item))(t)
		for _, fault := range Differences("", i.Plain, now) {
			t.Errorf("%s %s: %s", id, i.Key(), fault)
		}
	}
}
