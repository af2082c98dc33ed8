package samples

import (
	"strings"

	"wavegate/shared/access/auth"
)

// Controller is a box with a DDI client.
var Controller = Caller{"{controller}", "", auth.Edge}

// controllerPath has the values of its path. The first action of a box is the third change to its report row, after
// its registration and the poll that asks what it runs.
var controllerPath = Values{"tenant": "{organization}", "controllerId": "{controller}", "actionId": "3", "poll": "1"}

// described is a publication for a DDI client.
var described = Step{"publish-release", Values{"channel": "ddi", "version": "2.0.0", "details": Described}}

// Described are the fields of a publication that a DDI client needs.
const Described = `,"sizeBytes":1048576,"sha1":"356a192b7913b04c54574d18c28d46e6395428ab"`

// enrolled are the calls that register a box with a DDI client, and told those after which it has an action.
var (
	enrolled = []Step{described, {"put-edge", Values{"edgeId": "{controller}", "channel": "ddi"}}}
	told     = append(enrolled, polled("1"), polled("2"))
	// cancelled are the calls after which it should abandon the action: the box moves to a channel with another version.
	cancelled = append(told, Step{"publish-release", Values{"channel": "ddi-next", "version": "2.0.1", "details": Described}},
		Step{"put-edge", Values{"edgeId": "{controller}", "channel": "ddi-next"}}, polled("3"))
)

// polled is one of a client's polls.
func polled(poll string) Step { return Step{"get-ddi-base", Values{"poll": poll}} }

// tokenHash is the hash of the token in the contract.
var tokenHash = Values{"tokenSha256": "6deff27d5384b3f21add1fe9e186d2a5da492550f98c62f83f3ec47fc2347145"}

var ddi = []Sample{
	{
		Operation: "get-ddi-base", By: Controller, After: enrolled, Defaults: controllerPath, Weight: 4,
		Cases: []Case{
			{Name: "the first of a box", After: []Step{}},
			{Name: "told an action", After: []Step{polled("1")}},
			{Name: "told it again", After: []Step{polled("1"), polled("2")}},
			{Name: "nothing new", After: []Step{polled("1"), {"put-ddi-config-data", Values{"installed": "2.0.0"}}, polled("2")}},
		},
	},
	{
		Operation: "get-ddi-deployment", By: Controller, After: told, Defaults: controllerPath,
		Shows: `{"id":"3"}`,
	},
	{
		Operation: "post-ddi-deployment-feedback", By: Controller, After: told,
		Defaults: with(controllerPath, Values{"finished": "failure"}),
		Body: `{"id":"{actionId}","time":"20260301T120000","status":{"execution":"closed","result":{"finished":"{finished}"},` +
			`"details":["Failed to install software bundle."]}}`,
		Cases: []Case{{Name: "failed"}, {Name: "on disk", With: Values{"finished": "success"}}},
		Also:  []Case{{With: Values{"finished": "success"}}},
	},
	{
		Operation: "put-ddi-config-data", By: Controller, After: told,
		Defaults: with(controllerPath, Values{"installed": "1.0.0"}),
		Body:     `{"time":"20260301T120000","mode":"merge","data":{"hardware":"gateway-x","installed":"{installed}"}}`,
	},
	{
		Operation: "get-ddi-cancel-action", By: Controller, After: cancelled, Defaults: controllerPath,
		Shows: `{"id":"3"}`,
	},
	{
		Operation: "post-ddi-cancel-feedback", By: Controller, After: cancelled,
		Defaults: controllerPath,
		Body:     `{"id":{actionId},"status":{"execution":"closed","result":{"finished":"success"},"details":["cancellation acknowledged."]}}`,
	},
	{
		Operation: "put-edge-token", By: Owner, After: After("put-edge"),
		Defaults: tokenHash, Body: `{"tokenSha256":"{tokenSha256}"}`,
		About: About{"edge", "{edgeId}"},
	},
	{
		Operation: "delete-edge-token", By: Owner, After: After("put-edge-token"),
		About: About{"edge", "{edgeId}"},
	},
	{
		Operation: "put-gateway-token", By: Owner,
		Defaults: with(tokenHash, Values{"organizationId": "{organization}"}), Body: `{"tokenSha256":"{tokenSha256}"}`,
		Cases: []Case{{Name: "new", After: []Step{{"put-gateway-token", Values{"tokenSha256": strings.Repeat("a", 64)}}}}},
		About: About{"gateway", "{organizationId}"},
	},
	{
		Operation: "delete-gateway-token", By: Owner, After: After("put-gateway-token"),
		Defaults: Values{"organizationId": "{organization}"},
		About:    About{"gateway", "{organizationId}"},
	},
}
