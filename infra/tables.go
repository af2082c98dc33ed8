package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/dynamo"
)

// leastWarm is how many writes a second a new on-demand table takes, and mostWarm the most that warmWrites may request.
const leastWarm, mostWarm = 4000, 1_000_000

// addTables makes every table of the definitions. CloudFormation chooses their names, so that a table can exist next to
// its replacement; functions get the names from their environment. A restored table has its name in the setting
// restoredTables.
//
// They are not global tables: every change uses conditions and transactions, which DynamoDB guarantees in one region only.
// A replica elsewhere would accept writes that break the audit trail.
func (p part) addTables() map[dynamo.TableID]tableRef {
	tables := map[dynamo.TableID]tableRef{}
	for _, t := range dynamo.Tables {
		props := &awsdynamodb.TableProps{
			PartitionKey: attribute(t.Partition),
			BillingMode:  awsdynamodb.BillingMode_PAY_PER_REQUEST,
			// The account's own key for DynamoDB: CloudTrail records its use, and there is nothing to rotate or to
			// lose.
			Encryption:         awsdynamodb.TableEncryption_AWS_MANAGED,
			RemovalPolicy:      p.removal(),
			DeletionProtection: jsii.Bool(p.settings.Keeps()), // also what may be lost: without its table, each call fails
			PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: jsii.Bool(!t.Ephemeral),
			},
		}
		var warm *awsdynamodb.WarmThroughput
		if writes := p.settings.WarmWrites[t.ID]; writes > 0 {
			warm = &awsdynamodb.WarmThroughput{WriteUnitsPerSecond: jsii.Number(writes)}
		}
		props.WarmThroughput = warm
		if t.ID == dynamo.Audit && p.settings.Events.On {
			props.Stream = awsdynamodb.StreamViewType_NEW_IMAGE
		}
		if p.key != nil {
			props.Encryption, props.EncryptionKey = awsdynamodb.TableEncryption_CUSTOMER_MANAGED, p.key
		}
		if t.Sort != "" {
			props.SortKey = attribute(t.Sort)
		}
		if t.TTL != "" {
			props.TimeToLiveAttribute = jsii.String(t.TTL)
		}
		// CloudFormation does not notice that a table is gone, and makes another construct anew.
		construct := "table-" + string(t.ID) + p.remade(t.ID)
		if restored := p.settings.RestoredTables[t.ID]; restored != "" {
			// Another construct, because CloudFormation imports the table as a new resource under its existing name. Like
			// every restored table, it is retained when the setting is removed.
			construct += "-" + restored
			props.TableName, props.RemovalPolicy = &restored, awscdk.RemovalPolicy_RETAIN
		}
		table := awsdynamodb.NewTable(p.stack, &construct, props)
		for _, x := range t.Indexes {
			addIndex(table, x, warm)
		}
		if t.Ephemeral {
			excuse(table, "AwsSolutions-DDB3", "The service works without its items, so there is no point in time worth going back to.")
		}
		tables[t.ID] = tableRef{name: table.TableName(), arn: table.TableArn(), stream: table.TableStreamArn()}
	}
	return tables
}

// addIndex adds an index. A write to the table also writes to its global indexes, so they get the same warm throughput.
func addIndex(table awsdynamodb.Table, x dynamo.Index, warm *awsdynamodb.WarmThroughput) {
	if x.Local {
		table.AddLocalSecondaryIndex(&awsdynamodb.LocalSecondaryIndexProps{
			IndexName: jsii.String(x.Name), SortKey: attribute(x.Sort),
			ProjectionType: awsdynamodb.ProjectionType_ALL,
		})
		return
	}
	props := &awsdynamodb.GlobalSecondaryIndexProps{
		IndexName: jsii.String(x.Name), PartitionKey: attribute(x.Partition),
		ProjectionType: awsdynamodb.ProjectionType_ALL, WarmThroughput: warm,
	}
	if x.Holds != nil {
		props.ProjectionType, props.NonKeyAttributes = awsdynamodb.ProjectionType_INCLUDE, texts(x.Holds...)
	}
	if x.Sort != "" {
		props.SortKey = attribute(x.Sort)
	}
	table.AddGlobalSecondaryIndex(props)
}

func attribute(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: &name, Type: awsdynamodb.AttributeType_STRING}
}
