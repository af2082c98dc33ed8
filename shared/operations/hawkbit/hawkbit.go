// Package hawkbit has the rows of the operations on hawkBit's DDI.
package hawkbit

import (
	"net/http"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// The rows.
var (
	GetDDIBase = func() operations.Row[ddi.ClientCall] {
		return operations.New(operations.Operation{
			ID: "get-ddi-base", Summary: "Poll as a DDI client",
			Method: http.MethodGet, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}",
			Roles: boxes,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Sampled:  true,
			Settings: append([]setting.Name{setting.LogSamplePolls}, operations.PollSettings...),
			Grants: append([]operations.Grant{
				operations.May(dynamo.Channels, dynamo.Get),
				operations.May(dynamo.Releases, dynamo.Get),
				operations.May(dynamo.Reports, dynamo.Get, dynamo.Write, dynamo.BatchGet),
				operations.May(dynamo.Factories, dynamo.Get), operations.May(dynamo.RateCounters, dynamo.Get),
				operations.May(dynamo.Progress, dynamo.Get), // the sizes of a rollout's stages
			}, operations.Gateways...),
		}, ddi.CallOf)
	}

	GetDDIDeployment = func() operations.Row[ddi.CallAbout] {
		return operations.New(operations.Operation{
			ID: "get-ddi-deployment", Summary: "Read what to install as a DDI client",
			Method: http.MethodGet, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}/deploymentBase/{actionId}",
			Roles: boxes,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Settings: operations.PollSettings,
			Grants: append([]operations.Grant{
				operations.May(dynamo.Channels, dynamo.Get),
				operations.May(dynamo.Releases, dynamo.Get),
				operations.May(dynamo.Reports, dynamo.Get, dynamo.BatchGet),
				operations.May(dynamo.RateCounters, dynamo.Get), // whether the others of the box's group are heard
				operations.May(dynamo.Factories, dynamo.Get),
			}, operations.Gateways...),
		}, ddi.DeploymentOf)
	}

	GetDDICancelAction = func() operations.Row[ddi.CallAbout] {
		return operations.New(operations.Operation{
			ID: "get-ddi-cancel-action", Summary: "Read what to cancel as a DDI client",
			Method: http.MethodGet, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}/cancelAction/{actionId}",
			Roles: boxes,
			Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
			Settings: operations.PollSettings,
			Grants: append([]operations.Grant{
				operations.May(dynamo.Reports, dynamo.Get),
			}, operations.Gateways...),
		}, ddi.CallAboutOf)
	}

	PostDDIDeploymentFeedback = func() operations.Row[input.Sent[ddi.CallAbout, ddi.Status]] {
		return operations.New(reported("post-ddi-deployment-feedback", "Report on an installation as a DDI client",
			http.MethodPost, "/deploymentBase/{actionId}/feedback"), ddi.FeedbackOf)
	}

	PostDDICancelFeedback = func() operations.Row[input.Sent[ddi.CallAbout, ddi.Status]] {
		return operations.New(reported("post-ddi-cancel-feedback", "Report on a cancellation as a DDI client",
			http.MethodPost, "/cancelAction/{actionId}/feedback"), ddi.FeedbackOf)
	}

	PutDDIConfigData = func() operations.Row[input.Sent[ddi.ClientCall, ddi.Statement]] {
		return operations.New(reported("put-ddi-config-data", "Report what a box runs as a DDI client",
			http.MethodPut, "/configData", operations.May(dynamo.Rollouts, dynamo.Get),
			operations.May(dynamo.Channels, dynamo.Get), operations.May(dynamo.Releases, dynamo.Get)), input.Both(ddi.CallOf, ddi.StatementOf))
	}
)

// feedbackBody bounds a DDI client's feedback on an action: some clients send their whole log.
const feedbackBody = 256 << 10

// boxes are the roles that may call hawkBit's DDI.
var boxes = []auth.Role{auth.Edge}

// reported makes an operation by which a DDI client reports something.
func reported(id, summary, method, place string, more ...operations.Grant) operations.Operation {
	return operations.Operation{
		ID: id, Summary: summary,
		Method: method, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}" + place,
		Roles: boxes, Limit: ratelimit.Reserved,
		Takes: input.Takes{MaxBody: feedbackBody},
		Gives: operations.Shown, Refuses: []problem.Code{problem.NotFound},
		Settings: operations.PollSettings,
		Grants:   slices.Concat([]operations.Grant{operations.May(dynamo.Reports, dynamo.Get, dynamo.Write)}, operations.Gateways, more),
	}
}
