// Package table joins the rows of all subjects. The stack, the local gateway, the contract and the tests read it. A
// function takes its own row only, so that its binary does not change with the rows of others.
package table

import (
	"wavegate/shared/operations"
	"wavegate/shared/operations/assistant"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/operations/factories"
	"wavegate/shared/operations/freezes"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/operations/limits"
	"wavegate/shared/operations/machines"
	"wavegate/shared/operations/methods"
	"wavegate/shared/operations/progress"
	"wavegate/shared/operations/releases"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/operations/trails"
)

// All lists every operation.
var All = []operations.Operation{
	releases.PublishRelease, releases.GetReleaseChannel,
	rollouts.StartRollout, rollouts.UpdateRollout, rollouts.GetRollout,
	releases.ListReleaseChannels,
	rollouts.ListRollouts,
	boxes.PutEdge, boxes.RegisterEdges, boxes.DeleteEdge, boxes.GetEdge, boxes.ListEdges, boxes.GetManifest,
	rollouts.PutRolloutPolicy, rollouts.GetRolloutPolicy, rollouts.ApproveRolloutStage,
	freezes.PutFreeze, freezes.GetFreeze, freezes.DeleteFreeze,
	hawkbit.GetDDIBase, hawkbit.GetDDIDeployment, hawkbit.GetDDICancelAction,
	boxes.PutEdgeToken, boxes.DeleteEdgeToken, boxes.PutGatewayToken, boxes.DeleteGatewayToken,
	hawkbit.PostDDIDeploymentFeedback, hawkbit.PostDDICancelFeedback, hawkbit.PutDDIConfigData,
	enrolments.CreateEdgeEnrolment, enrolments.ListEdgeEnrolments, enrolments.GetEdgeEnrolment,
	enrolments.DeleteEdgeEnrolment, enrolments.RedeemEdgeEnrolment, enrolments.AcceptEdgeEnrolment,
	enrolments.ResetEdgeEnrolment,
	boxes.PutUpdateReport,
	progress.GetUpdateWhy, progress.GetOverview, progress.GetRolloutProgress, progress.ListRolloutHistory,
	progress.ListRolloutEdges, progress.GetChannelProgress,
	factories.PutFactory, factories.GetFactory, factories.ListFactories,
	machines.PutMachine, machines.GetMachine, machines.ListMachines,
	methods.CreateProductionMethod, methods.GetProductionMethod, methods.ListProductionMethods,
	methods.PutMethodContent, methods.GetMethodContent, methods.GetMethodVersion, methods.ListMethodVersions,
	methods.UpdateMethodVersion, methods.GetMethodChanges, methods.GetMachineMethods, methods.PutMethodReport,
	methods.ListMethodMachines,
	limits.PutRateLimit, limits.GetRateLimit, limits.DeleteRateLimit, limits.GetMyRateLimits,
	trails.ListAuditEvents, trails.ListFactoryAuditEvents, trails.ExportOrganization,
	assistant.Copilot,
}

// Tasks lists every task.
var Tasks = []operations.Task{progress.Tick}

// Get returns the row of an id. An unknown id is a mistake in the code, which shows at start-up.
func Get(id string) operations.Operation {
	for _, op := range All {
		if op.ID == id {
			return op
		}
	}
	panic("table: no operation " + id)
}

// Functions lists the names of all functions: the authorizer, the docs, the console, the bell, the tasks and the
// operations.
func Functions() []string {
	names := []string{operations.Authorizer, operations.Docs, operations.Console, operations.Bell}
	for _, task := range Tasks {
		names = append(names, task.ID)
	}
	for _, op := range All {
		names = append(names, op.ID)
	}
	return names
}
