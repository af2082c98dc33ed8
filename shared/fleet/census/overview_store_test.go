package census_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

func TestOverview_SaysWhatTheGuardSaidLast_AndCountsNothing(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		g := newJudgedFleet(t, client, quick(), 12, "acme")
		look := func() census.Row {
			t.Helper()
			o, err := g.progress.Overview(g.ctx, rollout.Filter{EdgeType: g.edgeType, Channel: g.channel}, 10, 0)
			if err != nil || o.Active != 1 || len(o.Items) != 1 || o.Items[0].Rollout.ID != g.id || o.Freeze != nil {
				t.Fatalf("%+v, %v", o, err)
			}
			return o.Items[0]
		}
		if row := look(); row.Progress != nil || row.Trouble != census.None {
			t.Errorf("before the first count: %+v", row)
		}
		g.tick(10 * time.Second)
		said := g.verdict()
		g.now = g.now.Add(30 * time.Second)
		if row := look(); row.Progress == nil || row.Age != 30 || row.Progress.Guard.Sentence != said.Sentence {
			t.Errorf("after a tick that said %q: %+v", said.Sentence, row)
		}
		g.now = g.now.Add(time.Hour)
		row := look()
		expect.That(t, row.Trouble == census.Stale && row.Age == 3630, "without ticks: %s, %d s", row.Trouble, row.Age)
		g.fleet.move(t, g.id, rollout.Move{Status: rollout.Halted})
		after := func(name string, troubles map[census.Trouble]int) {
			t.Helper()
			o := expect.Value(g.progress.Overview(g.ctx, rollout.Filter{EdgeType: g.edgeType}, 10, 0))(t)
			expect.Equal(t, o.Troubles, troubles, "%s, the troubles", name)
			if o.Active != 0 || len(o.Items) != 0 || len(o.Halted) != len(troubles) || len(troubles) > 0 && o.Halted[0].Rollout.ID != g.id {
				t.Errorf("%s: %+v", name, o)
			}
		}
		after("after a halt", map[census.Trouble]int{census.Halted: 1})
		g.fleet.move(t, g.id, rollout.Move{Seen: true})
		after("after a mark", map[census.Trouble]int{census.Seen: 1})
		g.fleet.move(t, g.id, rollout.Move{Status: rollout.Active})
		g.fleet.move(t, g.id, rollout.Move{Status: rollout.Halted})
		after("after another halt", map[census.Trouble]int{census.Halted: 1})
		g.fleet.publish(t, g.channel, "3.0.0")
		after("after a publication", map[census.Trouble]int{})
	})
}

// counted counts the requests of reads.
type counted struct {
	dynamo.API
	requests atomic.Int64
}

func (c *counted) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.requests.Add(1)
	return c.API.GetItem(ctx, in, o...)
}

func (c *counted) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.requests.Add(1)
	return c.API.Query(ctx, in, o...)
}

func (c *counted) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	c.requests.Add(1)
	return c.API.BatchGetItem(ctx, in, o...)
}

// TestOverview_200Rollouts_AreReadInAFewRequests: a call every 10 seconds must stay cheap.
func TestOverview_200Rollouts_AreReadInAFewRequests(t *testing.T) {
	client := dynamotest.Embedded(t)
	f := newFleet(t, client, 2)
	for i := range 200 {
		channel := fmt.Sprintf("line-%03d", i)
		f.publish(t, channel, "1.0.0")
		if _, err := f.rollouts.Start(f.ctx, audit.Origin{}, rollout.Plan{EdgeType: f.edgeType, Channel: channel, TargetVersion: "2.0.0"}, idempotency.Claim{}); err != nil {
			t.Fatal(err)
		}
	}
	reads := &counted{API: client}
	f.api.API = reads
	o, err := f.progress.Overview(f.ctx, rollout.Filter{EdgeType: f.edgeType}, 100, 100)
	expect.Must(t, err == nil && o.Active == 200 && len(o.Items) == 100 && o.Items[99].Rollout.Channel == "line-000",
		"%d active, %d items, %v", o.Active, len(o.Items), err)
	n := reads.requests.Load()
	expect.That(t, n == 5, "%d requests: the freeze, two lists and two hundreds of counts are 5", n)
}
