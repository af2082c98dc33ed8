package dynamolocal_test

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
)

// factories is a table with the single key attribute factoryId.
var factories = aws.String(dynamolocal.TableName(dynamo.Factories))

// attrs makes attributes from names and values: ints become numbers, strings stay strings.
func attrs(pairs ...any) map[string]types.AttributeValue {
	m := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case int:
			m[pairs[i].(string)] = &types.AttributeValueMemberN{Value: strconv.Itoa(v)}
		case string:
			m[pairs[i].(string)] = &types.AttributeValueMemberS{Value: v}
		case types.AttributeValue:
			m[pairs[i].(string)] = v
		}
	}
	return m
}

func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberS:
		return v.Value
	}
	return ""
}

func get(t testing.TB, db *dynamodb.Client, table *string, key map[string]types.AttributeValue) map[string]types.AttributeValue {
	t.Helper()
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

func put(t testing.TB, db *dynamodb.Client, table *string, item map[string]types.AttributeValue) {
	t.Helper()
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

func transact(t testing.TB, db *dynamodb.Client, parts ...types.TransactWriteItem) error {
	t.Helper()
	_, err := db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: parts})
	return err
}

func codes(err error) string {
	var list []string
	for _, r := range reasonsOf(err) {
		list = append(list, aws.ToString(r.Code))
	}
	if list == nil {
		return fmt.Sprint(err)
	}
	return strings.Join(list, " ")
}

func reasonsOf(err error) []types.CancellationReason {
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return cancelled.CancellationReasons
	}
	return nil
}

func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

const mustBeNew, mustExist = "attribute_not_exists(factoryId)", "attribute_exists(factoryId)"

func TestTransaction_AllConditionsHold_EveryPartIsWritten(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		id := uuid.NewString()
		changed, gone, checked, added := attrs("factoryId", id+"-1"), attrs("factoryId", id+"-2"), attrs("factoryId", id+"-3"), attrs("factoryId", id+"-4", "n", 1)
		for _, item := range []map[string]types.AttributeValue{changed, gone, checked} {
			put(t, db, factories, item)
		}
		err := transact(t, db,
			types.TransactWriteItem{Update: &types.Update{TableName: factories, Key: changed, UpdateExpression: aws.String("SET n = :n"),
				ExpressionAttributeValues: attrs(":n", 7), ConditionExpression: aws.String(mustExist)}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: gone, ConditionExpression: aws.String(mustExist)}},
			types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: factories, Key: checked, ConditionExpression: aws.String(mustExist)}},
			types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: added, ConditionExpression: aws.String(mustBeNew)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(get(t, db, factories, changed)["n"]); got != "7" {
			t.Errorf("the updated item has n = %q", got)
		}
		if got := get(t, db, factories, gone); got != nil {
			t.Errorf("the deleted item is %v", got)
		}
		if got := get(t, db, factories, checked); len(got) != 1 {
			t.Errorf("the checked item is %v", got)
		}
		if got := text(get(t, db, factories, attrs("factoryId", id+"-4"))["n"]); got != "1" {
			t.Errorf("the new item has n = %q", got)
		}
	})
}

// TestTransaction_ConditionsFail_EachReasonHasItsItem has a failing part of each kind beside
// valid parts. Some ask for the item, some do not.
func TestTransaction_ConditionsFail_EachReasonHasItsItem(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		id := uuid.NewString()
		key := func(n int) map[string]types.AttributeValue { return attrs("factoryId", fmt.Sprint(id, "-", n)) }
		for n := range 6 {
			item := key(n)
			item["n"] = &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
			put(t, db, factories, item)
		}
		wrong, old := aws.String("n = :wrong"), types.ReturnValuesOnConditionCheckFailureAllOld
		values := attrs(":wrong", 99)
		err := transact(t, db,
			types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: key(0), ConditionExpression: wrong, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}},
			types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: key(6)}},
			types.TransactWriteItem{Update: &types.Update{TableName: factories, Key: key(1), UpdateExpression: aws.String("SET n = :wrong"),
				ConditionExpression: wrong, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: key(2), ConditionExpression: wrong, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: key(3)}},
			types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: factories, Key: key(4), ConditionExpression: wrong, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old}},
			types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: key(5), ConditionExpression: aws.String(mustBeNew)}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: key(7), ConditionExpression: aws.String(mustExist), ReturnValuesOnConditionCheckFailure: old}})
		const want = "ConditionalCheckFailed None ConditionalCheckFailed ConditionalCheckFailed None ConditionalCheckFailed ConditionalCheckFailed ConditionalCheckFailed"
		if got := codes(err); got != want {
			t.Fatalf("got %s", got)
		}
		reasons := reasonsOf(err)
		for i, want := range []string{"0", "", "1", "2", "", "4", "", ""} {
			if got := text(reasons[i].Item["n"]); got != want {
				t.Errorf("part %d came with the item of n = %q, want %q", i, got, want)
			}
		}
		for n := range 6 {
			if got := text(get(t, db, factories, key(n))["n"]); got != strconv.Itoa(n) {
				t.Errorf("item %d has n = %q after a cancelled transaction", n, got)
			}
		}
		if got := get(t, db, factories, key(6)); got != nil {
			t.Errorf("a cancelled transaction made %v", got)
		}
	})
}

