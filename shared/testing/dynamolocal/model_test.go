package dynamolocal_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// recipes is a table with a sort key and a local index. The index has the items with the
// attribute productMethod.
var recipes = aws.String(dynamolocal.TableName(dynamo.Methods))

// A row is an item of the model: attributes as text, by their names.
type row map[string]string

// A model is one partition of the table recipes, by sort key.
type model map[string]row

// An act is an action on an item, for both the model and the store.
type act struct {
	name  string
	part  types.TransactWriteItem
	holds func(row) bool // the condition; the row is nil if there is none
	does  func(row) row  // must not change the row that it gets
	old   types.ReturnValuesOnConditionCheckFailure
}

func drawAct(t *rapid.T, partition, sort string) act {
	n := rapid.IntRange(0, 3).Draw(t, "n")
	product := rapid.SampledFrom([]string{"p", "q"}).Draw(t, "product") + "#" + sort
	key := attrs("factoryId", partition, "methodId", sort)
	values := map[string]any{}

	var condition *string
	a := act{holds: func(row) bool { return true }}
	if rapid.Bool().Draw(t, "asks for the item") {
		a.old = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	when := func(expression string, holds func(row) bool) { condition, a.holds = aws.String(expression), holds }
	kind := rapid.SampledFrom([]string{"none", "absent", "present", "n", "product"}).Draw(t, "condition")
	switch kind {
	case "absent":
		when("attribute_not_exists(methodId)", func(r row) bool { return r == nil })
	case "present":
		when("attribute_exists(methodId)", func(r row) bool { return r != nil })
	case "n":
		values[":c"] = n
		when("n <= :c", func(r row) bool { return r["n"] != "" && r["n"] <= fmt.Sprint(n) })
	case "product":
		values[":c"] = product
		when("productMethod = :c OR attribute_not_exists(productMethod)", func(r row) bool { return r["productMethod"] == "" || r["productMethod"] == product })
	}
	defined := func() map[string]types.AttributeValue {
		var pairs []any
		for name, v := range values {
			pairs = append(pairs, name, v)
		}
		if len(pairs) == 0 {
			return nil
		}
		return attrs(pairs...)
	}
	update := func(expression string, does func(row)) {
		a.part.Update = &types.Update{TableName: recipes, Key: key, UpdateExpression: aws.String(expression), ConditionExpression: condition,
			ExpressionAttributeValues: defined(), ReturnValuesOnConditionCheckFailure: a.old}
		a.does = func(r row) row {
			next := row{}
			maps.Copy(next, r)
			does(next)
			return next
		}
	}
	a.name = rapid.SampledFrom([]string{"put", "put in index", "delete", "check", "set", "enter index", "leave index", "leave index and set"}).Draw(t, "action")
	switch a.name {
	case "put", "put in index":
		item, is := attrs("factoryId", partition, "methodId", sort, "n", n), row{"n": fmt.Sprint(n)}
		if a.name == "put in index" {
			item["productMethod"], is["productMethod"] = &types.AttributeValueMemberS{Value: product}, product
		}
		a.part.Put = &types.Put{TableName: recipes, Item: item, ConditionExpression: condition, ExpressionAttributeValues: defined(),
			ReturnValuesOnConditionCheckFailure: a.old}
		a.does = func(row) row { return is }
	case "delete":
		a.part.Delete = &types.Delete{TableName: recipes, Key: key, ConditionExpression: condition, ExpressionAttributeValues: defined(),
			ReturnValuesOnConditionCheckFailure: a.old}
		a.does = func(row) row { return nil }
	case "check":
		if condition == nil { // a check must have one
			when("attribute_exists(methodId)", func(r row) bool { return r != nil })
		}
		a.part.ConditionCheck = &types.ConditionCheck{TableName: recipes, Key: key, ConditionExpression: condition, ExpressionAttributeValues: defined(),
			ReturnValuesOnConditionCheckFailure: a.old}
		a.does = func(r row) row { return r }
	case "set":
		values[":n"] = n
		update("SET n = :n", func(r row) { r["n"] = fmt.Sprint(n) })
	case "enter index":
		values[":p"] = product
		update("SET productMethod = :p", func(r row) { r["productMethod"] = product })
	case "leave index":
		update("REMOVE productMethod", func(r row) { delete(r, "productMethod") })
	case "leave index and set":
		values[":n"] = n
		update("REMOVE productMethod SET n = :n", func(r row) { delete(r, "productMethod"); r["n"] = fmt.Sprint(n) })
	}
	a.name += " when " + kind
	return a
}

func rowOf(item map[string]types.AttributeValue) row {
	if item == nil {
		return nil
	}
	r := row{}
	for name, v := range item {
		if name != "factoryId" && name != "methodId" {
			r[name] = text(v)
		}
	}
	return r
}

// carryOut runs a transaction as DynamoDB does. It returns the reasons, or an empty string if it
// was applied.
func (m model) carryOut(sorts []string, acts []act) (reasons string) {
	var codes []string
	failed := false
	for i, a := range acts {
		c := "None"
		if !a.holds(m[sorts[i]]) {
			c, failed = "ConditionalCheckFailed", true
		}
		codes = append(codes, c)
	}
	if failed {
		return strings.Join(codes, " ")
	}
	for i, a := range acts {
		if next := a.does(m[sorts[i]]); next == nil {
			delete(m, sorts[i])
		} else {
			m[sorts[i]] = next
		}
	}
	return ""
}

// inIndex lists the sort keys of the items in the local index, in its order.
func (m model) inIndex() []string {
	var list []string
	for sort, r := range m {
		if r["productMethod"] != "" {
			list = append(list, sort)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(m[a]["productMethod"], m[b]["productMethod"]) })
	return list
}

// TestTransactions_AnySequence_AnswerAsTheModel compares the reasons, the items in them, the
// stored items and the index.
func TestTransactions_AnySequence_AnswerAsTheModel(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, db *dynamodb.Client) {
		dynamotest.Check(t, func(rt *rapid.T) {
			partition, m := uuid.NewString(), model{}
			for range rapid.IntRange(1, 12).Draw(rt, "transactions") {
				sorts := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 3, rapid.ID[string]).Draw(rt, "items")
				var acts []act
				var parts []types.TransactWriteItem
				for _, sort := range sorts {
					a := drawAct(rt, partition, sort)
					acts, parts = append(acts, a), append(parts, a.part)
				}
				before := maps.Clone(m)
				want := m.carryOut(sorts, acts)
				_, err := db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: parts})
				got := ""
				if err != nil {
					got = codes(err)
				}
				expect.Must(rt, got == want, "got %q, want %q", got, want)
				compareItems(rt, err, sorts, acts, before)
				compareStored(t, rt, db, partition, m)
			}
		})
	})
}

