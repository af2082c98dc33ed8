package release_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A measured client notes the longest expression of a write. DynamoDB takes 4 KB.
type measured struct {
	dynamo.API
	longest int
}

func (m *measured) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, i := range in.TransactItems {
		m.longest = max(m.longest, len(aws.ToString(i.Update.UpdateExpression)), len(aws.ToString(i.Update.ConditionExpression)))
	}
	return m.API.TransactWriteItems(ctx, in, o...)
}

// TestCarry_EachFieldReachesTheRow_AndNothingElseChanges: there and back, so that each field is also removed.
func TestCarry_EachFieldReachesTheRow_AndNothingElseChanges(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		expressions := &measured{API: client}
		ctx, db := admission.Unlimited(t.Context()), dynamo.Open(expressions, time.Now)
		row := expect.Filled[release.ChannelRow](0)
		row.EdgeType = uuid.NewString()
		was, next := release.Carried{ID: row.Rollout.ID, Revision: 1}, expect.Filled[release.Carried](100)
		row.Rollout, next.ID = &was, was.ID
		expect.OK(t, db.Commit(ctx, release.Replace(release.ChannelRow{}, row)))
		carry := func(from, to release.Carried) {
			t.Helper()
			expect.OK(t, db.Commit(ctx, release.Carry(row.EdgeType, row.Channel.Channel, from, to)))
			row.Rollout = &to
			expect.Equal(t, expect.Value(release.NewStore(db).Row(ctx, row.EdgeType, row.Channel.Channel))(t), row, "the row")
		}
		carry(was, next)
		carry(next, was)
		err := db.Commit(ctx, release.Carry(row.EdgeType, row.Channel.Channel, next, next))
		expect.That(t, dynamo.Refused(err, release.ResourceType), "the row carries another state of the rollout: %v", err)
		expect.That(t, expressions.longest > 100 && expressions.longest < 1024, "the longest expression has %d bytes", expressions.longest)
	})
}
