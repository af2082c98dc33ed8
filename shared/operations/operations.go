// Package operations is the table of what the service can do. The functions, the stack, the local
// gateway and the contract test all read this one table: adding an operation is one row here, one
// folder in functions, and its part of the contract.
package operations

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
)

// A LimitClass says which fair-use limits a call counts against.
type LimitClass string

const (
	// Ordinary calls count against the user and, unless a box calls, against the organization.
	Ordinary LimitClass = "ordinary"
	// Copilot calls count as ordinary ones and against the copilot's own limits as well.
	Copilot LimitClass = "copilot"
)

// A Grant is the right to do some actions on one table, and nothing else on it.
type Grant struct {
	Table   dynamo.TableID
	Actions []dynamo.Action
	// Indexes that may be queried; the table itself may be queried when Actions holds Query and
	// OnlyIndexes is not set.
	Indexes     []string
	OnlyIndexes bool
}

// An Operation is one row: one HTTP method on one path, answered by one function.
type Operation struct {
	// ID names the operation, its folder in functions, its function and its event file.
	ID      string
	Summary string
	Method  string // an HTTP method, or Any
	Path    string // with {name} for one segment and {name+} for the rest
	// Roles that may call, any one of which is enough; auth.Member stands for any person of an
	// organization.
	Roles []auth.Role
	Limit LimitClass
	// Grants are the tables that the function reads and writes.
	Grants []Grant
	// Timeout bounds the function; the gateway waits a little longer, up to its own 29 s.
	Timeout time.Duration
	// MemoryMB sizes the function, and its share of a CPU with it.
	MemoryMB int
	// Sampled operations are called so often that only a sample of their successes is logged; see
	// lambdahttp.EnvLogSample.
	Sampled bool
}

// Any is the method of an operation that takes every method.
const Any = "ANY"

// Authorizer is the function that turns a token into a principal. It is no operation: the gateway
// calls it before one.
const Authorizer = "authorizer"

// Docs is the function that serves the contract and the page that shows it. It is no operation either:
// anyone may GET its paths, without a token, so no contract has them, no limiter counts them and
// nothing of a tenant is there. A stack has it only if asked.
const Docs = "docs"

// DocsPaths are its paths.
var DocsPaths = []string{"/docs", "/docs/redoc.js", "/openapi.yaml"}

// What the functions that are no operations get. The authorizer may have to fetch an issuer's keys,
// for which it has two seconds; Cognito waits five seconds for a trigger.
const (
	HelperTimeout  = 5 * time.Second
	HelperMemoryMB = 256
)

// What most rows share.
const (
	timeout = 10 * time.Second
	memory  = 256
	// copilotTimeout leaves the gateway's own 29 s time to carry the answer.
	copilotTimeout = 28 * time.Second
)

// Roles that rows share.
var (
	owners    = []auth.Role{auth.PlatformOwner}
	engineers = []auth.Role{auth.ProductionEngineer, auth.OrganizationAdmin}
	readers   = []auth.Role{auth.PlatformOwner, auth.Member}
	anyone    = []auth.Role{auth.Anyone}
	auditors  = []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin}
)

func may(table dynamo.TableID, actions ...dynamo.Action) Grant {
	return Grant{Table: table, Actions: actions}
}

// list is the right to query a table and some of its indexes.
func list(table dynamo.TableID, indexes ...string) Grant {
	return Grant{Table: table, Actions: []dynamo.Action{dynamo.Query}, Indexes: indexes}
}

// listByIndex is the right to query some indexes of a table and not the table itself.
func listByIndex(table dynamo.TableID, indexes ...string) Grant {
	return Grant{Table: table, Actions: []dynamo.Action{dynamo.Query}, Indexes: indexes, OnlyIndexes: true}
}

