package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// A row is a report row with what the index goes by.
type row struct {
	report.Row
	Shard     string    `json:"shard"`
	Standing  string    `json:"standing"`
	RolloutID string    `json:"rolloutId,omitempty"`
	Since     time.Time `json:"since,omitzero"`
}

// seed puts the rows of the boxes numbered from up to n straight into the store. Every other box was offered the
// rollout's version, and every fourth runs it.
func seed(ctx context.Context, db *dynamodb.Client, rolloutID string, from, n int) error {
	const batch = 25 // the most that BatchWriteItem takes
	at := time.Now().UTC().Truncate(time.Millisecond)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for first := from; first < n; first += batch {
		group.Go(func() error {
			var requests []types.WriteRequest
			for i := first; i < min(first+batch, n); i++ {
				item, err := dynamo.Encode(boxRow(i, rolloutID, at))
				if err != nil {
					return err
				}
				requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
			}
			left := map[string][]types.WriteRequest{dynamolocal.TableName(dynamo.Reports): requests}
			for len(left) > 0 {
				out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
				if err != nil {
					return fmt.Errorf("seed: %w", err)
				}
				left = out.UnprocessedItems
			}
			return nil
		})
	}
	return group.Wait()
}

func boxRow(i int, rolloutID string, at time.Time) row {
	r := row{Row: report.Row{
		EdgeID: fmt.Sprintf("box-%07d", i), EdgeType: edgeType, Channel: "stable", FactoryID: fmt.Sprintf("factory-%03d", i%500),
		OrganizationID: fmt.Sprintf("organization-%02d", i%50), EdgeAt: at,
		Told: "1.0.0", Running: "1.0.0", Subject: fmt.Sprintf("fleet.example box-%07d", i), Revision: 1,
	}}
	if i%2 == 0 {
		r.RolloutID, r.Told, r.Since = rolloutID, "1.1.0", at
		r.Offer = &report.Offer{RolloutID: rolloutID, Version: "1.1.0", From: "1.0.0", Stand: report.Offered, Since: at,
			Stage: cohort.FirstStage(edgeType, "1.1.0", r.EdgeID)}
	}
	if i%4 == 0 {
		r.Running, r.Offer.Stand = "1.1.0", report.Installed
	}
	r.Shard, r.Standing = shards.Of(edgeType+"/stable", r.EdgeID), r.Entry().Standing()
	return r
}
