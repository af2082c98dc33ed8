package dynamolocal_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

func TestWrite_ConditionFails_ComesWithTheItemIfAsked(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		key := attrs("factoryId", uuid.NewString())
		item := attrs("factoryId", text(key["factoryId"]), "n", 5)
		put(t, db, factories, item)
		wrong, values := aws.String("n = :wrong"), attrs(":wrong", 6)
		for _, asked := range []types.ReturnValuesOnConditionCheckFailure{types.ReturnValuesOnConditionCheckFailureAllOld, types.ReturnValuesOnConditionCheckFailureNone} {
			_, err1 := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: factories, Item: key,
				ConditionExpression: wrong, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: asked})
			_, err2 := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: factories, Key: key, UpdateExpression: aws.String("SET n = :wrong"),
				ConditionExpression: wrong, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: asked})
			_, err3 := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: factories, Key: key,
				ConditionExpression: wrong, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: asked})
			for i, err := range []error{err1, err2, err3} {
				failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
				expect.Must(t, ok, "write %d: got %v", i, err)
				want := ""
				if asked == types.ReturnValuesOnConditionCheckFailureAllOld {
					want = "5"
				}
				expect.Equal(t, text(failed.Item["n"]), want, "write %d, asked for %s: the item has n =", i, asked)
			}
		}
		expect.Equal(t, text(get(t, db, factories, key)["n"]), "5", "after writes whose conditions failed, n is")
	})
}

func TestWrite_ReturnsTheItemAsAsked(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		key := attrs("factoryId", uuid.NewString())
		item := func(n int) map[string]types.AttributeValue {
			return attrs("factoryId", text(key["factoryId"]), "n", n)
		}
		put1, err1 := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: factories, Item: item(1), ReturnValues: types.ReturnValueAllOld})
		put2, err2 := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: factories, Item: item(2), ReturnValues: types.ReturnValueAllOld})
		put3, err3 := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: factories, Item: item(3)})
		update := &dynamodb.UpdateItemInput{TableName: factories, Key: key, UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: attrs(":one", 1)}
		update1, err4 := db.UpdateItem(t.Context(), update)
		update.ReturnValues = types.ReturnValueAllNew
		update2, err5 := db.UpdateItem(t.Context(), update)
		update.ReturnValues = types.ReturnValueAllOld
		update3, err6 := db.UpdateItem(t.Context(), update)
		remove, err7 := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: factories, Key: key, ReturnValues: types.ReturnValueAllOld})
		expect.OK(t, errors.Join(err1, err2, err3, err4, err5, err6, err7))
		for i, c := range []struct {
			got  map[string]types.AttributeValue
			want string
		}{{put1.Attributes, ""}, {put2.Attributes, "1"}, {put3.Attributes, ""}, {update1.Attributes, ""}, {update2.Attributes, "5"}, {update3.Attributes, "5"}, {remove.Attributes, "6"}} {
			if got := text(c.got["n"]); got != c.want || c.want == "" && len(c.got) > 0 {
				t.Errorf("write %d returned %v, want n = %q", i, c.got, c.want)
			}
		}
	})
}

// TestQuery_ByGlobalIndex_ListsItsItems: items enter the index, leave it and move in it, by
// every kind of write.
func TestQuery_ByGlobalIndex_ListsItsItems(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		acme, rival := uuid.NewString(), uuid.NewString()
		a, b, c := "a-"+acme, "b-"+acme, "c-"+acme
		set := func(id, organization string) types.TransactWriteItem {
			return changed(id, "SET organizationId = :o", ":o", organization)
		}
		leave := func(id string) types.TransactWriteItem { return changed(id, "REMOVE organizationId") }
		for i, step := range []struct {
			parts       []types.TransactWriteItem
			acme, rival []string
		}{
			{[]types.TransactWriteItem{made(a), set(b, acme), set(c, acme)}, []string{b, c}, nil},
			{[]types.TransactWriteItem{set(a, acme)}, []string{a, b, c}, nil},
			{[]types.TransactWriteItem{set(b, rival), leave(c)}, []string{a}, []string{b}},
			{[]types.TransactWriteItem{set(c, rival), made(a)}, nil, []string{b, c}},
			{[]types.TransactWriteItem{gone("factoryId", b), set(a, rival)}, nil, []string{a, c}},
		} {
			expect.OK(t, transact(t, db, step.parts...))
			for organization, want := range map[string][]string{acme: step.acme, rival: step.rival} {
				expect.Equal(t, inOrganization(t, db, organization), want, "step %d: the index lists", i)
			}
		}
	})
}

