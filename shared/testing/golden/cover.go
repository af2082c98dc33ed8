package golden

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
)

// A Cover is a set of forms; see Forms.
type Cover map[string]bool

// Add adds the forms of an item, and reports whether one of them is new.
func (c Cover) Add(id dynamo.TableID, p Plain) (added bool, err error) {
	forms, err := Forms(id, p)
	for _, f := range forms {
		added = added || !c[f]
		c[f] = true
	}
	return added, err
}

// Covered returns the forms of all recorded items.
var Covered = sync.OnceValues(func() (Cover, error) {
	items, err := Items()
	if err != nil {
		return nil, err
	}
	c := Cover{}
	for _, i := range items {
		if _, err := c.Add(i.Table, i.Plain); err != nil {
			return nil, err
		}
	}
	return c, nil
})

// Scan reads all items of a local store.
func Scan(ctx context.Context, db *dynamodb.Client, each func(dynamo.TableID, Plain) error) error {
	for _, t := range dynamo.Tables {
		pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{
			TableName: aws.String(dynamolocal.TableName(t.ID)), ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return fmt.Errorf("golden: scan %s: %w", t.ID, err)
			}
			for _, item := range page.Items {
				p, err := PlainOf(item)
				if err == nil {
					err = each(t.ID, p)
				}
				if err != nil {
					return fmt.Errorf("golden: %s %s: %w", t.ID, Key(t.ID, p), err)
				}
			}
		}
	}
	return nil
}

// Check fails a test if a local store has items in a form that no recorded item has.
func Check(t testing.TB, db *dynamodb.Client) {
	t.Helper()
	covered, err := Covered()
	if err != nil {
		t.Error(err)
		return
	}
	unknown := map[string]bool{}
	err = Scan(context.WithoutCancel(t.Context()), db, func(id dynamo.TableID, p Plain) error {
		if k, err := KindOf(id, p); err == nil && slices.Contains(replaced, k.Name) {
			return nil
		}
		forms, err := Forms(id, p)
		for _, f := range forms {
			// The cause of an event is a copy of a census, and no event is ever written again.
			if !covered[f] && !strings.HasPrefix(f, "audit: event: cause") {
				unknown[f] = true
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if len(unknown) > 0 {
		t.Errorf("no golden item has these stored forms; after the calls that store them were added to scripts/lab/forms, %s adds items:\n%s",
			Command, strings.Join(slices.Sorted(maps.Keys(unknown)), "\n"))
	}
}
