package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
)

// A watch is the stack with alarms and dashboard. It finds functions by their fixed names and tables by the parameters of
// the data stack, so it does not depend on the service stack.
type watch struct {
	part
	rows []operations.Operation // the table of operations
	held held
}

// watchedTables grow with the fleet: DynamoDB's metrics on the others show nothing that the functions do not count themselves.
var watchedTables = []dynamo.TableID{dynamo.RateCounters, dynamo.Reports, dynamo.Audit}

// addWatch makes the dashboard and, if the settings ask for them, the alarms.
func addWatch(p part, held held, table []operations.Operation) {
	w := &watch{part: p, rows: table, held: held}
	w.addOutside()
	var alarms []awscloudwatch.Alarm
	if p.settings.Alarms {
		alarms = w.addAlarms()
	}
	w.addDashboard(alarms)
}
