// Package operations is the table of all operations. The functions, the stack, the local gateway
// and the contract test all read this one table. Each subject has its rows in one file.
package operations

import (
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// A Grant is the permission for some actions on one table.
type Grant struct {
	Table   dynamo.TableID
	Actions []dynamo.Permission
	// Indexes are the indexes that may be queried. The table itself may be queried if Actions
	// contains Query and OnlyIndexes is not set.
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
	// Roles are the roles that may call; any one is enough. auth.Member means any person of an
	// organization.
	Roles []auth.Role
	// Limit is the class that a call counts as.
	Limit ratelimit.Class
	// Takes is what the operation takes: every parameter and every field of its body, with its rule.
	Takes input.Takes
	// Gives are the statuses of its successes.
	Gives []int
	// Refuses are the codes of its own refusals; see Problems for all.
	Refuses []problem.Code
	// Grants are the tables that the function reads and writes.
	Grants []Grant
	// Settings are the settings that the function reads.
	Settings []setting.Name
	// Timeout bounds the function. The gateway waits a little longer, up to its own maximum of
	// 29 s.
	Timeout time.Duration
	// MemoryMB is the function's memory, which also decides its share of a CPU.
	MemoryMB int
	// Sampled operations have so many calls that only a sample of their successes is logged; see
	// setting.LogSamplePolls.
	Sampled bool
}

// Controller is the path parameter that names the box that a gateway calls for.
const Controller = "controllerId"

// Any is the method of an operation that accepts every method.
const Any = "ANY"

// Authorizer is the function that turns a token into a principal. It is not an operation: the
// gateway calls it before one.
const Authorizer = "authorizer"

// Docs is the function that serves the contract and a page that shows it. It is not an
// operation. Anyone may GET its paths without a token, so they are in no contract, no limiter
// counts them, and they contain no data of a tenant. A stack has this function only on request.
const Docs = "docs"

// DocsPaths are its paths.
var DocsPaths = []string{"/docs", "/docs/page.js", "/docs/redoc.js", "/openapi.yaml"}

// Bell is the function that tells boxes that something has changed, and nothing else. It is not an operation: it has
// its own URL, asks for no token, and may only read BellGrants. A stack has it only on request.
const Bell = "get-bell"

// BellGrants are the permissions of Bell.
var BellGrants = []Grant{may(dynamo.Channels, dynamo.Get), may(dynamo.Bells, dynamo.Get)}

// BellSettings are the settings of Bell.
var BellSettings = append(bell.KeySettings[:len(bell.KeySettings):len(bell.KeySettings)], edge.BellSettings...)

// Console is the function that serves the operator's page. It is not an operation: the page is open to anyone and
// contains no data. It calls the operations with the token of the person who signs in. A stack has it only on request.
const Console = "console"

// ConsolePath is the page's path. The other paths are its files, below a version that changes with them.
const ConsolePath = "/console"

// ConsolePaths are its paths.
var ConsolePaths = []string{ConsolePath, "/console/{version}/{file}"}

// LoginPath is the path of a public JSON object that says how people sign in. Its members are issuer,
// authorizationEndpoint, tokenEndpoint, clientId and scope. The gateway answers it without a function.
const LoginPath = "/console/config.json"

// These size the functions that are not operations. The authorizer may have to fetch an issuer's
// keys, for which it has two seconds. Cognito waits five seconds for a trigger.
const (
	HelperTimeout  = 5 * time.Second
	HelperMemoryMB = 256
)

// These are the same in most rows.
const (
	timeout = 10 * time.Second
	memory  = 256
	// copilotTimeout leaves time to send the answer before the gateway's own timeout of 29 s.
	copilotTimeout = 28 * time.Second
)

// Roles that rows share.
var (
	owners     = []auth.Role{auth.PlatformOwner}
	releasers  = []auth.Role{auth.PlatformOwner, auth.Program}
	engineers  = []auth.Role{auth.ProductionEngineer, auth.OrganizationAdmin}
	readers    = []auth.Role{auth.PlatformOwner, auth.Member}
	viewers    = []auth.Role{auth.PlatformOwner, auth.FleetViewer}
	anyone     = []auth.Role{auth.Anyone}
	installers = []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin, auth.FleetInstaller}
	keepers    = []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin}
	codes      = []auth.Role{auth.Enrolment}
	auditors   = []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin}
)

func may(table dynamo.TableID, actions ...dynamo.Permission) Grant {
	return Grant{Table: table, Actions: actions}
}

