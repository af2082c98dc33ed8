package storefront

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// grants are those of two functions: a reader that may only query an index, and a writer.
var grants = map[string][]operations.Grant{
	"reader": {
		{Table: dynamo.Factories, Actions: []dynamo.Permission{dynamo.Get}},
		{Table: dynamo.Rollouts, Actions: []dynamo.Permission{dynamo.Query}, Indexes: []string{"all"}, OnlyIndexes: true},
		{Table: dynamo.Audit, Actions: []dynamo.Permission{dynamo.Query}},
	},
	"writer": {
		{Table: dynamo.Factories, Actions: []dynamo.Permission{dynamo.Get, dynamo.Put, dynamo.ConditionCheck}},
		{Table: dynamo.Audit, Actions: []dynamo.Permission{dynamo.Put}},
	},
}

func start(t *testing.T) *Front {
	t.Helper()
	s := expect.Value(dynamolocal.Embedded())(t)
	t.Cleanup(func() { s.Close() })
	return before(t, s)
}

func before(t *testing.T, s *dynamolocal.Store) *Front {
	t.Helper()
	expect.OK(t, dynamolocal.CreateTables(t.Context(), s.Client()))
	f := expect.Value(Start(Options{Endpoint: s.Endpoint, Grants: grants, TableName: dynamolocal.TableName}))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// as is a client with a function's key. It does not retry, so that the front sees each call
// once.
func (f *Front) as(key string) *dynamodb.Client {
	o := dynamolocal.Client(f.URL(), key).Options()
	o.Retryer = aws.NopRetryer{}
	return dynamodb.New(o)
}

var (
	factories = aws.String(dynamolocal.TableName(dynamo.Factories))
	audit     = aws.String(dynamolocal.TableName(dynamo.Audit))
	rollouts  = aws.String(dynamolocal.TableName(dynamo.Rollouts))
)

func item(pairs ...string) map[string]types.AttributeValue {
	m := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &types.AttributeValueMemberS{Value: pairs[i+1]}
	}
	return m
}

func putFactory(ctx context.Context, db *dynamodb.Client, id string) error {
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: factories, Item: item("factoryId", id)})
	return err
}

func hasFactory(t *testing.T, f *Front, id string) bool {
	t.Helper()
	out, err := f.as(AdminKey).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: factories, Key: item("factoryId", id)})
	expect.OK(t, err)
	return len(out.Item) > 0
}

func query(ctx context.Context, db *dynamodb.Client, table *string, index, key string) error {
	in := &dynamodb.QueryInput{
		TableName: table, KeyConditionExpression: aws.String("#k = :v"),
		ExpressionAttributeNames:  map[string]string{"#k": key},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: "x"}},
	}
	if index != "" {
		in.IndexName = aws.String(index)
	}
	_, err := db.Query(ctx, in)
	return err
}

// fails checks that DynamoDB answers with an error, and returns its message.
func fails(t *testing.T, err error, code string) (message string) {
	t.Helper()
	api, ok := errors.AsType[smithy.APIError](err)
	expect.Must(t, ok && api.ErrorCode() == code, "got %v, want %s", err, code)
	return api.ErrorMessage()
}

func denied(t *testing.T, err error, action, resource string) {
	t.Helper()
	message := fails(t, err, "AccessDeniedException")
	want := "is not authorized to perform: dynamodb:" + action +
		" on resource: arn:aws:dynamodb:eu-central-1:000000000000:table/" + resource + " "
	expect.That(t, strings.Contains(message, want), "the message is %q", message)
}

// The reference checks access keys more strictly than the embedded store.
func TestFront_GrantedCall_ReachesTheStore(t *testing.T) {
	fronts := map[string]*Front{"embedded": start(t)}
	if endpoint := os.Getenv(dynamotest.Reference); endpoint != "" {
		fronts["reference"] = before(t, dynamolocal.External(endpoint))
	}
	for kind, f := range fronts {
		t.Run(kind, func(t *testing.T) {
			expect.OK(t, putFactory(t.Context(), f.as(AccessKey("writer")), "munich-1"))
			out, err := f.as(AccessKey("reader")).GetItem(t.Context(),
				&dynamodb.GetItemInput{TableName: factories, Key: item("factoryId", "munich-1")})
			expect.That(t, err == nil && len(out.Item) == 1, "%v %v", out, err)
		})
	}
}

// DynamoDB Local accepts no other characters in a key.
func TestAccessKey_OfEveryFunction_IsUniqueAndAlphanumeric(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range table.Functions() {
		key := AccessKey(name)
		expect.That(t, !seen[key] && regexp.MustCompile(`^[A-Z0-9]{5,128}$`).MatchString(key),
			"%s has the key %s", name, key)
		seen[key] = true
	}
}

