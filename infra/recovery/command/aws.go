package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/infra/recovery"
)

// longest is how long a restore may take. AWS gives no bound; large tables take hours.
const longest = 24 * time.Hour

// aws brings tables back by point-in-time recovery.
type aws struct{ client *dynamodb.Client }

// Restore starts the restore of a table, waits until it is there, and gives it what a restore leaves out: recovery of
// its own, an end of life of items, and protection against deletion. A table that is there already is taken as it is,
// so that the command can be run again.
func (a aws) Restore(ctx context.Context, t recovery.Restoration, at time.Time) error {
	if there, err := a.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.To}); err != nil || there.Table == nil {
		if err := a.begin(ctx, t, at); err != nil {
			return err
		}
	}
	waiter := dynamodb.NewTableExistsWaiter(a.client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = 5*time.Second, time.Minute })
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &t.To}, longest); err != nil {
		return err
	}
	return a.complete(ctx, t)
}

func (a aws) begin(ctx context.Context, t recovery.Restoration, at time.Time) error {
	if t.Empty {
		_, err := a.client.CreateTable(ctx, t.CreateInput(t.To))
		return err
	}
	_, err := a.client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: &t.From, TargetTableName: &t.To, RestoreDateTime: &at, BillingModeOverride: types.BillingModePayPerRequest,
	})
	return err
}

func (a aws) complete(ctx context.Context, t recovery.Restoration) error {
	yes := true
	if t.TTL != "" {
		now, err := a.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.To})
		if err != nil {
			return err
		}
		if d := now.TimeToLiveDescription; d == nil || d.TimeToLiveStatus == types.TimeToLiveStatusDisabled {
			_, err := a.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
				TableName: &t.To, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: &yes},
			})
			if err != nil {
				return fmt.Errorf("end its items: %w", err)
			}
		}
	}
	if t.Empty {
		return nil
	}
	_, err := a.client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: &t.To, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: &yes},
	})
	if err != nil {
		return fmt.Errorf("turn its recovery on: %w", err)
	}
	if _, err := a.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &t.To, DeletionProtectionEnabled: &yes}); err != nil {
		return fmt.Errorf("protect it: %w", err)
	}
	return nil
}
