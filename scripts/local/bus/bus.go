// Package bus writes the events that the event bus of a deployment would carry, from the audit table of a local run.
package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/trail/audit"
)

// An Entry is an event of the bus, without the fields that EventBridge adds: version, id, account, region.
type Entry struct {
	Source     string       `json:"source"`
	DetailType string       `json:"detail-type"`
	Time       string       `json:"time"`
	Detail     audit.Notice `json:"detail"`
}

// entryOf converts an audit event like the pipe of a deployment.
func entryOf(stage string, e audit.Record) Entry {
	n := e.Notice()
	return Entry{Source: audit.NoticeSource(stage), DetailType: n.EventName, Time: n.EventTime, Detail: n}
}

// A Follower writes the events that arrive in the audit table, one per line.
type Follower struct {
	db    *dynamodb.Client
	out   io.Writer
	known map[string]bool
}

// Follow makes a follower. It skips the events that exist already.
func Follow(ctx context.Context, db *dynamodb.Client, out io.Writer) (*Follower, error) {
	f := &Follower{db: db, out: out, known: map[string]bool{}}
	_, err := f.unknown(ctx)
	return f, err
}

// Run looks for events until the context ends. A deployment's pipe reads the table's stream; the embedded store has
// none, and a local run's table is small enough to read it all.
func (f *Follower) Run(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := f.Look(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// Look writes the events that arrived since the last look.
func (f *Follower) Look(ctx context.Context) error {
	events, err := f.unknown(ctx)
	if err != nil {
		return err
	}
	for _, e := range events {
		line, err := json.Marshal(entryOf("local", e))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(f.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// unknown reads the new events, in the order of their times.
func (f *Follower) unknown(ctx context.Context) ([]audit.Record, error) {
	var events []audit.Record
	pages := dynamodb.NewScanPaginator(f.db, &dynamodb.ScanInput{
		TableName: aws.String(dynamolocal.TableName(dynamo.Audit)), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the audit table: %w", err)
		}
		for _, item := range page.Items {
			var r audit.Record
			if err := dynamo.Decode(dynamo.Audit, item, &r); err != nil {
				return nil, err
			}
			if !f.known[r.EventID] {
				f.known[r.EventID] = true
				events = append(events, r)
			}
		}
	}
	slices.SortFunc(events, func(a, b audit.Record) int {
		return cmp.Or(a.EventTime.Compare(b.EventTime), cmp.Compare(a.EventID, b.EventID))
	})
	return events, nil
}