// compareItems checks that each failed condition came with its item, if asked.
func compareItems(t *rapid.T, err error, sorts []string, acts []act, before model) {
	for i, r := range reasonsOf(err) {
		want := row(nil)
		if aws.ToString(r.Code) == "ConditionalCheckFailed" && acts[i].old != "" {
			want = before[sorts[i]]
		}
		got := rowOf(r.Item)
		expect.Must(t, maps.Equal(got, want), "part %d came with %v, want %v", i, got, want)
	}
}

func compareStored(t *testing.T, rt *rapid.T, db *dynamodb.Client, partition string, m model) {
	t.Helper()
	query := func(index *string) []map[string]types.AttributeValue {
		out, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: recipes, IndexName: index, ConsistentRead: aws.Bool(true),
			KeyConditionExpression: aws.String("factoryId = :p"), ExpressionAttributeValues: attrs(":p", partition)})
		expect.OK(rt, err)
		return out.Items
	}
	stored := model{}
	for _, item := range query(nil) {
		stored[text(item["methodId"])] = rowOf(item)
	}
	expect.Must(rt, maps.EqualFunc(stored, m, func(a, b row) bool { return maps.Equal(a, b) }),
		"stored is %v, want %v", stored, m)
	var listed []string
	for _, item := range query(aws.String("byProduct")) {
		listed = append(listed, text(item["methodId"]))
	}
	expect.Equal(rt, listed, m.inIndex(), "the index lists")
}