func TestFront_CallWithoutAGrant_IsRefusedAsByAWS(t *testing.T) {
	f := start(t)
	reader, writer := f.as(AccessKey("reader")), f.as(AccessKey("writer"))
	denied(t, putFactory(t.Context(), reader, "munich-1"), "PutItem", "wavegate-factories")
	_, err := reader.Scan(t.Context(), &dynamodb.ScanInput{TableName: factories})
	denied(t, err, "Scan", "wavegate-factories")
	_, err = writer.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: audit, Key: item("stream", "s", "position", "p")})
	denied(t, err, "DeleteItem", "wavegate-audit")
	_, err = writer.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: audit})
	denied(t, err, "DeleteTable", "wavegate-audit")
	_, err = reader.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("another-table"), Key: item("id", "1")})
	denied(t, err, "GetItem", "another-table")
	_, err = writer.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		*factories: {Keys: []map[string]types.AttributeValue{item("factoryId", "a")}}}})
	denied(t, err, "BatchGetItem", "wavegate-factories")
	expect.Equal(t, hasFactory(t, f, "munich-1"), false, "the refused item was written:")
	expect.Equal(t, len(f.Refused()), 6, "refusals are noted:")
}

func TestFront_Queries_AreGrantedByIndex(t *testing.T) {
	f := start(t)
	reader := f.as(AccessKey("reader"))
	expect.OK(t, query(t.Context(), reader, rollouts, "all", "list"))
	denied(t, query(t.Context(), reader, rollouts, "", "id"), "Query", "wavegate-rollouts")
	denied(t, query(t.Context(), reader, rollouts, "byChannel", "pair"), "Query", "wavegate-rollouts/index/byChannel")
	expect.OK(t, query(t.Context(), reader, audit, "", "stream"))
}

func TestFront_EachPartOfATransaction_NeedsItsRight(t *testing.T) {
	f := start(t)
	writer := f.as(AccessKey("writer"))
	putEvent := types.TransactWriteItem{Put: &types.Put{TableName: audit, Item: item("stream", "s", "position", "p")}}
	check := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: factories, Key: item("factoryId", "a"),
		ConditionExpression: aws.String("attribute_not_exists(factoryId)")}}
	write := func(parts ...types.TransactWriteItem) error {
		_, err := writer.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: parts})
		return err
	}
	expect.OK(t, write(putEvent, check))
	denied(t, write(putEvent, types.TransactWriteItem{Update: &types.Update{TableName: factories, Key: item("factoryId", "a"),
		UpdateExpression: aws.String("SET a = :a"), ExpressionAttributeValues: item(":a", "1")}}), "UpdateItem", "wavegate-factories")
	denied(t, write(types.TransactWriteItem{Delete: &types.Delete{TableName: factories, Key: item("factoryId", "a")}}),
		"DeleteItem", "wavegate-factories")
	denied(t, write(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: audit, Key: item("stream", "s", "position", "p"),
		ConditionExpression: aws.String("attribute_exists(stream)")}}), "ConditionCheckItem", "wavegate-audit")
	_, err := writer.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: audit, Key: item("stream", "s", "position", "p")}}}})
	denied(t, err, "GetItem", "wavegate-audit")
}

func TestFront_UnknownKey_IsRefused(t *testing.T) {
	f := start(t)
	fails(t, putFactory(t.Context(), f.as("LOCALSTRANGER"), "munich-1"), "UnrecognizedClientException")
}

func TestFront_Unused_ListsUnusedGrants(t *testing.T) {
	f := start(t)
	all := []Right{
		{"reader", dynamo.Audit, dynamo.Query, ""},
		{"reader", dynamo.Factories, dynamo.Get, ""},
		{"reader", dynamo.Rollouts, dynamo.Query, "all"},
		{"writer", dynamo.Audit, dynamo.Put, ""},
		{"writer", dynamo.Factories, dynamo.ConditionCheck, ""},
		{"writer", dynamo.Factories, dynamo.Get, ""},
		{"writer", dynamo.Factories, dynamo.Put, ""},
	}
	expect.Equal(t, f.Unused(), all, "before any call:")
	hasFactory(t, f, "x") // calls of the administrator do not count
	expect.OK(t, putFactory(t.Context(), f.as(AccessKey("writer")), "x"))
	expect.OK(t, query(t.Context(), f.as(AccessKey("reader")), rollouts, "all", "list"))
	used := []Right{all[2], all[6]}
	expect.Equal(t, f.Used(), used, "used:")
	rest := slices.DeleteFunc(slices.Clone(all), func(r Right) bool { return slices.Contains(used, r) })
	expect.Equal(t, f.Unused(), rest, "unused:")
}

