package operations

import (
	"net/http"
	"slices"
	"strings"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// feedbackBody bounds a DDI client's feedback on an action: some clients send their whole log.
const feedbackBody = 256 << 10

// DDIPath is what the paths of hawkBit's DDI begin with.
const DDIPath = "/api/ddi"

// RootPath is the second path of a hawkBit DDI operation, for clients that accept no path in the server's URL. A stack
// has it only on request. It is empty for other operations.
func (op Operation) RootPath() string {
	if path, ok := strings.CutPrefix(op.Path, DDIPath); ok {
		return path
	}
	return ""
}

// boxes are the roles that may call hawkBit's DDI.
var boxes = []auth.Role{auth.Edge}

// The operations of hawkBit's DDI, and on the tokens of boxes and gateways.
var ddiRows = []Operation{
	{
		ID: "get-ddi-base", Summary: "Poll as a DDI client",
		Method: http.MethodGet, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}",
		Roles: boxes, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: controllerPath},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Sampled:  true,
		Settings: append([]setting.Name{setting.LogSamplePolls}, pollSettings...),
		Grants: append([]Grant{
			may(dynamo.Channels, dynamo.Get),
			may(dynamo.Releases, dynamo.Get),
			may(dynamo.Reports, dynamo.Get, dynamo.Write),
		}, gateways...),
	},
	{
		ID: "get-ddi-deployment", Summary: "Read what to install as a DDI client",
		Method: http.MethodGet, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}/deploymentBase/{actionId}",
		Roles: boxes, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: actionPath, Query: input.Fields{{Name: "c", Is: ddi.CountRule}, {Name: "actionHistory", Is: ddi.CountRule}}},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Settings: pollSettings,
		Grants: append([]Grant{
			may(dynamo.Channels, dynamo.Get),
			may(dynamo.Releases, dynamo.Get),
			may(dynamo.Reports, dynamo.Get),
			may(dynamo.Rollouts, dynamo.Get),
		}, gateways...),
	},
	{
		ID: "get-ddi-cancel-action", Summary: "Read what to cancel as a DDI client",
		Method: http.MethodGet, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}/cancelAction/{actionId}",
		Roles: boxes, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: actionPath},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Settings: pollSettings,
		Grants: append([]Grant{
			may(dynamo.Reports, dynamo.Get),
		}, gateways...),
	},
	reported("post-ddi-deployment-feedback", "Report on an installation as a DDI client", http.MethodPost, "/deploymentBase/{actionId}/feedback", actionPath, ddi.FeedbackBody),
	reported("post-ddi-cancel-feedback", "Report on a cancellation as a DDI client", http.MethodPost, "/cancelAction/{actionId}/feedback", actionPath, ddi.FeedbackBody),
	reported("put-ddi-config-data", "Report what a box runs as a DDI client", http.MethodPut, "/configData", controllerPath, ddi.ConfigBody, may(dynamo.Rollouts, dynamo.Get)),
	{
		ID: "put-edge-token", Summary: "Give a box a token of its own",
		Method: http.MethodPut, Path: "/api/edges/{edgeId}/token",
		Roles: installers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath, Conditions: true, Body: edge.TokenBody},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: registration,
	},
	{
		ID: "delete-edge-token", Summary: "End a box's own tokens",
		Method: http.MethodDelete, Path: "/api/edges/{edgeId}/token",
		Roles: keepers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: edgePath, Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Settings: append([]setting.Name{setting.ReportShards}, bell.Settings...), Grants: registration,
	},
	{
		ID: "put-gateway-token", Summary: "Give an organization's gateway a token",
		Method: http.MethodPut, Path: "/api/organizations/{organizationId}/gateway-token",
		Roles: keepers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: organizationPath, Conditions: true, Body: edge.TokenBody},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Grants: gateways,
	},
	{
		ID: "delete-gateway-token", Summary: "End the tokens of an organization's gateway",
		Method: http.MethodDelete, Path: "/api/organizations/{organizationId}/gateway-token",
		Roles: keepers, Limit: ratelimit.Ordinary, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: organizationPath, Conditions: true},
		Gives: changed, Refuses: []problem.Code{problem.NotFound},
		Grants: gateways,
	},
}

// pollSettings are those of edge.ReadSettings.
var pollSettings = []setting.Name{setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.ChannelCacheSeconds,
	setting.ReportShards, setting.FleetIssuers}

// registration grants what a change to a box needs.
var registration = []Grant{
	may(dynamo.Edges, dynamo.Get, dynamo.Write),
	may(dynamo.Reports, dynamo.Get, dynamo.Write),
	may(dynamo.Bells, dynamo.Get, dynamo.Write),
	may(dynamo.Audit, dynamo.Put),
}

// gateways grants what a change to an organization's gateway needs. A call of the gateway itself may change it too: its
// first call with a new token, and a call for a box that has a token of its own.
var gateways = []Grant{
	may(dynamo.Gateways, dynamo.Get, dynamo.Write),
	may(dynamo.Audit, dynamo.Put),
}

// reported makes an operation by which a DDI client reports something.
func reported(id, summary, method, place string, path input.Fields, body *input.Shape, more ...Grant) Operation {
	return Operation{
		ID: id, Summary: summary,
		Method: method, Path: "/api/ddi/{tenant}/controller/v1/{controllerId}" + place,
		Roles: boxes, Limit: ratelimit.Reserved, Timeout: timeout, MemoryMB: memory,
		Takes: input.Takes{Path: path, Body: body, MaxBody: feedbackBody},
		Gives: shown, Refuses: []problem.Code{problem.NotFound},
		Settings: pollSettings,
		Grants:   slices.Concat([]Grant{may(dynamo.Reports, dynamo.Get, dynamo.Write)}, gateways, more),
	}
}

// AuthorizerGrants are what the authorizer reads to verify codes and the tokens of boxes and gateways.
var AuthorizerGrants = []Grant{may(dynamo.Reports, dynamo.Get), may(dynamo.Gateways, dynamo.Get), may(dynamo.Enrolments, dynamo.Get)}
