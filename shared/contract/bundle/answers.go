package main

import (
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/enrolment"
	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/fleet/usage"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/production/product"
	"wavegate/shared/ratelimit"
	"wavegate/shared/trail/audit"
)

// answers are the types of answers, and of the items of lists, by the names of their schemas. The schemas that these
// refer to follow from them.
var answers = map[string]any{
	"MachineContent":    method.MachineContent{},
	"MachinesConfirmed": method.ConfirmedNow{},
	"RateLimit":         ratelimit.Override{},
	"DDIBase":           ddi.BaseAnswer{},
	"DDIDeployment":     ddi.DeploymentAnswer{},
	"DDICancel":         ddi.CancelAnswer{},
	"Artifact":          artifact.Artifact{},
	"ArtifactAsked":     artifact.Asked{},
	"ArtifactShown":     usage.Shown{},
	"Document":          release.Document{},
	"Edge":              edge.Shown{},
	"EdgeBatchResult":   edge.BatchCounts{},
	"Manifest":          polling.Manifest{},
	"Enrolment":         enrolment.Enrolment{},
	"EnrolmentCode":     enrolment.Made{},
	"EnrolledBox":       enrolment.Told{},
	"EnrolmentDetails":  enrolment.Details{},
	"Freeze":            freeze.Freeze{},
	"EdgeTypeSettings":  edgetype.Settings{},
	"PolicyInForce":     guard.Policy{},
	"Overview": struct {
		census.Overview
		method.Warned
	}{},
	"Progress":   census.Progress{},
	"Moment":     census.Snapshot{},
	"RolloutBox": census.Box{},
	"Heard":      report.Heard{},
	"Fleet": struct {
		census.Fleet
		method.Warned
	}{},
	"OwnRollout":       census.OwnRollout{},
	"ChannelProgress":  census.ChannelVersions{},
	"Why":              census.Why{},
	"Channel":          release.View{},
	"Release":          release.Published{},
	"KnownRelease":     census.Release{},
	"Containing":       release.Containing{},
	"Spell":            report.Spell{},
	"Rollout":          rollout.Rollout{},
	"Factory":          factory.Factory{},
	"Machine":          machine.Machine{},
	"MachinesLeft":     machine.Left{},
	"Product":          product.Product{},
	"Method":           method.Made{},
	"MethodVersion":    method.Shown{},
	"MethodComparison": method.Comparison{},
	"MachineMethods":   method.PollAnswer{},
	"MethodOutcome":    method.Moved{},
	"ReachedMachine":   method.Reached{},
	"Event":            audit.Event{},
}
