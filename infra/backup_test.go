package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
)

// TestBackup_EveryNight_OfEveryTableThatLasts_WithACopyElsewhere: the copy outlives the account.
func TestBackup_EveryNight_OfEveryTableThatLasts_WithACopyElsewhere(t *testing.T) {
	template := full()
	for _, p := range template.of("AWS::Backup::BackupPlan") {
		rule := value(p.Properties, "BackupPlan", "BackupPlanRule", 0)
		if value(rule, "ScheduleExpression") != "cron(0 2 * * ? *)" || value(rule, "Lifecycle", "DeleteAfterDays") != 35.0 ||
			value(rule, "CopyActions", 0, "DestinationBackupVaultArn") != testVault || value(rule, "CopyActions", 0, "Lifecycle", "DeleteAfterDays") != 35.0 {
			t.Errorf("the plan is %v", rule)
		}
	}
	var saved, want []string
	for _, s := range template.of("AWS::Backup::BackupSelection") {
		saved = append(saved, list(value(s.Properties, "BackupSelection", "Resources"))...)
	}
	for _, table := range dynamo.Tables {
		if !table.Ephemeral {
			want = append(want, "${"+template.id(t, "AWS::DynamoDB::Table", "table-"+string(table.ID))+".Arn}")
		}
	}
	slices.Sort(saved)
	slices.Sort(want)
	if !slices.Equal(saved, want) {
		t.Errorf("backed up are %v\nwant %v", saved, want)
	}
	for _, v := range template.of("AWS::Backup::BackupVault") {
		if v.DeletionPolicy != "Retain" || v.Properties["EncryptionKeyArn"] != testKey {
			t.Errorf("the vault is %v, %s", v.Properties, v.DeletionPolicy)
		}
	}
	a := theAlarm(t, template.template, "backup-missing")
	if got := metricsOf(a); a.Properties["TreatMissingData"] != "breaching" || !strings.Contains(got, fmt.Sprintf("%d - done", len(want))) {
		t.Errorf("it is watched by %s", got)
	}
	if len(template.of("AWS::Backup::BackupPlan")) != 1 || len(prod().of("AWS::Backup::BackupPlan")) != 0 {
		t.Error("there is a plan unasked, or none")
	}
}

// restoredNames are tables that a restore made.
func restoredNames() recovery.Names {
	restored := recovery.Names{}
	for _, table := range recovery.Together() {
		restored[table.ID] = "wavegate-prod-" + string(table.ID) + "-20261122T093000"
	}
	return restored
}

// TestRestoredTables_StandForTheStacksOwn: the service reads their names, and the stack's own tables stay.
func TestRestoredTables_StandForTheStacksOwn(t *testing.T) {
	template, restored := other(), restoredNames()
	if len(template.of("AWS::DynamoDB::Table")) != len(dynamo.Tables) {
		t.Error("the stack's own tables are gone")
	}
	function := template.Resources[template.id(t, "AWS::Lambda::Function", "start-rollout")]
	env := value(function.Properties, "Environment", "Variables")
	for _, id := range []dynamo.TableID{dynamo.Channels, dynamo.Audit, dynamo.Idempotency} {
		if got := value(env, id.EnvName()); got != restored[id] {
			t.Errorf("%s is %v", id, got)
		}
	}
	if got := text(value(env, dynamo.RateCounters.EnvName())); !strings.HasPrefix(got, "${tableratecounters") {
		t.Errorf("the limiter counts in %s", got)
	}
	role := strings.TrimSuffix(strings.Trim(text(function.Properties["Role"]), "${}"), ".Arn")
	rights := strings.Join(allowances(template.Resources[role]), "\n")
	if !strings.Contains(rights, "dynamodb:PutItem") || !strings.Contains(rights, restored[dynamo.Audit]) || strings.Contains(rights, "${tableaudit") {
		t.Errorf("it may %s", rights)
	}
}

func TestSettings_RestoredTables_OnlyTogether(t *testing.T) {
	for want, context := range map[string]map[string]any{
		`is no name of a table for audit`:               prodContext("restoredTables", `{"edges":"wavegate-prod-edges-1"}`),
		`restoredTables: rate-counters is not restored`: prodContext("restoredTables", `{"rate-counters":"wavegate-prod-x"}`),
		`backupCopyVaultArn: "x" is no ARN`:             prodContext("backupCopyVaultArn", "x"),
		`there is nothing to copy without backups`:      prodContext("backup", "false", "backupCopyVaultArn", testVault),
	} {
		if _, err := ReadSettings(context); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
