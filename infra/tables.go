package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/dynamo"
)

// leastWarm is how many writes a second a new on-demand table takes.
const leastWarm = 4000

// addTables makes every table of the definitions. They have no names of their own, so that one that
// has to be replaced can stand beside its successor; functions learn the names from their
// environment.
//
// They are tables of one region, and no global ones: conditions and transactions, by which every change
// is made, hold within a region alone. A replica elsewhere would take writes that break the audit trail.
func (p part) addTables() map[dynamo.TableID]tableRef {
	tables := map[dynamo.TableID]tableRef{}
	for _, t := range dynamo.Tables {
		props := &awsdynamodb.TableProps{
			PartitionKey: attribute(t.Partition),
			BillingMode:  awsdynamodb.BillingMode_PAY_PER_REQUEST,
			// The account's own key for DynamoDB: its use shows in the account's trail, and there is
			// nothing to rotate or to lose.
			Encryption:         awsdynamodb.TableEncryption_AWS_MANAGED,
			RemovalPolicy:      p.removal(),
			DeletionProtection: jsii.Bool(p.settings.Keeps() && !t.Ephemeral),
			PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: jsii.Bool(!t.Ephemeral),
			},
		}
		if t.ID == dynamo.RateCounters && p.settings.WarmWrites > 0 {
			props.WarmThroughput = &awsdynamodb.WarmThroughput{WriteUnitsPerSecond: jsii.Number(p.settings.WarmWrites)}
		}
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
		table := awsdynamodb.NewTable(p.stack, jsii.String("table-"+string(t.ID)), props)
		for _, x := range t.Indexes {
			addIndex(table, x)
		}
		if t.Ephemeral {
			excuse(table, "AwsSolutions-DDB3", "What it holds is worthless after a day at most, so there is no point in time worth going back to.")
		}
		tables[t.ID] = tableRef{name: table.TableName(), arn: table.TableArn(), stream: table.TableStreamArn()}
	}
	return tables
}

func addIndex(table awsdynamodb.Table, x dynamo.Index) {
	if x.Local {
		table.AddLocalSecondaryIndex(&awsdynamodb.LocalSecondaryIndexProps{
			IndexName: jsii.String(x.Name), SortKey: attribute(x.Sort),
			ProjectionType: awsdynamodb.ProjectionType_ALL,
		})
		return
	}
	props := &awsdynamodb.GlobalSecondaryIndexProps{
		IndexName: jsii.String(x.Name), PartitionKey: attribute(x.Partition),
		ProjectionType: awsdynamodb.ProjectionType_ALL,
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
