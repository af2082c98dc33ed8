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
	"wavegate/shared/testing/expect"
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
	expect.OK(t, err)
	return out.Item
}

func put(t testing.TB, db *dynamodb.Client, table *string, item map[string]types.AttributeValue) {
	t.Helper()
	expect.Value(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: item}))(t)
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

// made, changed and gone are parts on an item of the table factories.
func made(id string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: attrs("factoryId", id)}}
}

func changed(id, expression string, values ...any) types.TransactWriteItem {
	u := &types.Update{TableName: factories, Key: attrs("factoryId", id), UpdateExpression: aws.String(expression)}
	if len(values) > 0 {
		u.ExpressionAttributeValues = attrs(values...)
	}
	return types.TransactWriteItem{Update: u}
}

func gone(key ...any) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: attrs(key...)}}
}

// store is the name of the store in a test of dynamotest.Each.
func store(t *testing.T) string { return path.Base(t.Name()) }

// TestTransaction_InvalidRequest_IsRefusedAndWritesNothing has a valid part beside each invalid
// one. The expected answer is that of AWS; see README.md.
func TestTransaction_InvalidRequest_IsRefusedAndWritesNothing(t *testing.T) {
	with := func(id string, change func(*types.TransactWriteItem)) types.TransactWriteItem {
		part := made(id)
		change(&part)
		return part
	}
	for name, c := range map[string]struct {
		want string
		more func(id string) []types.TransactWriteItem // beside a valid part; id is free
	}{
		"101 parts": {"ValidationException", func(id string) (parts []types.TransactWriteItem) {
			for i := range 100 {
				parts = append(parts, made(fmt.Sprint(id, "-", i)))
			}
			return parts
		}},
		"no action in a part": {"ValidationException", func(string) []types.TransactWriteItem { return []types.TransactWriteItem{{}} }},
		"one item twice": {"ValidationException", func(id string) []types.TransactWriteItem {
			return []types.TransactWriteItem{made(id), gone("factoryId", id)}
		}},
	} {
		t.Run(name, func(t *testing.T) { isRefused(t, c.want, c.more) })
	}
	for name, c := range map[string]struct {
		want string
		part func(id string) types.TransactWriteItem
	}{
		"two actions in a part": {"ValidationException", func(id string) types.TransactWriteItem {
			return with(id, func(p *types.TransactWriteItem) { p.Delete = gone("factoryId", id+"-2").Delete })
		}},
		"no such table": {"ResourceNotFoundException", func(id string) types.TransactWriteItem {
			return with(id, func(p *types.TransactWriteItem) { p.Put.TableName = aws.String("wavegate-none") })
		}},
		"an empty key": {"ValidationException", func(string) types.TransactWriteItem { return made("") }},
		"an empty key of an index": {"ValidationException", func(id string) types.TransactWriteItem {
			return with(id, func(p *types.TransactWriteItem) { p.Put.Item["organizationId"] = &types.AttributeValueMemberS{} })
		}},
		"a condition that does not parse": {"ValidationException", func(id string) types.TransactWriteItem {
			return with(id, func(p *types.TransactWriteItem) { p.Put.ConditionExpression = aws.String("attribute_exists(") })
		}},
		"an update that does not parse": {"ValidationException", func(id string) types.TransactWriteItem { return changed(id, "SET n :n", ":n", 1) }},
		"an undefined value":            {"ValidationException", func(id string) types.TransactWriteItem { return changed(id, "SET n = :n, m = :m", ":n", 1) }},
		"an unused value":               {"ValidationException", func(id string) types.TransactWriteItem { return changed(id, "SET n = :n", ":n", 1, ":m", 2) }},
		"an undefined name":             {"ValidationException", func(id string) types.TransactWriteItem { return changed(id, "SET #n = :n", ":n", 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			isRefused(t, c.want, func(id string) []types.TransactWriteItem { return []types.TransactWriteItem{c.part(id)} })
		})
	}
	t.Run("no part", func(t *testing.T) {
		dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
			expect.Equal(t, code(transact(t, db, []types.TransactWriteItem{}...)), "ValidationException", "it is refused as")
		})
	})
}

// isRefused checks that every store refuses parts beside a valid one, and writes nothing.
func isRefused(t *testing.T, want string, more func(id string) []types.TransactWriteItem) {
	t.Helper()
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		id := uuid.NewString()
		expect.Equal(t, code(transact(t, db, append(more(id+"-2"), made(id))...)), want, "it is refused as")
		expect.Equal(t, len(get(t, db, factories, attrs("factoryId", id))), 0, "the number of attributes written is")
	})
}

