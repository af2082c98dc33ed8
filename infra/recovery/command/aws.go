package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
)

// longest is how long a restore may take. AWS guarantees no bound; large tables take hours.
const longest = 24 * time.Hour

// aws restores tables with point-in-time recovery.
type aws struct {
	client *dynamodb.Client
	// completes is set if all tables with content were restored before: none is restored to another moment than the others.
	completes bool
}

// Past reads the period to which each table of the plan can be restored.
func (a aws) Past(ctx context.Context, plan []recovery.Restoration) (map[dynamo.TableID]recovery.Past, error) {
	pasts := map[dynamo.TableID]recovery.Past{}
	for _, t := range plan {
		from, err := a.describe(ctx, t.From)
		if err != nil {
			return nil, err
		}
		backups, err := a.client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &t.From})
		if err != nil {
			return nil, err
		}
		past := recovery.Past{Made: *from.CreationDateTime}
		if d := backups.ContinuousBackupsDescription.PointInTimeRecoveryDescription; d != nil && d.LatestRestorableDateTime != nil {
			past.Latest = *d.LatestRestorableDateTime
		}
		pasts[t.ID] = past
	}
	return pasts, nil
}

// Restore starts the restore of a table, waits until it exists, and copies the settings that AWS does not restore from the
// old table. It does not restore a table that exists already, so that the command can be run again.
func (a aws) Restore(ctx context.Context, t recovery.Restoration, at time.Time) error {
	from, err := a.describe(ctx, t.From)
	if err != nil {
		return err
	}
	there, err := a.exists(ctx, t.To)
	if err != nil {
		return err
	}
	if !there {
		if err := a.begin(ctx, t, at); err != nil {
			return err
		}
	}
	if err := a.wait(ctx, t.To); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		do   func(context.Context, recovery.Restoration, *types.TableDescription) error
	}{
		{"end its items", a.expire}, {"turn its recovery on", a.recover}, {"add its indexes", a.index},
		{"encrypt it with the same key", a.encrypt}, {"stream its changes", a.stream}, {"tag it", a.tag}, {"protect it", a.protect},
	} {
		if err := step.do(ctx, t, from); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

func (a aws) describe(ctx context.Context, name string) (*types.TableDescription, error) {
	out, err := a.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

func (a aws) exists(ctx context.Context, name string) (bool, error) {
	_, err := a.describe(ctx, name)
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return false, nil
	}
	return err == nil, err
}

// wait waits until a table and all its indexes can be used.
func (a aws) wait(ctx context.Context, name string) error {
	for deadline := time.Now().Add(longest); ; {
		table, err := a.describe(ctx, name)
		if err != nil {
			return err
		}
		ready := table.TableStatus == types.TableStatusActive && !slices.ContainsFunc(table.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndexDescription) bool {
			return x.IndexStatus != types.IndexStatusActive
		})
		if ready {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is not ready after %s", name, longest)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
}

func (a aws) begin(ctx context.Context, t recovery.Restoration, at time.Time) error {
	if t.Empty {
		_, err := a.client.CreateTable(ctx, t.CreateInput(t.To))
		return err
	}
	if a.completes {
		return errors.New("it does not exist any more")
	}
	_, err := a.client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: &t.From, TargetTableName: &t.To, RestoreDateTime: &at, BillingModeOverride: types.BillingModePayPerRequest,
	})
	return err
}

func (a aws) expire(ctx context.Context, t recovery.Restoration, _ *types.TableDescription) error {
	if t.TTL == "" {
		return nil
	}
	now, err := a.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.To})
	if err != nil {
		return err
	}
	if d := now.TimeToLiveDescription; d != nil && d.TimeToLiveStatus != types.TimeToLiveStatusDisabled {
		return nil
	}
	_, err = a.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &t.To, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: new(true)},
	})
	return err
}

