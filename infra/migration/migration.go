// Package migration converts stored items to a new form while the service runs; see upgrades.md.
package migration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"wavegate/shared/platform/dynamo"
)

// An Item is a DynamoDB item.
type Item = map[string]types.AttributeValue

// A Migration converts the items of a table to a new form.
type Migration struct {
	Table dynamo.TableID
	// Form returns the attributes that an item should have and does not; none if the item has the new form. It must depend
	// only on the item. Every change to an item must change its attribute revision, except for the change by Form.
	Form func(Item) (Item, error)
}

// Progress is how far a migration has come.
type Progress struct {
	// Behind is the key of the last item that was read. Done reports whether the table has no more items.
	Behind map[string]string `json:"behind,omitempty"`
	Done   bool              `json:"done,omitempty"`
	Counts
}

// Counts are numbers of items: read, changed, and already in the new form. The others were deleted meanwhile.
type Counts struct {
	Read    int64 `json:"read"`
	Changed int64 `json:"changed"`
	Already int64 `json:"already"`
}

// A Client is the part of DynamoDB that a migration needs. *dynamodb.Client implements it.
type Client interface {
	dynamodb.ScanAPIClient
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// A Run is a migration of one table.
type Run struct {
	Client Client
	Name   string // of the table
	Migration
	// Save is called after each page with the progress. A run that starts with that progress continues from there.
	Save func(Progress) error
	// Wait is called before each write, to limit the rate.
	Wait func(context.Context) error
}

const (
	pageSize = 500
	// atOnce is how many items are written at the same time.
	atOnce = 8
)

// Migrate converts every item to the new form. If somebody else changes an item meanwhile, Migrate decides on it again.
// It is idempotent.
func (r Run) Migrate(ctx context.Context, p Progress) (Progress, error) {
	return r.walk(ctx, p, r.change)
}

// Left counts the items that do not have the new form, and those that were read. It changes nothing.
func (r Run) Left(ctx context.Context) (left, read int64, err error) {
	r.Save = func(Progress) error { return nil }
	p, err := r.walk(ctx, Progress{}, func(_ context.Context, item Item) (outcome, error) {
		change, err := r.Form(item)
		if err != nil || len(change) == 0 {
			return already, err
		}
		return changed, nil
	})
	return p.Changed, p.Read, err
}

// An outcome is the result for one item.
type outcome int

const (
	already outcome = iota
	changed
	gone
)

func (r Run) walk(ctx context.Context, p Progress, each func(context.Context, Item) (outcome, error)) (Progress, error) {
	for !p.Done {
		page, err := r.Client.Scan(ctx, &dynamodb.ScanInput{TableName: &r.Name, ConsistentRead: aws.Bool(true), Limit: aws.Int32(pageSize), ExclusiveStartKey: started(p.Behind)})
		if err != nil {
			return p, fmt.Errorf("migration: read %s: %w", r.Name, err)
		}
		var counts [gone + 1]atomic.Int64
		writers, ctx := errgroup.WithContext(ctx)
		writers.SetLimit(atOnce)
		for _, item := range page.Items {
			writers.Go(func() error {
				o, err := each(ctx, item)
				counts[o].Add(1)
				return err
			})
		}
		if err := writers.Wait(); err != nil {
			return p, err // the next run repeats the page
		}
		p.Read += int64(len(page.Items))
		p.Changed += counts[changed].Load()
		p.Already += counts[already].Load()
		p.Behind, p.Done = ended(page.LastEvaluatedKey), page.LastEvaluatedKey == nil
		if err := r.Save(p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// change converts one item to the new form.
func (r Run) change(ctx context.Context, item Item) (outcome, error) {
	for {
		attributes, err := r.Form(item)
		if err != nil || len(attributes) == 0 {
			return already, err
		}
		if item["revision"] == nil {
			return already, fmt.Errorf("migration: an item of %s has no revision: %v", r.Name, r.key(item))
		}
		if err := r.Wait(ctx); err != nil {
			return already, err
		}
		_, err = r.Client.UpdateItem(ctx, r.update(item, attributes))
		if err == nil {
			return changed, nil
		}
		_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
		_, collided := errors.AsType[*types.TransactionConflictException](err)
		if !failed && !collided {
			return already, fmt.Errorf("migration: write %s: %w", r.Name, err)
		}
		now, err := r.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &r.Name, Key: r.key(item), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return already, fmt.Errorf("migration: read %s: %w", r.Name, err)
		}
		if now.Item == nil {
			return gone, nil
		}
		item = now.Item
	}
}

// update sets attributes of an item if the item has not changed since it was read.
func (r Run) update(item, attributes Item) *dynamodb.UpdateItemInput {
	names, values := map[string]string{"#revision": "revision"}, Item{":revision": item["revision"]}
	var sets []string
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		n, v := fmt.Sprintf("#n%d", i), fmt.Sprintf(":v%d", i)
		names[n], values[v] = name, attributes[name]
		sets = append(sets, n+" = "+v)
	}
	return &dynamodb.UpdateItemInput{
		TableName: &r.Name, Key: r.key(item), UpdateExpression: aws.String("SET " + strings.Join(sets, ", ")), ConditionExpression: aws.String("#revision = :revision"),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}
}

func (r Run) key(item Item) Item {
	table := dynamo.TableOf(r.Table)
	key := Item{table.Partition: item[table.Partition]}
	if table.Sort != "" {
		key[table.Sort] = item[table.Sort]
	}
	return key
}

// started and ended convert a key of strings from the file's form to DynamoDB's, and back.
func started(key map[string]string) Item {
	if key == nil {
		return nil
	}
	k := Item{}
	for name, value := range key {
		k[name] = &types.AttributeValueMemberS{Value: value}
	}
	return k
}

func ended(key Item) map[string]string {
	if key == nil {
		return nil
	}
	k := map[string]string{}
	for name, value := range key {
		k[name] = value.(*types.AttributeValueMemberS).Value
	}
	return k
}