// Table lists every operation.
var Table = counted([]Operation{
	{
		ID: "publish-release", Summary: "Publish a version to a release channel",
		Method: http.MethodPut, Path: "/api/ota/release-channels/{edgeType}/{channel}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Channels, dynamo.Get, dynamo.Put),
			may(dynamo.Releases, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-release-channel", Summary: "Read a release channel",
		Method: http.MethodGet, Path: "/api/ota/release-channels/{edgeType}/{channel}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.Channels, dynamo.Get)},
	},
	{
		ID: "start-rollout", Summary: "Start a staged rollout",
		Method: http.MethodPost, Path: "/api/ota/rollouts",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Channels, dynamo.Get, dynamo.Update),
			may(dynamo.Releases, dynamo.Get),
			may(dynamo.Rollouts, dynamo.Put),
			may(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "update-rollout", Summary: "Promote, halt or complete a rollout",
		Method: http.MethodPatch, Path: "/api/ota/rollouts/{id}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Rollouts, dynamo.Get, dynamo.Put),
			may(dynamo.Channels, dynamo.Get, dynamo.Update),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-rollout", Summary: "Read a rollout",
		Method: http.MethodGet, Path: "/api/ota/rollouts/{id}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.Rollouts, dynamo.Get)},
	},
	{
		ID: "put-factory", Summary: "Register a factory",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-factory", Summary: "Read a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.Factories, dynamo.Get)},
	},
	{
		ID: "create-production-method", Summary: "Create a production method",
		Method: http.MethodPost, Path: "/api/factories/{factoryId}/production-methods",
		Roles: engineers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Put),
			may(dynamo.Idempotency, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-production-method", Summary: "Read a production method",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods/{methodId}",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Recipes, dynamo.Get),
		},
	},
	{
		ID: "list-release-channels", Summary: "List release channels",
		Method: http.MethodGet, Path: "/api/ota/release-channels",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{list(dynamo.Channels, "all")},
	},
	{
		ID: "list-rollouts", Summary: "List rollouts, newest first",
		Method: http.MethodGet, Path: "/api/ota/rollouts",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{listByIndex(dynamo.Rollouts, "all", "byEdgeType", "byChannelName", "byChannel",
			"byStatus", "byEdgeTypeAndStatus", "byChannelNameAndStatus", "byChannelAndStatus")},
	},
	{
		ID: "list-factories", Summary: "List the factories of an organization",
		Method: http.MethodGet, Path: "/api/factories",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{listByIndex(dynamo.Factories, "byOrganization")},
	},
	{
		ID: "list-production-methods", Summary: "List the production methods of a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/production-methods",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Recipes, "byProduct"),
		},
	},
	{
		ID: "list-machines", Summary: "List the machines of a factory",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Machines),
		},
	},
	{
		ID: "put-machine", Summary: "Register a machine",
		Method: http.MethodPut, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: engineers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Machines, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-machine", Summary: "Read a machine",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/machines/{code}",
		Roles: readers, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			may(dynamo.Machines, dynamo.Get),
		},
	},
	{
		ID: "list-factory-audit-events", Summary: "List the changes in a factory, newest first",
		Method: http.MethodGet, Path: "/api/factories/{factoryId}/audit-events",
		Roles: auditors, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Factories, dynamo.Get),
			list(dynamo.Audit, "byResource", "byActor", "byResourceAndActor"),
		},
	},
	{
		ID: "list-audit-events", Summary: "List the changes on the platform, newest first",
		Method: http.MethodGet, Path: "/api/audit-events",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{list(dynamo.Audit, "byResource", "byActor", "byResourceAndActor")},
	},
	{
		ID: "put-edge", Summary: "Register a box or move it to another channel",
		Method: http.MethodPut, Path: "/api/edges/{edgeId}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.Edges, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-edge", Summary: "Read a box",
		Method: http.MethodGet, Path: "/api/edges/{edgeId}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.Edges, dynamo.Get)},
	},
	{
		ID: "list-edges", Summary: "List the boxes of a release channel or of an organization",
		Method: http.MethodGet, Path: "/api/edges",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{listByIndex(dynamo.Edges, "byChannel", "byOrganization")},
	},
	{
		ID: "get-manifest", Summary: "Poll for the release that a box is to run",
		Method: http.MethodGet, Path: "/api/edges/{edgeId}/update/manifest",
		Roles: []auth.Role{auth.Edge, auth.PlatformOwner}, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Sampled: true,
		Grants: []Grant{
			may(dynamo.Edges, dynamo.Get),
			may(dynamo.Channels, dynamo.Get),
		},
	},
	{
		ID: "put-rate-limit", Summary: "Arrange a fair-use limit for one user or organization",
		Method: http.MethodPut, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.RateOverrides, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-rate-limit", Summary: "Read what was arranged for one user or organization",
		Method: http.MethodGet, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.RateOverrides, dynamo.Get)},
	},
	{
		ID: "delete-rate-limit", Summary: "Return one user or organization to the default limits",
		Method: http.MethodDelete, Path: "/api/rate-limits/{kind}/{id}",
		Roles: owners, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{
			may(dynamo.RateOverrides, dynamo.Get, dynamo.Put),
			may(dynamo.Audit, dynamo.Put),
		},
	},
	{
		ID: "get-my-rate-limits", Summary: "Read one's own limits and what is left of them",
		Method: http.MethodGet, Path: "/api/rate-limits/me",
		Roles: anyone, Limit: Ordinary, Timeout: timeout, MemoryMB: memory,
		Grants: []Grant{may(dynamo.RateCounters, dynamo.Get)},
	},
	{
		ID: "copilot", Summary: "Ask the assistant",
		Method: Any, Path: "/api/copilot/{proxy+}",
		Roles: readers, Limit: Copilot, Timeout: copilotTimeout, MemoryMB: memory,
	},
})

// counted adds to every row what the fair-use limiter needs, since every call is counted.
func counted(rows []Operation) []Operation {
	for i, op := range rows {
		at := slices.IndexFunc(op.Grants, func(g Grant) bool { return g.Table == dynamo.RateCounters })
		if at < 0 {
			rows[i].Grants = append(op.Grants, may(dynamo.RateCounters, dynamo.Update))
		} else if g := &rows[i].Grants[at]; !slices.Contains(g.Actions, dynamo.Update) {
			g.Actions = append(g.Actions, dynamo.Update)
		}
	}
	return rows
}

// Get returns the row of an id. An unknown id is a slip in the code, found at start-up.
func Get(id string) Operation {
	for _, op := range Table {
		if op.ID == id {
			return op
		}
	}
	panic("operations: no operation " + id)
}

// Functions lists the name of every function of the service: the authorizer, the one that serves the
// contract, and each operation's.
func Functions() []string {
	names := []string{Authorizer, Docs}
	for _, op := range Table {
		names = append(names, op.ID)
	}
	return names
}

// Parameters lists the names of the path's parameters, in order.
func (op Operation) Parameters() []string {
	var names []string
	for _, segment := range strings.Split(op.Path, "/") {
		if strings.HasPrefix(segment, "{") {
			names = append(names, strings.TrimSuffix(strings.Trim(segment, "{}"), "+"))
		}
	}
	return names
}
