package proof

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/infra/recovery"
	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// A past simulates point-in-time recovery: it keeps the content of each table at a moment. DynamoDB Local has no
// recovery, so a drill has to save the moment when it comes.
type past struct {
	db     *dynamodb.Client
	moment time.Time
	tables map[string][]map[string]types.AttributeValue
}

func remember(t *testing.T, db *dynamodb.Client) *past {
	t.Helper()
	h := &past{db: db, moment: time.Now(), tables: map[string][]map[string]types.AttributeValue{}}
	for _, table := range dynamo.Tables {
		name := dynamolocal.TableName(table.ID)
		pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page := expect.Value(pages.NextPage(t.Context()))(t)
			h.tables[name] = append(h.tables[name], page.Items...)
		}
	}
	return h
}

// Restore makes the new table, with the old one's content of that moment.
func (h *past) Restore(ctx context.Context, t recovery.Restoration, at time.Time) error {
	if !at.Equal(h.moment) {
		return fmt.Errorf("there is no history of %s", at)
	}
	if _, err := h.db.CreateTable(ctx, t.CreateInput(t.To)); err != nil || t.Empty {
		return err
	}
	for _, item := range h.tables[t.From] {
		if _, err := h.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &t.To, Item: item}); err != nil {
			return err
		}
	}
	return nil
}

// TestDrill_RestoredTables_TellTheStoryOfTheirMoment fills a deployment, continues to use it, restores its tables to
// an earlier moment, and compares them with the audit trail.
func TestDrill_RestoredTables_TellTheStoryOfTheirMoment(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	drill(t, nil)
}

func TestDrill_OnTheReference(t *testing.T) {
	expect.Full(t)
	onReference(t, func(s *dynamolocal.Store) { drill(t, s) })
}

func drill(t *testing.T, store *dynamolocal.Store) {
	w := harness.New(t, func(s *service.Options) {
		s.Store = store
		s.Environment = func(string) []string { return round{}.limits() }
	})
	callers := &callers{world: newWorld(), people: people(t, w.Target), begin: time.Now()}
	callers.warm(t)
	from := seed(t)
	callers.call(round{seed: from, calls: 150})
	then, names := read(t, w.DB, dynamolocal.TableName), recovery.Names{}
	first := remember(t, w.DB)
	callers.call(round{seed: from + 1, calls: 150})
	now := read(t, w.DB, dynamolocal.TableName)
	expect.Must(t, len(now[dynamo.Audit]) > len(then[dynamo.Audit]),
		"nothing was changed after the moment: %d events", len(now[dynamo.Audit]))

	for _, table := range dynamo.Tables {
		names[table.ID] = dynamolocal.TableName(table.ID)
	}
	plan := expect.Value(recovery.Plan("drill", names, first.moment))(t)
	if store != nil { // which later tests use again
		t.Cleanup(func() {
			for _, table := range plan {
				_, _ = w.DB.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &table.To})
			}
		})
	}
	expect.OK(t, recovery.Restore(t.Context(), first, plan, first.moment))
	restored := recovery.Restored(plan)
	books := read(t, w.DB, func(id dynamo.TableID) string { return restored[id] })
	for _, wrong := range books.Audit() {
		t.Errorf("the restored tables: %s", wrong)
	}
	compare(t, w.DB, restored, books)
	for _, id := range slices.Sorted(maps.Keys(then)) {
		want := then[id]
		if id == dynamo.Idempotency {
			want = nil // it was empty at first
		}
		expect.That(t, sameItems(books[id], want),
			"%s has %d items, and other ones than the %d of the moment", id, len(books[id]), len(want))
	}
	t.Logf("%s: %d tables restored to %s: %d audit events of %d; tables and audit trail tell one story",
		w.Store.Kind, len(plan), first.moment.UTC().Format(time.RFC3339), len(books[dynamo.Audit]), len(now[dynamo.Audit]))

	// A table of another moment is found: the restored trail with a present table.
	for _, id := range []dynamo.TableID{dynamo.Channels, dynamo.Factories, dynamo.Edges, dynamo.Rollouts} {
		if sameItems(uncounted(now[id]), uncounted(then[id])) {
			continue
		}
		names := maps.Clone(restored)
		names[id] = dynamolocal.TableName(id)
		torn := read(t, w.DB, func(id dynamo.TableID) string { return names[id] })
		wrong := torn.Audit()
		expect.That(t, len(wrong) != 0, "%s of a later moment is not found", id)
		findings := "findings"
		if len(wrong) == 1 {
			findings = "finding"
		}
		t.Logf("%s of a later moment than the rest: %d %s", id, len(wrong), findings)
		compare(t, w.DB, names, torn)
	}
}

// uncounted are items without what is counted in a factory's item: the trail does not contain it.
func uncounted(items []ledger.Item) (list []ledger.Item) {
	for _, item := range items {
		item = maps.Clone(item)
		delete(item, "machineChanges")
		delete(item, "machineCount")
		list = append(list, item)
	}
	return list
}

// compare compares tables with few boxes at a time, and expects the findings of an audit of the whole books.
func compare(t *testing.T, db *dynamodb.Client, names recovery.Names, books ledger.Books) {
	t.Helper()
	for _, most := range []int{1, 1_000_000} {
		found, err := ledger.Compare(t.Context(), db, func(id dynamo.TableID) string { return names[id] }, t.TempDir(), most)
		expect.OK(t, err)
		if want := books.Audit(); !slices.Equal(found.Wrong, slices.Compact(want)) || found.Events != len(books[dynamo.Audit]) {
			t.Errorf("with %d boxes at once it counts %d events and finds %q, want %d and %q", most, found.Events, found.Wrong, len(books[dynamo.Audit]), want)
		}
	}
}

func read(t *testing.T, db *dynamodb.Client, name func(dynamo.TableID) string) ledger.Books {
	t.Helper()
	books := expect.Value(ledger.Read(t.Context(), db, name))(t)
	return books
}

// sameItems reports whether two lists have the same items, in any order.
func sameItems(a, b []ledger.Item) bool {
	text := func(items []ledger.Item) []string {
		var all []string
		for _, item := range items {
			all = append(all, fmt.Sprint(item)) // maps are printed by key
		}
		slices.Sort(all)
		return all
	}
	return reflect.DeepEqual(text(a), text(b))
}
