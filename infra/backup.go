package main

import (
	"fmt"
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbackup"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/dynamo"
)

// Backup configures copies of the tables. Point-in-time recovery, which every deployment has, is lost with the account,
// and with the table.
type Backup struct {
	// On makes a backup each night.
	On bool
	// Days is how long backups and their copies are kept.
	Days int
	// CopyVaultARN is a vault that gets a copy, usually in another account. If it is empty, there are no copies.
	CopyVaultARN string
}

var vaultARN = regexp.MustCompile(`^arn:aws[a-z-]*:backup:[a-z0-9-]+:[0-9]{12}:backup-vault:[A-Za-z0-9_-]{2,50}$`)

func readBackup(r *reader) Backup {
	b := Backup{CopyVaultARN: r.text("backupCopyVaultArn", "")}
	b.On = r.flag("backup", b.CopyVaultARN != "")
	b.Days = r.number("backupDays", 35, 1, 36_500)
	return b
}

func (b Backup) check(r *reader) {
	if b.CopyVaultARN != "" && !vaultARN.MatchString(b.CopyVaultARN) {
		r.fault("backupCopyVaultArn: %q is not the ARN of a backup vault", b.CopyVaultARN)
	}
	if b.CopyVaultARN != "" && !b.On {
		r.fault("backup, backupCopyVaultArn: copies need backup=true")
	}
}

// lasting are the tables that are backed up and restored; the items of the others matter for a short time only.
func lasting() []dynamo.Table {
	var tables []dynamo.Table
	for _, t := range dynamo.Tables {
		if !t.Ephemeral {
			tables = append(tables, t)
		}
	}
	return tables
}

// addBackup makes the vault and the plan. They have their own stack: backups outlive the data stack, and the plan can
// change while the tables stay the same.
func addBackup(p part) {
	b := p.settings.Backup
	vault := awsbackup.NewCfnBackupVault(p.stack, jsii.String("vault"), &awsbackup.CfnBackupVaultProps{
		BackupVaultName: jsii.String(p.name()), EncryptionKeyArn: nonEmpty(p.settings.KMSKeyARN),
	})
	vault.ApplyRemovalPolicy(p.removal(), nil)
	life := &awsbackup.CfnBackupPlan_LifecycleResourceTypeProperty{DeleteAfterDays: jsii.Number(b.Days)}
	rule := &awsbackup.CfnBackupPlan_BackupRuleResourceTypeProperty{
		RuleName: jsii.String("nightly"), TargetBackupVault: vault.Ref(), ScheduleExpression: jsii.String("cron(0 2 * * ? *)"),
		// All backups start within the hour, so that they are from about the same time.
		StartWindowMinutes: jsii.Number(60), CompletionWindowMinutes: jsii.Number(720), Lifecycle: life,
	}
	if b.CopyVaultARN != "" {
		rule.CopyActions = &[]any{&awsbackup.CfnBackupPlan_CopyActionResourceTypeProperty{DestinationBackupVaultArn: &b.CopyVaultARN, Lifecycle: life}}
	}
	plan := awsbackup.NewCfnBackupPlan(p.stack, jsii.String("plan"), &awsbackup.CfnBackupPlanProps{
		BackupPlan: &awsbackup.CfnBackupPlan_BackupPlanResourceTypeProperty{
			BackupPlanName: jsii.String(p.name()), BackupPlanRule: &[]any{rule},
		},
	})
	role := awsiam.NewRole(p.stack, jsii.String("backup-role"), &awsiam.RoleProps{
		Description: jsii.String("What AWS Backup may do with the tables"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"), nil),
		ManagedPolicies: &[]awsiam.IManagedPolicy{
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSBackupServiceRolePolicyForBackup")),
		},
	})
	excuse(role, "AwsSolutions-IAM4", "AWS's own policy for backups, which changes with the service.",
		"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup")
	var tables []*string
	for _, t := range lasting() {
		tables = append(tables, p.stack.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("dynamodb"), Resource: jsii.String("table"), ResourceName: p.readTable(t.ID),
		}))
	}
	awsbackup.NewCfnBackupSelection(p.stack, jsii.String("selection"), &awsbackup.CfnBackupSelectionProps{
		BackupPlanId: plan.AttrBackupPlanId(),
		BackupSelection: &awsbackup.CfnBackupSelection_BackupSelectionResourceTypeProperty{
			SelectionName: jsii.String("tables"), IamRoleArn: role.RoleArn(), Resources: &tables,
		},
	})
	p.output("BackupVault", "The vault of the tables' backups", vault.AttrBackupVaultArn())
}

// nonEmpty is nil for an empty text.
func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// backupAlarms check that every table was backed up in the last day. A plan that has stopped sends no data.
func (w *watch) backupAlarms() []alarm {
	if !w.settings.Backup.On {
		return nil
	}
	day := awscdk.Duration_Days(jsii.Number(1))
	done := source{"AWS/Backup", map[string]*string{"BackupVaultName": jsii.String(w.name())}}.metric("NumberOfBackupJobsCompleted", sum, "")
	return []alarm{{
		kind: "backup-missing", says: "Not every table was backed up in the last day.",
		metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String(fmt.Sprintf("%d - done", len(lasting()))), Label: jsii.String("tables that were not backed up"), Period: day,
			UsingMetrics: &map[string]awscloudwatch.IMetric{"done": done.With(&awscloudwatch.MetricOptions{Period: day})},
		}),
		threshold: 1, minutes: 1, of: 1, missed: true,
	}}
}