// store is the name of the store in a test of dynamotest.Each.
func store(t *testing.T) string { return path.Base(t.Name()) }

// TestTransaction_InvalidRequest_IsRefusedAndWritesNothing has a valid part beside each invalid
// one. The expected answer is that of AWS; see README.md.
func TestTransaction_InvalidRequest_IsRefusedAndWritesNothing(t *testing.T) {
	right := func(id string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: attrs("factoryId", id)}}
	}
	update := func(id, expression string, values map[string]types.AttributeValue) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{TableName: factories, Key: attrs("factoryId", id+"-2"),
			UpdateExpression: aws.String(expression), ExpressionAttributeValues: values}}
	}
	for name, c := range map[string]struct {
		want  string
		parts func(id string) []types.TransactWriteItem
		but   map[string]string // other answers, by reference
	}{
		"no part": {"ValidationException", func(string) []types.TransactWriteItem { return []types.TransactWriteItem{} }, nil},
		"101 parts": {"ValidationException", func(id string) []types.TransactWriteItem {
			var parts []types.TransactWriteItem
			for i := range 101 {
				parts = append(parts, right(fmt.Sprint(id, "-", i)))
			}
			return append(parts[1:], right(id))
		}, nil},
		"one item twice": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{right(id), {Delete: &types.Delete{TableName: factories, Key: attrs("factoryId", id)}}}
		}, nil},
		"two actions in a part": {"ValidationException", func(id string) []types.TransactWriteItem {
			both := right(id + "-2")
			both.Delete = &types.Delete{TableName: factories, Key: attrs("factoryId", id+"-3")}
			return []types.TransactWriteItem{right(id), both}
		}, nil},
		"no action in a part": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{right(id), {}}
		}, nil},
		"no such table": {"ResourceNotFoundException", func(id string) []types.TransactWriteItem {
			other := right(id + "-2")
			other.Put.TableName = aws.String("wavegate-none")
			return []types.TransactWriteItem{right(id), other}
		}, nil},
		"an update that does not parse": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{right(id), update(id, "SET n :n", attrs(":n", 1))}
		}, nil},
		"an empty key": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{right(id), right("")}
		}, nil},
		"an empty key of an index": {"ValidationException", func(id string) []types.TransactWriteItem {
			other := right(id + "-2")
			other.Put.Item["organizationId"] = &types.AttributeValueMemberS{}
			return []types.TransactWriteItem{right(id), other}
		}, nil},
		"a condition that does not parse": {"ValidationException", func(id string) []types.TransactWriteItem {
			bad := right(id + "-2")
			bad.Put.ConditionExpression = aws.String("attribute_exists(")
			return []types.TransactWriteItem{right(id), bad}
		}, nil},
		"an undefined value": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{right(id), update(id, "SET n = :n, m = :m", attrs(":n", 1))}
		}, nil},
		"an unused value": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{right(id), update(id, "SET n = :n", attrs(":n", 1, ":m", 2))}
		}, nil},
		"an undefined name": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{right(id), update(id, "SET #n = :n", attrs(":n", 1))}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
				id := uuid.NewString()
				want := cmp.Or(c.but[store(t)], c.want)
				if got := code(transact(t, db, c.parts(id)...)); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if got := get(t, db, factories, attrs("factoryId", id)); (got != nil) != (want == "<nil>") {
					t.Errorf("it wrote %v", got)
				}
			})
		})
	}
}

