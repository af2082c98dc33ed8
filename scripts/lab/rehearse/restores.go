package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
)

// restore restores all tables, and deploys the service with the new ones.
func (l *played) restore(ctx context.Context) error {
	channels, err := l.channels(ctx)
	if err != nil {
		return err
	}
	names, err := l.cloud.parameters(ctx, "/wavegate/"+stage+"/tables")
	if err != nil {
		return err
	}
	// The emulator ignores it in the template.
	for _, t := range dynamo.Tables {
		_, err := l.cloud.db().UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName:                        new(names["/wavegate/"+stage+"/tables/"+string(t.ID)]),
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: new(!t.Ephemeral)},
		})
		if err != nil {
			return err
		}
	}
	begin := time.Now()
	out, err := l.command(ctx, l.root, filepath.Join("scripts", "restore"), "--stage", stage, "--at", time.Now().UTC().Add(time.Second).Format(time.RFC3339))
	if err != nil {
		return err
	}
	setting := regexp.MustCompile(`"restoredTables": (\{.*\})`).FindStringSubmatch(out)
	if setting == nil || !strings.Contains(out, "audit trail agree") {
		return fmt.Errorf("it says %s", out)
	}
	restored := time.Since(begin)
	l.restored = "restoredTables=" + setting[1]
	if l.version, err = l.now.synth(ctx, "restored", logs, l.restored); err != nil {
		return err
	}
	if err := l.indexes(ctx); err != nil {
		return err
	}
	if err := l.version.deploy(ctx, "--import-existing-resources"); err != nil {
		return err
	}
	if still, err := l.channels(ctx); err != nil || still != channels {
		return errors.Join(fmt.Errorf("%d channels, and %d before", still, channels), err)
	}
	took := time.Since(begin)
	now, err := l.cloud.parameters(ctx, "/wavegate/"+stage+"/tables")
	if err != nil {
		return err
	}
	var wanted map[string]string
	if err := json.Unmarshal([]byte(setting[1]), &wanted); err != nil {
		return err
	}
	for id, name := range wanted {
		if parameter := "/wavegate/" + stage + "/tables/" + id; now[parameter] != name || names[parameter] == name {
			return fmt.Errorf("%s is %s, want %s", id, now[parameter], name)
		}
	}
	say("%d tables were restored in %.0f s, and in use after a total of %.0f s", len(wanted), restored.Seconds(), took.Seconds())
	return nil
}

// backups completes tables as AWS Backup restores them, with their items and indexes alone, and removes them again.
func (l *played) backups(ctx context.Context) error {
	parameters, err := l.cloud.parameters(ctx, "/wavegate/"+stage+"/tables")
	if err != nil {
		return err
	}
	now := recovery.Names{}
	for parameter, name := range parameters {
		now[dynamo.TableID(filepath.Base(parameter))] = name
	}
	at := time.Now().UTC().Add(time.Second).Truncate(time.Second)
	plan, err := recovery.Plan(stage, now, at)
	if err != nil {
		return err
	}
	restore := func() (string, error) {
		return l.command(ctx, l.root, filepath.Join("scripts", "restore"), "--stage", stage, "--at", at.Format(time.RFC3339), "--backups")
	}
	if out, err := restore(); err == nil {
		return fmt.Errorf("it completes tables that do not exist: %s", out)
	}
	db := l.cloud.db()
	for _, t := range plan {
		if t.Empty {
			continue
		}
		if _, err := db.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{SourceTableName: &t.From, TargetTableName: &t.To, RestoreDateTime: &at}); err != nil {
			return err
		}
	}
	if out, err := restore(); err != nil || !strings.Contains(out, "audit trail agree") {
		return errors.Join(fmt.Errorf("it says %s", out), err)
	}
	for _, t := range plan {
		was, err := l.cloud.settings(ctx, t.From)
		if err != nil {
			return err
		}
		is, err := l.cloud.settings(ctx, t.To)
		if err != nil || is != was {
			return errors.Join(fmt.Errorf("%s has %s, and %s %s", t.To, is, t.From, was), err)
		}
		if err := l.cloud.drop(ctx, t.To); err != nil {
			return err
		}
	}
	say("%d tables from backups have the settings of those in use", len(plan))
	return nil
}