func inOrganization(t *testing.T, db *dynamodb.Client, organization string) []string {
	t.Helper()
	out, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: factories, IndexName: aws.String("byOrganization"),
		KeyConditionExpression: aws.String("organizationId = :o"), ExpressionAttributeValues: attrs(":o", organization)})
	expect.OK(t, err)
	var list []string
	for _, item := range out.Items {
		list = append(list, text(item["factoryId"]))
	}
	return list
}

func TestQuery_Count_HasNoItems(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		partition := uuid.NewString()
		for _, sort := range []string{"a", "b", "c"} {
			put(t, db, recipes, attrs("factoryId", partition, "methodId", sort))
		}
		out, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: recipes, Select: types.SelectCount, Limit: aws.Int32(2),
			KeyConditionExpression: aws.String("factoryId = :p"), ExpressionAttributeValues: attrs(":p", partition)})
		if err != nil || out.Count != 2 || len(out.Items) != 0 || text(out.LastEvaluatedKey["methodId"]) != "b" {
			t.Errorf("got %d, %v, %v: %v", out.Count, out.Items, out.LastEvaluatedKey, err)
		}
	})
}

func TestCalls_InvalidRequest_IsRefused(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		none := aws.String("wavegate-none")
		key := attrs("factoryId", uuid.NewString())
		for name, c := range map[string]struct {
			want string
			call func() error
		}{
			"get from no table": {"ResourceNotFoundException", func() error {
				_, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: none, Key: key})
				return err
			}},
			"put into no table": {"ResourceNotFoundException", func() error {
				_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: none, Item: key})
				return err
			}},
			"query of no table": {"ResourceNotFoundException", func() error {
				_, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: none, KeyConditionExpression: aws.String("factoryId = :p"), ExpressionAttributeValues: attrs(":p", "x")})
				return err
			}},
			"query of crossed bounds": {"ValidationException", func() error {
				_, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: recipes, KeyConditionExpression: aws.String("factoryId = :p AND methodId BETWEEN :a AND :b"),
					ExpressionAttributeValues: attrs(":p", "x", ":a", "b", ":b", "a")})
				return err
			}},
			"query of an empty bound": {"ValidationException", func() error {
				_, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: recipes, KeyConditionExpression: aws.String("factoryId = :p AND methodId BETWEEN :a AND :b"),
					ExpressionAttributeValues: attrs(":p", "x", ":a", "", ":b", "a")})
				return err
			}},
			"query of no index": {"ValidationException", func() error {
				_, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: factories, IndexName: aws.String("none"), KeyConditionExpression: aws.String("factoryId = :p"), ExpressionAttributeValues: attrs(":p", "x")})
				return err
			}},
			"put without a key": {"ValidationException", func() error {
				_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: factories, Item: attrs("n", 1)})
				return err
			}},
			"put with an empty key": {"ValidationException", func() error {
				_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: factories, Item: attrs("factoryId", "")})
				return err
			}},
			"condition with an undefined value": {"ValidationException", func() error {
				_, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: factories, Key: key, ConditionExpression: aws.String("n = :n")})
				return err
			}},
		} {
			expect.Equal(t, code(c.call()), c.want, "%s", name)
		}
	})
}
