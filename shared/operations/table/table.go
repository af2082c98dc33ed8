// Package table joins the rows of all subjects. The stack, the local gateway, the contract and the tests read it. A
// function takes its own row only, so that its binary does not change with the rows of others.
package table

import (
	"wavegate/shared/operations"
	"wavegate/shared/operations/artifacts"
	"wavegate/shared/operations/assistant"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/operations/enrolments"
	"wavegate/shared/operations/factories"
	"wavegate/shared/operations/freezes"
	"wavegate/shared/operations/hawkbit"
	"wavegate/shared/operations/limits"
	"wavegate/shared/operations/machines"
	"wavegate/shared/operations/methods"
	"wavegate/shared/operations/products"
	"wavegate/shared/operations/progress"
	"wavegate/shared/operations/releases"
	"wavegate/shared/operations/rollouts"
	"wavegate/shared/operations/trails"
)

// All lists every operation.
var All = []operations.Operation{
	releases.PublishRelease().Operation, releases.GetReleaseChannel().Operation,
	rollouts.StartRollout().Operation, rollouts.UpdateRollout().Operation, rollouts.GetRollout().Operation,
	releases.ListReleaseChannels().Operation, releases.ListReleases().Operation, releases.ListReleaseEdges().Operation,
	releases.GetRelease().Operation, releases.PutRelease().Operation, releases.PutReleaseComponents().Operation, releases.ListComponents().Operation,
	rollouts.ListRollouts().Operation,
	boxes.PutEdge().Operation, boxes.RegisterEdges().Operation, boxes.DeleteEdge().Operation, boxes.GetEdge().Operation, boxes.ListEdges().Operation, boxes.ListEdgeHistory().Operation, boxes.GetManifest().Operation,
	artifacts.PutArtifact().Operation, artifacts.UpdateArtifact().Operation, artifacts.GetArtifact().Operation,
	artifacts.ListArtifacts().Operation, artifacts.DeleteArtifact().Operation,
	rollouts.PutRolloutPolicy().Operation, rollouts.GetRolloutPolicy().Operation, rollouts.ApproveRolloutStage().Operation,
	releases.PutEdgeType().Operation, releases.GetEdgeType().Operation,
	freezes.PutFreeze().Operation, freezes.GetFreeze().Operation, freezes.DeleteFreeze().Operation,
	hawkbit.GetDDIBase().Operation, hawkbit.GetDDIDeployment().Operation, hawkbit.GetDDICancelAction().Operation,
	boxes.PutEdgeToken().Operation, boxes.DeleteEdgeToken().Operation, boxes.PutGatewayToken().Operation, boxes.DeleteGatewayToken().Operation,
	hawkbit.PostDDIDeploymentFeedback().Operation, hawkbit.PostDDICancelFeedback().Operation, hawkbit.PutDDIConfigData().Operation,
	enrolments.CreateEdgeEnrolment().Operation, enrolments.ListEdgeEnrolments().Operation, enrolments.GetEdgeEnrolment().Operation,
	enrolments.DeleteEdgeEnrolment().Operation, enrolments.RedeemEdgeEnrolment().Operation, enrolments.AcceptEdgeEnrolment().Operation,
	enrolments.ResetEdgeEnrolment().Operation,
	boxes.PutUpdateReport().Operation, boxes.PutEdgeAttributes().Operation,
	progress.GetUpdateWhy().Operation, progress.GetOverview().Operation, progress.GetRolloutProgress().Operation, progress.ListRolloutHistory().Operation,
	progress.ListRolloutEdges().Operation, progress.GetChannelProgress().Operation,
	progress.GetOrganizationFleet().Operation, progress.GetOrganizationRollout().Operation,
	factories.PutFactory().Operation, factories.GetFactory().Operation, factories.ListFactories().Operation,
	machines.PutMachine().Operation, machines.GetMachine().Operation, machines.ListMachines().Operation,
	products.PutProduct().Operation, products.GetProduct().Operation, products.ListProducts().Operation,
	methods.CreateProductionMethod().Operation, methods.GetProductionMethod().Operation, methods.ListProductionMethods().Operation,
	methods.PutMethodContent().Operation, methods.GetMethodContent().Operation, methods.GetMethodVersion().Operation, methods.ListMethodVersions().Operation,
	methods.UpdateMethodVersion().Operation, methods.GetMethodChanges().Operation, methods.GetMachineMethods().Operation, methods.GetMachineContent().Operation, methods.PutMethodReport().Operation,
	methods.ListMethodMachines().Operation,
	methods.PutMethodConfirmation().Operation, methods.ConfirmMethodMachines().Operation, methods.UpdateProductionMethod().Operation,
	limits.PutRateLimit().Operation, limits.GetRateLimit().Operation, limits.DeleteRateLimit().Operation, limits.GetMyRateLimits().Operation,
	trails.ListAuditEvents().Operation, trails.ListFactoryAuditEvents().Operation, trails.ExportOrganization().Operation,
	assistant.Copilot().Operation,
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

// Functions lists the names of all functions: the authorizer, the docs, the console, the bell, the door, the tasks and
// the operations.
func Functions() []string {
	names := []string{operations.Authorizer, operations.Docs, operations.Console, operations.Bell, operations.Door}
	for _, task := range Tasks {
		names = append(names, task.ID)
	}
	for _, op := range All {
		names = append(names, op.ID)
	}
	return names
}
