// Package door says which calls the door takes, and what its function needs for them.
package door

import (
	"slices"
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// Takes are the operations behind the door.
var Takes = []operations.Operation{
	boxes.GetManifest().Operation, boxes.PutUpdateReport().Operation,
	hawkbit.GetDDIBase().Operation, hawkbit.GetDDIDeployment().Operation, hawkbit.GetDDICancelAction().Operation,
	hawkbit.PostDDIDeploymentFeedback().Operation, hawkbit.PostDDICancelFeedback().Operation, hawkbit.PutDDIConfigData().Operation,
}

// Function describes the door's function as an operation: its size, its permissions and its settings.
var Function = function()

func function() operations.Operation {
	op := operations.Operation{ID: operations.Door, Summary: "Answer boxes with tokens of their own", Sampled: true, Settings: []setting.Name{setting.APIURL, setting.ForeignTokens}}
	var timeout time.Duration
	for _, takes := range Takes {
		op.Settings = append(op.Settings, takes.Settings...)
		timeout, op.MemoryMB = max(timeout, takes.Timeout), max(op.MemoryMB, takes.MemoryMB)
		for _, g := range takes.Grants {
			// Calls with the token of a gateway, which is read and noted in these tables, belong to the API.
			if g.Table != dynamo.Gateways && g.Table != dynamo.Audit {
				op.Grants = grant(op.Grants, g)
			}
		}
	}
	slices.Sort(op.Settings)
	op.Settings, op.Timeout = slices.Compact(op.Settings), timeout
	return op
}

// grant adds a permission to those that there are.
func grant(all []operations.Grant, more operations.Grant) []operations.Grant {
	for i, g := range all {
		if g.Table != more.Table {
			continue
		}
		for _, action := range more.Actions {
			if !slices.Contains(g.Actions, action) {
				all[i].Actions = append(all[i].Actions, action)
			}
		}
		return all
	}
	more.Actions = slices.Clone(more.Actions)
	return append(all, more)
}
