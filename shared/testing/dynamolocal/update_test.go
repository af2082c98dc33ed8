package dynamolocal_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// TestRemove_RemovesAttributes runs on every store: REMOVE alone, with other clauses and in a
// transaction.
func TestRemove_RemovesAttributes(t *testing.T) {
	table, one := aws.String(dynamolocal.TableName(dynamo.RateCounters)), attrs(":one", 1)
	for expression, want := range map[string]string{
		"SET b = :one REMOVE x1, #x":                   "b n subject",
		"SET b = :one ADD n :one REMOVE x1":            "b n subject x2",
		"REMOVE x1, #x SET b = :one ADD n :one":        "b n subject",
		"REMOVE #x ADD n :one, x3 :one":                "b n subject x1 x3",
		"ADD n :one REMOVE x1, not_there SET b = :one": "b n subject x2",
	} {
		var names map[string]string
		if strings.Contains(expression, "#x") {
			names = map[string]string{"#x": "x2"}
		}
		t.Run(expression, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
				key := attrs("subject", uuid.NewString())
				before := attrs("subject", key["subject"], "n", 1, "b", 1, "x1", 1, "x2", 1)
				put(t, client, table, before)
				expect.OK(t, transact(t, client, types.TransactWriteItem{Update: &types.Update{TableName: table, Key: key,
					UpdateExpression: &expression, ExpressionAttributeNames: names, ExpressionAttributeValues: one}}))
				expect.Equal(t, attributes(get(t, client, table, key)), want, "after a transaction, the item has")
				put(t, client, table, before)
				out, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: table, Key: key, UpdateExpression: &expression,
					ExpressionAttributeNames: names, ExpressionAttributeValues: one, ReturnValues: types.ReturnValueAllNew})
				expect.OK(t, err)
				expect.Equal(t, attributes(out.Attributes), want, "the returned item has")
				expect.Equal(t, attributes(get(t, client, table, key)), want, "the item has")
			})
		})
	}
}

func attributes(item map[string]types.AttributeValue) string {
	return strings.Join(slices.Sorted(maps.Keys(item)), " ")
}

// TestUpdate_AttributesNotNamed_AreUnchanged checks values that an emulator may change when it
// rewrites an item.
func TestUpdate_AttributesNotNamed_AreUnchanged(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		key := attrs("factoryId", uuid.NewString())
		put(t, db, factories, attrs("factoryId", text(key["factoryId"]),
			"big", &types.AttributeValueMemberN{Value: "12345678901234567890"},
			"list", &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			"map", &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"inner": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}}},
			"text", &types.AttributeValueMemberS{}, "nothing", &types.AttributeValueMemberNULL{Value: true},
			"set", &types.AttributeValueMemberSS{Value: []string{"a"}}))
		if _, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: factories, Key: key,
			UpdateExpression: aws.String("SET n = :n"), ExpressionAttributeValues: attrs(":n", 1)}); err != nil {
			t.Fatal(err)
		}
		item := get(t, db, factories, key)
		inner, _ := item["map"].(*types.AttributeValueMemberM)
		set, _ := item["set"].(*types.AttributeValueMemberSS)
		for name, right := range map[string]bool{
			"big":     text(item["big"]) == "12345678901234567890",
			"list":    is[*types.AttributeValueMemberL](item["list"]),
			"map":     inner != nil && is[*types.AttributeValueMemberM](inner.Value["inner"]),
			"text":    is[*types.AttributeValueMemberS](item["text"]),
			"nothing": is[*types.AttributeValueMemberNULL](item["nothing"]),
			"set":     set != nil && len(set.Value) == 1,
			"n":       text(item["n"]) == "1",
		} {
			expect.That(t, right, "%s is %#v", name, item[name])
		}
	})
}

func is[T types.AttributeValue](v types.AttributeValue) bool {
	_, ok := v.(T)
	return ok
}

// TestUpdate_AnEmptyKeyOfAnIndex_IsRefused, and in a transaction, too, in whatever form.
func TestUpdate_AnEmptyKeyOfAnIndex_IsRefused(t *testing.T) {
	table := aws.String(dynamolocal.TableName(dynamo.Factories))
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		key, expression, values := attrs("factoryId", uuid.NewString()), aws.String("SET organizationId = :o"), attrs(":o", "")
		_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: table, Key: key, UpdateExpression: expression, ExpressionAttributeValues: values})
		expect.Equal(t, refusal(err), "ValidationException", "an update")
		_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: table, Key: key, UpdateExpression: expression, ExpressionAttributeValues: values}}}})
		expect.That(t, refusal(err) != "", "a transaction is made")
		expect.Equal(t, len(get(t, client, table, key)), 0, "attributes that are stored")
	})
}