// list is the permission to query a table and some of its indexes.
func list(table dynamo.TableID, indexes ...string) Grant {
	return Grant{Table: table, Actions: []dynamo.Permission{dynamo.Query}, Indexes: indexes}
}

// listByIndex is the permission to query some indexes of a table, but not the table itself.
func listByIndex(table dynamo.TableID, indexes ...string) Grant {
	return Grant{Table: table, Actions: []dynamo.Permission{dynamo.Query}, Indexes: indexes, OnlyIndexes: true}
}

// Table lists every operation.
var Table = limited(slices.Concat(fleetRows, guardRows, ddiRows, enrolmentRows, progressRows, productionRows, accessRows, trailRows, copilotRows))

// limited adds to every row what the fair-use limiter needs, because it counts every call, and
// the setting of the origins that may read answers.
func limited(rows []Operation) []Operation {
	for i, op := range rows {
		rows[i].Settings = slices.Concat(op.Settings, setting.Limits, []setting.Name{setting.CORSOrigins})
		at := slices.IndexFunc(op.Grants, func(g Grant) bool { return g.Table == dynamo.RateCounters })
		if at < 0 {
			rows[i].Grants = append(op.Grants, may(dynamo.RateCounters, dynamo.Update))
		} else if g := &rows[i].Grants[at]; !slices.Contains(g.Actions, dynamo.Update) {
			g.Actions = append(g.Actions, dynamo.Update)
		}
	}
	return rows
}

// A Task is a function that runs on a schedule. Its row has no method, path, roles or limit.
type Task struct {
	Operation
	Every time.Duration
}

// Tick is the function that counts the active rollouts and has the guard judge those with a policy.
const Tick = "tick"

// Tasks lists every task.
var Tasks = []Task{{
	Operation: Operation{
		ID: Tick, Summary: "Count the boxes of the active rollouts and have the guard judge them", Timeout: time.Minute, MemoryMB: censusMemory,
		Settings: progressSettings,
		Grants:   tick(),
	},
	Every: time.Minute,
}}

// censusMemory gives a function a whole CPU, because a census decodes every row that it counts.
const censusMemory = 1769

// progressSettings are the settings of census.ReadSettings.
var progressSettings = census.SettingNames

// counting is what counting a rollout needs.
func counting() []Grant {
	reports := listByIndex(dynamo.Reports, "byState")
	reports.Actions = append(reports.Actions, dynamo.Get)
	return []Grant{
		reports,
		may(dynamo.Rollouts, dynamo.Get), may(dynamo.Channels, dynamo.Get),
		may(dynamo.Progress, dynamo.Get, dynamo.Write), may(dynamo.RateCounters, dynamo.Get),
	}
}

// tick is what a tick needs: a census, the changes to a rollout, and the recalls with their machines.
func tick() []Grant {
	others := []dynamo.TableID{dynamo.Rollouts, dynamo.Channels, dynamo.Progress}
	return append(slices.DeleteFunc(counting(), func(g Grant) bool { return slices.Contains(others, g.Table) }),
		may(dynamo.Progress, dynamo.Get, dynamo.Write, dynamo.Query, dynamo.Delete),
		may(dynamo.MethodVersions, dynamo.Get), list(dynamo.MethodReports), list(dynamo.Machines),
		Grant{Table: dynamo.Rollouts, Actions: []dynamo.Permission{dynamo.Get, dynamo.Write, dynamo.Query}, Indexes: []string{"byStatus"}, OnlyIndexes: true},
		may(dynamo.Channels, dynamo.Get, dynamo.Write),
		may(dynamo.Releases, dynamo.Get),
		may(dynamo.Audit, dynamo.Put))
}

// Get returns the row of an id. An unknown id is a mistake in the code, which shows at start-up.
func Get(id string) Operation {
	for _, op := range Table {
		if op.ID == id {
			return op
		}
	}
	panic("operations: no operation " + id)
}

// TaskOf returns the row of a task. An unknown id is a mistake in the code, which shows at
// start-up.
func TaskOf(id string) Task {
	for _, task := range Tasks {
		if task.ID == id {
			return task
		}
	}
	panic("operations: no task " + id)
}

// Functions lists the names of all functions: the authorizer, Docs, Console, Bell, the tasks and the
// operations.
func Functions() []string {
	names := []string{Authorizer, Docs, Console, Bell}
	for _, task := range Tasks {
		names = append(names, task.ID)
	}
	for _, op := range Table {
		names = append(names, op.ID)
	}
	return names
}

// VersionAttribute is the attribute of the smoke test's custom resource that names the version of a function.
func VersionAttribute(function string) string { return strings.ReplaceAll(function, "-", "") }

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
