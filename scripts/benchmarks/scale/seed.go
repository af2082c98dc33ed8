package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
	"wavegate/shared/trail/audit"
)

// An attributes is an item as the SDK has it.
type attributes = map[string]types.AttributeValue

// replaced is the item with texts replaced wherever they stand, so that what the service stored once
// is the pattern of all that is seeded.
func replaced(item attributes, r *strings.Replacer) attributes {
	out := make(attributes, len(item))
	for name, v := range item {
		out[name] = replacedValue(v, r)
	}
	return out
}

func replacedValue(v types.AttributeValue, r *strings.Replacer) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: r.Replace(v.Value)}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: replaced(v.Value, r)}
	case *types.AttributeValueMemberL:
		list := make([]types.AttributeValue, len(v.Value))
		for i, member := range v.Value {
			list[i] = replacedValue(member, r)
		}
		return &types.AttributeValueMemberL{Value: list}
	}
	return v
}

// seedWriters write side by side; a local store takes no more from more.
const seedWriters = 4

// seed puts the items numbered from up to n into a table, straight into the store.
func seed(ctx context.Context, db *dynamodb.Client, table dynamo.TableID, from, n int, item func(i int) attributes) error {
	const batch = 25 // the most that BatchWriteItem takes
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(seedWriters)
	for first := from; first < n; first += batch {
		group.Go(func() error {
			var requests []types.WriteRequest
			for i := first; i < min(first+batch, n); i++ {
				requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(i)}})
			}
			left := map[string][]types.WriteRequest{dynamolocal.TableName(table): requests}
			for len(left) > 0 {
				out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
				if err != nil {
					return fmt.Errorf("seed %s: %w", table, err)
				}
				left = out.UnprocessedItems
			}
			return nil
		})
	}
	return group.Wait()
}

// text reads an attribute that is a text.
func text(item attributes, name string) string {
	v, _ := item[name].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

// find returns the one item of a table that a test of it is true of.
func find(ctx context.Context, db *dynamodb.Client, table dynamo.TableID, is func(attributes) bool) (attributes, error) {
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String(dynamolocal.TableName(table))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if is(item) {
				return item, nil
			}
		}
	}
	return nil, fmt.Errorf("scale: there is no pattern in %s", table)
}

// another is the event numbered i after the pattern: of its own time, a second for each before the
// pattern's, of its own id, and of another resource.
func another(pattern attributes, resource string, i int) attributes {
	at, err := time.Parse(time.RFC3339, text(pattern, "eventTime"))
	if err != nil {
		panic(err) // the service stored it
	}
	then := at.Add(-time.Duration(i+1) * time.Second)
	position := audit.Position(audit.Event{EventTime: at, EventID: text(pattern, "eventId")})
	id := uuid.NewString()
	return replaced(pattern, strings.NewReplacer(
		position, audit.Position(audit.Event{EventTime: then, EventID: id}),
		text(pattern, "eventTime"), then.Format(time.RFC3339Nano),
		text(pattern, "eventId"), id,
		resource, fmt.Sprintf("press-%06d", i%5000),
	))
}