// TestTransaction_InvalidPart_IsCancelledForThatPart covers faults that depend on the item or
// on the table's keys. The expected answer is that of AWS.
func TestTransaction_InvalidPart_IsCancelledForThatPart(t *testing.T) {
	for name, c := range map[string]struct {
		part func(id string) types.TransactWriteItem
		but  map[string]string // other answers, by the store
	}{
		"an item without its key": {func(string) types.TransactWriteItem {
			return types.TransactWriteItem{Put: &types.Put{TableName: factories, Item: attrs("n", 1)}}
		}, map[string]string{"reference": "ValidationException"}},
		"a key that the table does not have": {func(id string) types.TransactWriteItem { return gone("another", id) },
			map[string]string{"reference": "ValidationException"}},
		"a key of another type": {func(string) types.TransactWriteItem { return gone("factoryId", 7) }, nil},
		"a sum with a string": {func(id string) types.TransactWriteItem { return changed(id, "SET s = s + :n", ":n", 1) },
			map[string]string{"reference": "ValidationException"}},
		"a sum with a missing attribute": {func(id string) types.TransactWriteItem { return changed(id, "SET n = m + :n", ":n", 1) },
			map[string]string{"reference": "ValidationException"}},
	} {
		t.Run(name, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
				id := uuid.NewString()
				put(t, db, factories, attrs("factoryId", id, "s", "text"))
				err := transact(t, db, made(id+"-2"), c.part(id))
				want := cmp.Or(c.but[store(t)], "TransactionCanceledException")
				expect.Equal(t, code(err), want, "%v is", err)
				if want == "TransactionCanceledException" {
					expect.Equal(t, codes(err), "None ValidationError", "the reasons are")
				}
				expect.Equal(t, len(get(t, db, factories, attrs("factoryId", id+"-2"))), 0, "the number of attributes written is")
			})
		})
	}
}

func TestTransaction_RepeatedWithItsToken_IsAppliedOnce(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		id := uuid.NewString()
		in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString()),
			TransactItems: []types.TransactWriteItem{changed(id, "ADD n :a, m :b", ":a", 1, ":b", 2)}}
		for range 3 {
			expect.Value(db.TransactWriteItems(t.Context(), in))(t)
		}
		got := get(t, db, factories, attrs("factoryId", id))
		expect.That(t, text(got["n"]) == "1" && text(got["m"]) == "2", "the item is %v", got)
		in.TransactItems[0].Update.ExpressionAttributeValues = attrs(":a", 5, ":b", 2)
		if _, err := db.TransactWriteItems(t.Context(), in); code(err) != "IdempotentParameterMismatchException" {
			t.Errorf("another transaction with the token gets %v", err)
		}
		for range 2 { // the SDK makes a new token for each call
			expect.OK(t, transact(t, db, in.TransactItems...))
		}
		expect.Equal(t, text(get(t, db, factories, attrs("factoryId", id))["n"]), "11", "after two transactions with tokens of their own, n is")
	})
}

func TestTransaction_CancelledWithAToken_CanBeRepeated(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		id := uuid.NewString()
		part, key := changed(id, "ADD n :a", ":a", 1), attrs("factoryId", id)
		part.Update.ConditionExpression = aws.String("attribute_exists(factoryId)")
		in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString()), TransactItems: []types.TransactWriteItem{part}}
		if _, err := db.TransactWriteItems(t.Context(), in); codes(err) != "ConditionalCheckFailed" {
			t.Fatalf("got %v", err)
		}
		put(t, db, factories, key)
		expect.Value(db.TransactWriteItems(t.Context(), in))(t)
		expect.Equal(t, text(get(t, db, factories, key)["n"]), "1", "n =")
	})
}

// TestTransaction_ManyAtOnce_KeepTheTotal moves amounts between items. No amount may be lost or
// doubled.
func TestTransaction_ManyAtOnce_KeepTheTotal(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		const items, workers, moves, each = 4, 8, 20, 100
		id := uuid.NewString()
		key := func(n int) string { return fmt.Sprint(id, "-", n%items) }
		for n := range items {
			put(t, db, factories, attrs("factoryId", key(n), "n", each))
		}
		move := func(from, to, amount int) error {
			less := changed(key(from), "SET n = n - :a", ":a", amount)
			less.Update.ConditionExpression = aws.String("n >= :a")
			return transact(t, db, less, changed(key(to), "SET n = n + :a", ":a", amount))
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
			v, err := strconv.Atoi(text(get(t, db, factories, attrs("factoryId", key(n)))["n"]))
			expect.That(t, err == nil && v >= 0, "item %d has n = %d, %v", n, v, err)
			sum += v
		}
		expect.Equal(t, sum, items*each, "the sum is")
	})
}
