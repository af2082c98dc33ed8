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

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/lab/benchmarks/meter"
	"wavegate/scripts/samples"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/trail/audit"
)

// A size is how many boxes there are, and as many audit events; and how many machines.
type size struct{ boxes, machines int }

func (s size) String() string {
	return fmt.Sprintf("%d boxes, %d machines, %d events", s.boxes, s.machines, s.boxes)
}

// An attributes is an item as the SDK has it.
type attributes = map[string]types.AttributeValue

// A plant is a factory, a fleet and a channel that grow.
type plant struct {
	*calls.World
	meter               *meter.Meter
	box, machine, event attributes // what the service stored for one of each
	now                 size
}

const (
	factory      = "/api/factories/munich-1"
	channel      = "/api/ota/release-channels/gateway-x/"
	firstBox     = "edge-000000"
	firstMachine = "press-000000"
)

func publication(version string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example.com/%s.tar.gz","sha256":"%064s"}`,
		version, version, strings.ReplaceAll(version, ".", "f"))
}

// patterns has the service store one of everything.
func (p *plant) patterns(ctx context.Context) error {
	for _, r := range []samples.Call{
		put(samples.Owner, channel+"stable", publication("1.0.0")),
		put(samples.Owner, channel+"canary", publication("1.1.0")),
		put(samples.Owner, factory, `{"organizationId":"acme","name":"Munich 1"}`),
		put(samples.Owner, "/api/edges/"+firstBox, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`),
		put(engineer, factory+"/machines/"+firstMachine, `{"name":"Press 1"}`),
	} {
		if _, err := p.Must(r); err != nil {
			return err
		}
	}
	p.now = size{boxes: 1, machines: 1}
	for _, pattern := range []struct {
		to          *attributes
		table       dynamo.TableID
		name, value string
	}{
		{&p.box, dynamo.Edges, "edgeId", firstBox},
		{&p.machine, dynamo.Machines, "code", firstMachine},
		{&p.event, dynamo.Audit, "stream", "factory/munich-1"},
	} {
		found, err := p.DB.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(dynamolocal.TableName(pattern.table))})
		if err != nil {
			return err
		}
		for _, item := range found.Items {
			if text(item, pattern.name) == pattern.value {
				*pattern.to = item
			}
		}
		if *pattern.to == nil {
			return fmt.Errorf("nothing is stored in %s", pattern.table)
		}
	}
	return nil
}

// fill seeds what is missing.
func (p *plant) fill(ctx context.Context, to size) error {
	from := p.now
	p.now = to
	if err := p.seed(ctx, dynamo.Edges, from.boxes, to.boxes, func(i int) attributes {
		return replaced(p.box, strings.NewReplacer(firstBox, fmt.Sprintf("edge-%06d", i)))
	}); err != nil {
		return err
	}
	if err := p.seed(ctx, dynamo.Machines, from.machines, to.machines, func(i int) attributes {
		return replaced(p.machine, strings.NewReplacer(firstMachine, fmt.Sprintf("press-%06d", i)))
	}); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, text(p.event, "eventTime"))
	if err != nil {
		return err
	}
	return p.seed(ctx, dynamo.Audit, from.boxes, to.boxes, func(i int) attributes { return another(p.event, at, i) })
}

// another is the event numbered i: so many seconds older than the pattern, and of another machine.
func another(pattern attributes, at time.Time, i int) attributes {
	then, id := at.Add(-time.Duration(i)*time.Second), uuid.NewString()
	return replaced(pattern, strings.NewReplacer(
		audit.Position(audit.Event{EventTime: at, EventID: text(pattern, "eventId")}), audit.Position(audit.Event{EventTime: then, EventID: id}),
		text(pattern, "eventTime"), then.Format(time.RFC3339Nano),
		text(pattern, "eventId"), id,
		firstMachine, fmt.Sprintf("press-%06d", i%5000),
	))
}

// seed puts the items numbered from up to n into a table, straight into the store.
func (p *plant) seed(ctx context.Context, table dynamo.TableID, from, n int, item func(i int) attributes) error {
	const batch = 25 // the most that BatchWriteItem takes
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4) // a local store is no faster with more writers
	for first := from; first < n; first += batch {
		group.Go(func() error {
			var requests []types.WriteRequest
			for i := first; i < min(first+batch, n); i++ {
				requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(i)}})
			}
			left := map[string][]types.WriteRequest{dynamolocal.TableName(table): requests}
			for len(left) > 0 {
				out, err := p.DB.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
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

// replaced is the item with texts replaced at any depth.
func replaced(item attributes, r *strings.Replacer) attributes {
	out := make(attributes, len(item))
	for name, v := range item {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			out[name] = &types.AttributeValueMemberS{Value: r.Replace(v.Value)}
		case *types.AttributeValueMemberM:
			out[name] = &types.AttributeValueMemberM{Value: replaced(v.Value, r)}
		default:
			out[name] = v
		}
	}
	return out
}

// text reads an attribute that is a text.
func text(item attributes, name string) string {
	if v, ok := item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}
