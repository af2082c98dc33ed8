package dynamolocal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// refusal is the name of an error, or of a transaction's only reason; empty: there is none.
func refusal(err error) string {
	if cancelled, is := errors.AsType[*types.TransactionCanceledException](err); is {
		return aws.ToString(cancelled.CancellationReasons[0].Code)
	}
	if err == nil {
		return ""
	}
	return code(err)
}

// TestStores_RefuseWhatIsTooLarge: the largest item has 409,600 bytes, names included.
func TestStores_RefuseWhatIsTooLarge(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		partition := uuid.NewString()
		with := func(sort string, bytes int) map[string]types.AttributeValue {
			rest := bytes - len("factoryId") - len(partition) - len("methodId") - len(sort) - len("x")
			return attrs("factoryId", partition, "methodId", sort, "x", strings.Repeat("x", rest))
		}
		put := func(i map[string]types.AttributeValue) error {
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: recipes, Item: i})
			return err
		}
		transact := func(parts ...types.TransactWriteItem) error {
			_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: parts})
			return err
		}
		update := func(text string) error {
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: recipes, Key: attrs("factoryId", partition, "methodId", "1"),
				UpdateExpression: aws.String("SET y = :y"), ExpressionAttributeValues: attrs(":y", text)})
			return err
		}
		const largest = 400 << 10
		expect.Equal(t, refusal(put(with("1", largest))), "", "the largest item")
		expect.Equal(t, refusal(put(with("2", largest+1))), "ValidationException", "a larger one")
		expect.Equal(t, refusal(update("1")), "ValidationException", "an update of the largest one")
		expect.Equal(t, refusal(transact(types.TransactWriteItem{Put: &types.Put{TableName: recipes, Item: with("2", largest+1)}})), "ValidationException", "a larger one in a transaction")
		expect.Equal(t, refusal(transact(types.TransactWriteItem{Update: &types.Update{TableName: recipes, Key: attrs("factoryId", partition, "methodId", "1"),
			UpdateExpression: aws.String("SET y = :y"), ExpressionAttributeValues: attrs(":y", "1")}})), "ValidationError", "an update of the largest one in a transaction")

		var parts []types.TransactWriteItem
		for n := range 11 {
			parts = append(parts, types.TransactWriteItem{Put: &types.Put{TableName: recipes, Item: with(fmt.Sprint("part-", n), 390<<10)}})
		}
		expect.Equal(t, refusal(transact(parts[:10]...)), "", "a transaction of 3.8 MB")
		expect.Equal(t, refusal(transact(parts...)), "ValidationException", "a transaction of more than 4 MB")

		expect.Equal(t, refusal(put(attrs("factoryId", strings.Repeat("p", 2049), "methodId", "1"))), "ValidationException", "a long partition")
		expect.Equal(t, refusal(put(attrs("factoryId", partition, "methodId", strings.Repeat("s", 1025)))), "ValidationException", "a long sort key")
		number := attrs("factoryId", partition, "methodId", "1")
		number["n"] = &types.AttributeValueMemberN{Value: strings.Repeat("1", 39)}
		expect.Equal(t, refusal(put(number)), "ValidationException", "a number with 39 digits")
		number["n"] = &types.AttributeValueMemberN{Value: "-0.0" + strings.Repeat("1", 38)}
		expect.Equal(t, refusal(put(number)), "", "a number with 38 digits")
		_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: recipes, Key: attrs("factoryId", partition, "methodId", "1"),
			UpdateExpression: aws.String("SET y = :y" + strings.Repeat(" ", 4096)), ExpressionAttributeValues: attrs(":y", "1")})
		expect.Equal(t, refusal(err), "ValidationException", "an expression of more than 4 KB")
	})
}
