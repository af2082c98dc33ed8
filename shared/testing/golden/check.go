package golden

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// known has the forms of all recorded items.
var known = sync.OnceValues(func() (map[string]bool, error) {
	forms := map[string]bool{}
	for _, k := range Kinds {
		items, err := k.items()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, i := range items {
			k.walk("", i.Plain, forms)
		}
	}
	return forms, nil
})

// Check fails a test if a local store has items of no kind, or with attributes that no recorded item of their kind has.
func Check(t testing.TB, db *dynamodb.Client) {
	t.Helper()
	recorded, err := known()
	if err == nil {
		unknown := map[string]bool{}
		err = scan(context.WithoutCancel(t.Context()), db, func(i Item) error {
			k, err := kindOf(i)
			if err == nil {
				k.walk("", i.Plain, unknown)
			}
			return err
		})
		maps.DeleteFunc(unknown, func(form string, _ bool) bool { return recorded[form] })
		if len(unknown) > 0 {
			t.Errorf("no golden item has these stored forms; see package golden:\n%s", strings.Join(slices.Sorted(maps.Keys(unknown)), "\n"))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// scan reads all items of a local store.
func scan(ctx context.Context, db *dynamodb.Client, each func(Item) error) error {
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
					err = each(Item{t.ID, p})
				}
				if err != nil {
					return fmt.Errorf("golden: %s: %w", t.ID, err)
				}
			}
		}
	}
	return nil
}