func writesFactories(c *Call) bool { return c.Writes(*factories) }

func TestBarrier_HoldsCallsUntilAllHaveArrived(t *testing.T) {
	f := start(t)
	b := f.Barrier(5, writesFactories)
	var wg sync.WaitGroup
	results := make(chan error, 5)
	put := func(i int) {
		wg.Go(func() { results <- putFactory(t.Context(), f.as(AccessKey("writer")), fmt.Sprint("f-", i)) })
	}
	for i := range 4 {
		put(i)
	}
	expect.Until(t, "four arrive", func() bool { return b.Arrived() == 4 })
	for i := range 4 {
		expect.Must(t, !hasFactory(t, f, fmt.Sprint("f-", i)), "a held call was let through")
	}
	expect.Must(t, len(results) == 0, "a held call was answered")
	put(4)
	expect.OK(t, b.Wait(t.Context()))
	wg.Wait()
	close(results)
	for err := range results {
		expect.That(t, err == nil, "%v", err)
	}
	// The barrier stays open.
	if err := putFactory(t.Context(), f.as(AccessKey("writer")), "f-5"); err != nil || b.Arrived() != 5 {
		t.Errorf("%v after %d arrivals", err, b.Arrived())
	}
}

func TestBarrier_OtherCalls_Pass(t *testing.T) {
	f := start(t)
	b := f.Barrier(2, writesFactories)
	defer b.Open()
	if err := query(t.Context(), f.as(AccessKey("reader")), audit, "", "stream"); err != nil || b.Arrived() != 0 {
		t.Errorf("%v after %d arrivals", err, b.Arrived())
	}
}

func TestBarrier_NotAllArrive_WaitOpensItAndReturnsAnError(t *testing.T) {
	f := start(t)
	b := f.Barrier(2, writesFactories)
	result := make(chan error, 1)
	go func() { result <- putFactory(t.Context(), f.as(AccessKey("writer")), "x") }()
	expect.Until(t, "one arrives", func() bool { return b.Arrived() == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := b.Wait(ctx); err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Errorf("got %v", err)
	}
	err := <-result
	expect.That(t, err == nil, "%v", err)
}

func TestIntercept_EachEffect(t *testing.T) {
	for _, c := range []struct {
		name    string
		effect  Effect
		fails   string // the error's code, or "-" for a broken connection
		written bool
	}{
		{"untouched", Effect{}, "", true},
		{"delayed", Effect{Delay: time.Millisecond}, "", true},
		{"answered with a failure", Effect{Answer: Failure(400, "ProvisionedThroughputExceededException", "slow down")},
			"ProvisionedThroughputExceededException", false},
		{"request lost", Effect{DropRequest: true}, "-", false},
		{"answer lost", Effect{DropAnswer: true}, "-", true},
		{"sent twice", Effect{Twice: true}, "ConditionalCheckFailedException", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t)
			remove := f.Intercept(func(call *Call) Effect {
				expect.That(t, call.Function == "writer" && call.Operation == "PutItem" && len(call.Body) != 0,
					"asked about %+v", call)
				return c.effect
			})
			put := func(id string) error {
				_, err := f.as(AccessKey("writer")).PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: factories, Item: item("factoryId", id), ConditionExpression: aws.String("attribute_not_exists(factoryId)")})
				return err
			}
			err := put("x")
			api, answered := errors.AsType[smithy.APIError](err)
			switch {
			case c.fails == "" && err != nil, c.fails == "-" && (err == nil || answered):
				t.Errorf("got %v", err)
			case c.fails != "" && c.fails != "-" && (!answered || api.ErrorCode() != c.fails):
				t.Errorf("got %v, want %s", err, c.fails)
			}
			expect.Equal(t, hasFactory(t, f, "x"), c.written, "it is written:")
			remove()
			if err := put("y"); err != nil {
				t.Errorf("after its removal: %v", err)
			}
		})
	}
}

func TestIntercept_SeveralFunctions_FirstEffectApplies(t *testing.T) {
	f := start(t)
	f.Intercept(func(*Call) Effect { return Effect{} })
	f.Intercept(func(*Call) Effect { return Effect{Answer: Failure(400, "FirstException", "")} })
	f.Intercept(func(*Call) Effect { return Effect{Answer: Failure(400, "SecondException", "")} })
	fails(t, putFactory(t.Context(), f.as(AccessKey("writer")), "x"), "FirstException")
}
