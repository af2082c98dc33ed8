// Package operations is the table of all operations. The functions, the stack, the local gateway
// and the contract test all read this one table. Each subject has its rows in one file.
package operations

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
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
	// Takes is what the operation takes: every parameter and every field of its body, with its rule. New takes most of
	// it from the function that reads the operation's requests.
	Takes input.Takes
	// Reads finds the faults of a request; New sets it.
	Reads func(*input.Reader)
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
	// Tells is set if a success may change what boxes are told. It is answered once that holds; see function.Settled.
	Tells bool
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
var BellGrants = []Grant{May(dynamo.Channels, dynamo.Get), May(dynamo.Bells, dynamo.Get)}

// Door is the function of a second way to the calls of boxes, at its own URL: without API Gateway, for boxes with a token of
// their own. It is not an operation. A stack has it only on request. Package door says which calls it takes.
const Door = "door"

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

// New gives these to a row that does not say otherwise.
const (
	timeout = 10 * time.Second
	memory  = 256
)

// Roles that rows share. Watchers see the boxes of their organization, or all.
var (
	Owners     = []auth.Role{auth.PlatformOwner}
	Releasers  = []auth.Role{auth.PlatformOwner, auth.Program}
	Engineers  = []auth.Role{auth.ProductionEngineer, auth.OrganizationAdmin}
	Readers    = []auth.Role{auth.PlatformOwner, auth.Member}
	Viewers    = []auth.Role{auth.PlatformOwner, auth.PlatformViewer}
	Watchers   = []auth.Role{auth.PlatformOwner, auth.PlatformViewer, auth.OrganizationAdmin, auth.FleetViewer}
	Anyone     = []auth.Role{auth.Anyone}
	Installers = []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin, auth.FleetInstaller}
	Keepers    = []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin}
	Codes      = []auth.Role{auth.Enrolment}
	Auditors   = []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin}
)

// May is the permission for some actions on a table.
func May(table dynamo.TableID, actions ...dynamo.Permission) Grant {
	return Grant{Table: table, Actions: actions}
}

// List is the permission to query a table and some of its indexes.
func List(table dynamo.TableID, indexes ...string) Grant {
	return Grant{Table: table, Actions: []dynamo.Permission{dynamo.Query}, Indexes: indexes}
}

// ListByIndex is the permission to query some indexes of a table, but not the table itself.
func ListByIndex(table dynamo.TableID, indexes ...string) Grant {
	return Grant{Table: table, Actions: []dynamo.Permission{dynamo.Query}, Indexes: indexes, OnlyIndexes: true}
}

// A Row is an operation, and how its requests are read: as a T. Rows are made by functions, so that the binary of an
// operation links what its own requests need, and not that of all operations of its package.
type Row[T any] struct {
	Operation
	Read func(*input.Reader) T
}

// Nothing reads a request of an operation without parameters and body.
func Nothing(*input.Reader) struct{} { return struct{}{} }

// New completes a row: what it does not say is what most rows have. It adds what the fair-use limiter needs, because it
// counts every call, and the setting of the origins that may read answers. The row takes what read asks for.
func New[T any](op Operation, read func(*input.Reader) T) Row[T] {
	op.Reads = func(in *input.Reader) { read(in) }
	op.Takes = op.Takes.Declare(op.Reads)
	op.Limit, op.Timeout, op.MemoryMB = cmp.Or(op.Limit, ratelimit.Ordinary), cmp.Or(op.Timeout, timeout), cmp.Or(op.MemoryMB, memory)
	if op.Tells {
		op.Settings = append(slices.Clone(op.Settings), setting.SettleSeconds)
		op.Timeout += time.Duration(setting.Ranges[setting.SettleSeconds].Most) * time.Second
	}
	op.Settings = slices.Concat(op.Settings, setting.Limits, []setting.Name{setting.CORSOrigins})
	op.Grants = slices.Clone(op.Grants)
	at := slices.IndexFunc(op.Grants, func(g Grant) bool { return g.Table == dynamo.RateCounters })
	if at < 0 {
		op.Grants = append(op.Grants, May(dynamo.RateCounters, dynamo.Update))
	} else if g := &op.Grants[at]; !slices.Contains(g.Actions, dynamo.Update) {
		g.Actions = append(slices.Clone(g.Actions), dynamo.Update)
	}
	return Row[T]{op, read}
}

// Check reads the settings that the rules of a request depend on, so that one that is not valid shows at the start.
func (r Row[T]) Check(settings *setting.Values) {
	r.Takes.Declare(func(in *input.Reader) {
		in.Settings = settings
		r.Reads(in)
	})
}

// A Task is a function that runs on a schedule. Its row has no method, path, roles or limit.
type Task struct {
	Operation
	Every time.Duration
}

// Tick is the function that counts the active rollouts and has the guard judge those with a policy.
const Tick = "tick"

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

// ddiPath is what the paths of hawkBit's DDI begin with.
const ddiPath = "/api/ddi"

// RootPath is the second path of a hawkBit DDI operation, for clients that accept no path in the server's URL. A stack
// has it only on request. It is empty for other operations.
func (op Operation) RootPath() string {
	if path, ok := strings.CutPrefix(op.Path, ddiPath); ok {
		return path
	}
	return ""
}