// TestTransaction_InvalidPart_IsCancelledForThatPart covers faults that depend on the item or
// on the table's keys. The expected answer is that of AWS.
func TestTransaction_InvalidPart_IsCancelledForThatPart(t *testing.T) {
	set := func(id, expression string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{TableName: factories, Key: attrs("factoryId", id),
			UpdateExpression: aws.String(expression), ExpressionAttributeValues: attrs(":n", 1)}}
	}
	for name, c := range map[string]struct {
		part func(id string) types.TransactWriteItem
		but  map[string]string
	}{
		"an item without its key": {func(string) types.TransactWriteItem {
			return types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: attrs("n", 1)}}
		}, map[string]string{"reference": "ValidationException"}},
		"a key that the table does not have": {func(id string) types.TransactWriteItem {
			return types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: attrs("another", id)}}
		}, map[string]string{"reference": "ValidationException"}},
		"a key of another type": {func(string) types.TransactWriteItem {
			return types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: attrs("factoryId", 7)}}
		}, nil},
		"a sum with a string": {func(id string) types.TransactWriteItem { return set(id, "SET s = s + :n") },
			map[string]string{"reference": "ValidationException"}},
		"a sum with a missing attribute": {func(id string) types.TransactWriteItem { return set(id, "SET n = m + :n") },
			map[string]string{"reference": "ValidationException"}},
	} {
		t.Run(name, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
				id := uuid.NewString()
				put(t, db, factories, attrs("factoryId", id, "s", "text"))
				err := transact(t, db,
					types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: attrs("factoryId", id+"-2")}}, c.part(id))
				got, want := code(err), cmp.Or(c.but[store(t)], "TransactionCanceledException")
				if got != want || got == "TransactionCanceledException" && codes(err) != "None ValidationError" {
					t.Errorf("got %v, want %s", err, want)
				}
				if got := get(t, db, factories, attrs("factoryId", id+"-2")); (got != nil) != (want == "<nil>") {
					t.Errorf("it wrote %v", got)
				}
			})
		})
	}
}

func TestTransaction_RepeatedWithItsToken_IsAppliedOnce(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		id := uuid.NewString()
		in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString()), TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: factories, Key: attrs("factoryId", id), UpdateExpression: aws.String("ADD n :a, m :b"), ExpressionAttributeValues: attrs(":a", 1, ":b", 2)}}}}
		for range 3 {
			if _, err := db.TransactWriteItems(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		if got := get(t, db, factories, attrs("factoryId", id)); text(got["n"]) != "1" || text(got["m"]) != "2" {
			t.Errorf("the item is %v", got)
		}
		in.TransactItems[0].Update.ExpressionAttributeValues = attrs(":a", 5, ":b", 2)
		if _, err := db.TransactWriteItems(t.Context(), in); code(err) != "IdempotentParameterMismatchException" {
			t.Errorf("another transaction with the token gets %v", err)
		}
		for range 2 { // the SDK makes a new token for each call
			if err := transact(t, db, in.TransactItems...); err != nil {
				t.Fatal(err)
			}
		}
		if got := text(get(t, db, factories, attrs("factoryId", id))["n"]); got != "11" {
			t.Errorf("n = %s after two transactions with tokens of their own", got)
		}
	})
}

func TestTransaction_CancelledWithAToken_CanBeRepeated(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		key := attrs("factoryId", uuid.NewString())
		in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString()), TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: factories, Key: key, UpdateExpression: aws.String("ADD n :a"), ExpressionAttributeValues: attrs(":a", 1), ConditionExpression: aws.String(mustExist)}}}}
		if _, err := db.TransactWriteItems(t.Context(), in); codes(err) != "ConditionalCheckFailed" {
			t.Fatalf("got %v", err)
		}
		put(t, db, factories, key)
		if _, err := db.TransactWriteItems(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := text(get(t, db, factories, key)["n"]); got != "1" {
			t.Errorf("n = %q", got)
		}
	})
}

// TestTransaction_ManyAtOnce_KeepTheTotal moves amounts between items. No amount may be lost or
// doubled.
func TestTransaction_ManyAtOnce_KeepTheTotal(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		const items, workers, moves, each = 4, 8, 20, 100
		id := uuid.NewString()
		key := func(n int) map[string]types.AttributeValue { return attrs("factoryId", fmt.Sprint(id, "-", n%items)) }
		for n := range items {
			item := key(n)
			item["n"] = &types.AttributeValueMemberN{Value: strconv.Itoa(each)}
			put(t, db, factories, item)
		}
		move := func(from, to, amount int) error {
			return transact(t, db,
				types.TransactWriteItem{Update: &types.Update{TableName: factories, Key: key(from), UpdateExpression: aws.String("SET n = n - :a"),
					ConditionExpression: aws.String("n >= :a"), ExpressionAttributeValues: attrs(":a", amount)}},
				types.TransactWriteItem{Update: &types.Update{TableName: factories, Key: key(to), UpdateExpression: aws.String("SET n = n + :a"),
					ExpressionAttributeValues: attrs(":a", amount)}})
		}
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() {
				for m := range moves {
					err := move(w+m, w+m+1+m%(items-1), 10+w)
					// DynamoDB cancels transactions that collide.
					if c := codes(err); err != nil && !strings.Contains(c, "ConditionalCheckFailed") && !strings.Contains(c, "TransactionConflict") {
						t.Errorf("got %v", err)
					}
				}
			})
		}
		group.Wait()
		sum := 0
		for n := range items {
			v, err := strconv.Atoi(text(get(t, db, factories, key(n))["n"]))
			if err != nil || v < 0 {
				t.Errorf("item %d has n = %d, %v", n, v, err)
			}
			sum += v
		}
		if sum != items*each {
			t.Errorf("the sum is %d, want %d", sum, items*each)
		}
	})
}
