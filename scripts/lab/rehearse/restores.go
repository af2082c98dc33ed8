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

// tables returns the names of the tables in use.
func (l *played) tables(ctx context.Context) (recovery.Names, error) {
	const path = "/wavegate/" + stage + "/tables"
	parameters, err := l.cloud.parameters(ctx, path)
	names := recovery.Names{}
	for parameter, name := range parameters {
		names[dynamo.TableID(strings.TrimPrefix(parameter, path+"/"))] = name
	}
	return names, err
}

// soon is a moment after everything that has happened, to the second, as scripts/restore takes it.
func soon() time.Time { return time.Now().UTC().Add(time.Second).Truncate(time.Second) }

// restoreScript runs scripts/restore and returns its output.
func (l *played) restoreScript(ctx context.Context, at time.Time, more ...string) (out string, err error) {
	return l.command(ctx, l.root, filepath.Join("scripts", "restore"), append([]string{"--stage", stage, "--at", at.Format(time.RFC3339)}, more...)...)
}

// bringBack runs scripts/restore, which must find that tables and trail agree. It returns the setting that it prints.
func (l *played) bringBack(ctx context.Context, at time.Time, more ...string) (setting string, err error) {
	out, err := l.restoreScript(ctx, at, more...)
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`"restoredTables": (\{.*\})`).FindStringSubmatch(out)
	if found == nil || !strings.Contains(out, "audit trail agree") {
		return "", fmt.Errorf("it says %s", out)
	}
	return found[1], nil
}

// restore restores all tables, and deploys the service with the new ones.
func (l *played) restore(ctx context.Context) error {
	channels, err := l.channels(ctx)
	if err != nil {
		return err
	}
	names, err := l.tables(ctx)
	if err != nil {
		return err
	}
	// The emulator ignores it in the template.
	for _, t := range dynamo.Tables {
		_, err := l.cloud.db().UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName:                        new(names[t.ID]),
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: new(!t.Ephemeral)},
		})
		if err != nil {
			return err
		}
	}
	begin := time.Now()
	setting, err := l.bringBack(ctx, soon())
	if err != nil {
		return err
	}
	restored := time.Since(begin)
	l.restored = "restoredTables=" + setting
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
	now, err := l.tables(ctx)
	if err != nil {
		return err
	}
	var wanted recovery.Names
	if err := json.Unmarshal([]byte(setting), &wanted); err != nil {
		return err
	}
	for id, name := range wanted {
		if now[id] != name || names[id] == name {
			return fmt.Errorf("%s is %s, want %s", id, now[id], name)
		}
	}
	say("%d tables were restored in %.0f s, and in use after a total of %.0f s", len(wanted), restored.Seconds(), took.Seconds())
	return nil
}

// backups completes tables as AWS Backup restores them, with their items and indexes alone, and removes them again.
func (l *played) backups(ctx context.Context) error {
	now, err := l.tables(ctx)
	if err != nil {
		return err
	}
	at := soon()
	plan, err := recovery.Plan(stage, now, at)
	if err != nil {
		return err
	}
	if out, err := l.restoreScript(ctx, at, "--backups"); err == nil {
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
	if _, err := l.bringBack(ctx, at, "--backups"); err != nil {
		return err
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