func (a aws) recover(ctx context.Context, t recovery.Restoration, _ *types.TableDescription) error {
	if t.Ephemeral {
		return nil
	}
	_, err := a.client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: &t.To, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: new(true)},
	})
	return err
}

// index adds the indexes that the old table got after the moment. DynamoDB takes one at a time. A local index cannot be
// added.
func (a aws) index(ctx context.Context, t recovery.Restoration, from *types.TableDescription) error {
	to, err := a.describe(ctx, t.To)
	if err != nil {
		return err
	}
	if len(to.LocalSecondaryIndexes) != len(from.LocalSecondaryIndexes) {
		return fmt.Errorf("%s has %d local indexes, and %s %d", t.To, len(to.LocalSecondaryIndexes), t.From, len(from.LocalSecondaryIndexes))
	}
	for _, x := range from.GlobalSecondaryIndexes {
		if slices.ContainsFunc(to.GlobalSecondaryIndexes, func(y types.GlobalSecondaryIndexDescription) bool { return *x.IndexName == *y.IndexName }) {
			continue
		}
		_, err := a.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &t.To, AttributeDefinitions: from.AttributeDefinitions,
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
			}}},
		})
		if err != nil {
			return err
		}
		if err := a.wait(ctx, t.To); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the ARN of the key of a table; empty if AWS owns the key.
func keyOf(table *types.TableDescription) string {
	if d := table.SSEDescription; d != nil && d.KMSMasterKeyArn != nil {
		return *d.KMSMasterKeyArn
	}
	return ""
}

// encrypt gives the new table the old one's key. AWS's key for DynamoDB in this account must not be named, and a table does
// not say whose its key is. So the table gets that key first, and then the old table's if it is another.
func (a aws) encrypt(ctx context.Context, t recovery.Restoration, from *types.TableDescription) error {
	want := keyOf(from)
	if want == "" {
		return nil
	}
	for _, name := range []*string{nil, &want} {
		to, err := a.describe(ctx, t.To)
		if err != nil || keyOf(to) == want {
			return err
		}
		err = a.update(ctx, &dynamodb.UpdateTableInput{TableName: &t.To, SSESpecification: &types.SSESpecification{
			Enabled: new(true), SSEType: types.SSETypeKms, KMSMasterKeyId: name,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a aws) stream(ctx context.Context, t recovery.Restoration, from *types.TableDescription) error {
	to, err := a.describe(ctx, t.To)
	if err != nil || from.StreamSpecification == nil || to.StreamSpecification != nil {
		return err
	}
	return a.update(ctx, &dynamodb.UpdateTableInput{TableName: &t.To, StreamSpecification: from.StreamSpecification})
}

// tag gives the new table the old one's tags. Only AWS can set its own tags.
func (a aws) tag(ctx context.Context, t recovery.Restoration, from *types.TableDescription) error {
	to, err := a.describe(ctx, t.To)
	if err != nil {
		return err
	}
	out, err := a.client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: from.TableArn})
	if err != nil {
		return err
	}
	tags := slices.DeleteFunc(out.Tags, func(tag types.Tag) bool { return strings.HasPrefix(*tag.Key, "aws:") })
	if len(tags) == 0 {
		return nil
	}
	_, err = a.client.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: to.TableArn, Tags: tags})
	return err
}

func (a aws) protect(ctx context.Context, t recovery.Restoration, from *types.TableDescription) error {
	if from.DeletionProtectionEnabled == nil || !*from.DeletionProtectionEnabled {
		return nil
	}
	return a.update(ctx, &dynamodb.UpdateTableInput{TableName: &t.To, DeletionProtectionEnabled: new(true)})
}

// update changes one setting of a table, and waits until the change is complete.
func (a aws) update(ctx context.Context, in *dynamodb.UpdateTableInput) error {
	if _, err := a.client.UpdateTable(ctx, in); err != nil {
		return err
	}
	return a.wait(ctx, *in.TableName)
}
