package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// TestBackup_EveryNight_OfEveryTableThatLasts_WithACopyElsewhere: the copy outlives the account.
func TestBackup_EveryNight_OfEveryTableThatLasts_WithACopyElsewhere(t *testing.T) {
	template := full()
	for _, p := range template.of("AWS::Backup::BackupPlan") {
		has(t, value(p.Properties, "BackupPlan", "BackupPlanRule", 0), map[string]any{
			"ScheduleExpression": "cron(0 2 * * ? *)", "Lifecycle/DeleteAfterDays": 35.0,
			"CopyActions/0/DestinationBackupVaultArn": testVault, "CopyActions/0/Lifecycle/DeleteAfterDays": 35.0,
		}, "the plan")
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
	expect.Equal(t, saved, want, "backed up are")
	for _, v := range template.of("AWS::Backup::BackupVault") {
		expect.Equal(t, v.DeletionPolicy, "Retain", "when the vault leaves the stack, do")
		has(t, v.Properties, map[string]any{"EncryptionKeyArn": testKey}, "the vault")
	}
	a := theAlarm(t, template.template, "backup-missing")
	if got := metricsOf(a); a.Properties["TreatMissingData"] != "breaching" || !strings.Contains(got, fmt.Sprintf("%d - done", len(want))) {
		t.Errorf("it is watched by %s", got)
	}
	expect.That(t, len(template.of("AWS::Backup::BackupPlan")) == 1 && len(prod().of("AWS::Backup::BackupPlan")) == 0,
		"there is a plan without the setting, or none with it")
}

// restoredNames are tables that a restore made.
func restoredNames() recovery.Names {
	restored := recovery.Names{}
	for _, table := range recovery.Together() {
		restored[table.ID] = "wavegate-prod-" + string(table.ID) + "-20261122T093000"
	}
	return restored
}

// TestRestoredTables_TheirEvents_HaveAPipeOfTheirOwn: CloudFormation makes the new pipe before it deletes the old one, and the alarm
// watches the new one.
func TestRestoredTables_TheirEvents_HaveAPipeOfTheirOwn(t *testing.T) {
	names := func(from stage) (pipes, watched []string) {
		for _, r := range from.of("AWS::Pipes::Pipe") {
			pipes = append(pipes, r.Properties["Name"].(string))
		}
		for _, r := range from.of("AWS::CloudWatch::Alarm") {
			if value(r.Properties, "Dimensions", 0, "Name") == "PipeName" {
				watched = append(watched, value(r.Properties, "Dimensions", 0, "Value").(string))
			}
		}
		return pipes, watched
	}
	pipes, watched := names(other())
	own, ownWatched := names(full())
	if len(pipes) != 1 || !slices.Equal(pipes, watched) || !slices.Equal(own, ownWatched) || own[0] != "wavegate-prod-audit" || !strings.HasPrefix(pipes[0], own[0]+"-") || len(pipes[0]) > 64 {
		t.Errorf("the pipes are %v, watched %v, and without a restore %v, watched %v", pipes, watched, own, ownWatched)
	}
}

// TestRemadeTables_AreOtherResources: CloudFormation would keep a table's resource, although somebody has deleted the table. Functions
// read its name by another parameter, which gives them new versions.
func TestRemadeTables_AreOtherResources(t *testing.T) {
	id, before := other().id(t, "AWS::DynamoDB::Table", "table-rate-counters-2"), prod().id(t, "AWS::DynamoDB::Table", "table-rate-counters")
	expect.That(t, id != before, "both are %s", id)
	uses := 0
	for name, f := range other().stacks["wavegate-prod-service"].of("AWS::Lambda::Function") {
		said := fmt.Sprint(f.Properties)
		expect.That(t, !strings.Contains(said, "Ref:tablesratecounters]"), "%s reads the name of the table before: %s", name, said)
		if strings.Contains(said, "Ref:tablesratecounters2]") {
			uses++
		}
	}
	expect.That(t, uses > 0, "no function uses the table")
}

// TestRestoredTables_AreTheStacksOwn: they have their names and all settings of other tables, as new resources that are
// never deleted, so that a deploy imports them.
func TestRestoredTables_AreTheStacksOwn(t *testing.T) {
	made, restored, plain := other().stacks["wavegate-prod"], restoredNames(), prod().stacks["wavegate-prod"]
	expect.Equal(t, len(made.of("AWS::DynamoDB::Table")), len(dynamo.Tables), "the number of tables is")
	tableOf := func(from template, id dynamo.TableID) (string, resource) {
		parameter := from.Resources["parametertables"+strings.ReplaceAll(string(id), "-", "")]
		logical := strings.Trim(text(parameter.Properties["Value"]), "${}")
		return logical, from.Resources[logical]
	}
	for _, table := range dynamo.Tables {
		logical, it := tableOf(made, table.ID)
		own, _ := tableOf(plain, table.ID)
		name := restored[table.ID]
		if name == "" {
			expect.That(t, it.Properties["TableName"] == nil && (logical == own || table.ID == dynamo.RateCounters),
				"%s is %s, named %v", table.ID, logical, it.Properties["TableName"])
			continue
		}
		if it.Properties["TableName"] != name || logical == own || it.DeletionPolicy != "Retain" || it.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s is %s, named %v, with the policies %s and %s", table.ID, logical, it.Properties["TableName"], it.DeletionPolicy, it.UpdateReplacePolicy)
		}
	}
}
