// Package samples has one sample of each operation: a call that succeeds, its caller, and the calls that must come
// first. The sample events, the end-to-end test of every operation, the counted calls and the random requests under
// faults are derived from it.
//
// Samples consist of templates. Values fill their placeholders, such as {edgeType}: those of the event files, new
// ones for each run, or random ones.
package samples

//go:generate go test -count=1 -run Events . -update

import (
	"net/http"
	"slices"
	"strings"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
)

// A Sample is a call of an operation. Path, query, body and caller are filled from values.
type Sample struct {
	Operation string
	By        Caller
	// After lists the calls that make this one's resources, in order. The calls that those need are implied.
	After []Step
	// Defaults are the values of placeholders that a run does not set.
	Defaults Values
	// Own are values that take precedence over those of a run.
	Own         Values
	Query, Body string
	Status      int // of the answer; 0: the only success of the row, or else the method's default, 201 for PUT and POST
	// Makes is the value to set from the last segment of the answer's Location.
	Makes string
	// Told is a member of the answer, and the value to set from it.
	Told [2]string
	// About is the resource that the call changes, reads or lists; empty if the audit trail has none.
	About About
	// Shows is JSON with the members of a read's answer; empty: those of the body that made its resource.
	Shows string

	// Cases are the calls with a counted cost; nil: the sample itself, named "new" for a PUT. If the operation accepts
	// an Idempotency-Key, a case with one is added.
	Cases []Case
	// Also are further calls for runs under faults, three of ten; nil: none.
	Also []Case
	// Weight is the frequency of the operation in runs under faults; 0: by the method, reads 2 and changes 6.
	Weight int
}

// A Case is a variation of a sample. Empty fields are those of the sample.
type Case struct {
	Name        string
	After       []Step // in addition to the sample's
	With        Values // for this call; they take precedence
	Query, Body string
	Header      [2]string // name and value
	Status      int
	// Each is the value that changes for every item of a list; the sample's After makes one item.
	Each string
}

// A Step is the call of a sample, with its own values for some placeholders.
type Step struct {
	Operation string
	With      Values
}

// After returns steps without their own values.
func After(operations ...string) []Step {
	var steps []Step
	for _, op := range operations {
		steps = append(steps, Step{Operation: op})
	}
	return steps
}

// An About is a type of resource in the audit trail, and a template of its id. The template's values are the path's
// parameters, or the fields of a list's item. The resource of a POST is the one that it made.
type About struct{ Type, ID string }

// Name fills the template of the id.
func (a About) Name(value func(name string) string) string {
	return placeholder.ReplaceAllStringFunc(a.ID, func(p string) string { return value(nameOf(p)) })
}

// A Caller is a user with a role in an organization, a box, or the code of an enrolment.
type Caller struct {
	User, Organization string
	Role               auth.Role
}

// Code is the code of an enrolment, which is sent as a token.
func (c Caller) Code() string { return string(boxtoken.Enrolment) + ":" + c.User }

// The callers of samples.
var (
	Owner    = Caller{"olga", "wavegate", auth.PlatformOwner}
	Engineer = Caller{"eric", "{organization}", auth.ProductionEngineer}
	Admin    = Caller{"anna", "{organization}", auth.OrganizationAdmin}
	Viewer   = Caller{"vera", "wavegate", auth.PlatformViewer}
	Watcher  = Caller{"fritz", "{organization}", auth.FleetViewer}
	Box      = Caller{"{edgeId}", "", auth.Edge}
)

// All are the samples of all operations.
var All = completed(slices.Concat(fleet, ddi, enrolments, production, access, trail, copilot))

// Of returns the sample of an operation. It panics if there is none.
func Of(operation string) Sample {
	i := slices.IndexFunc(All, func(s Sample) bool { return s.Operation == operation })
	if i < 0 {
		panic("samples: no sample of " + operation)
	}
	return All[i]
}

// completed fills in the fields that follow from the operation's row.
func completed(all []Sample) []Sample {
	for i := range all {
		s, op := &all[i], table.Get(all[i].Operation)
		if s.Cases == nil {
			s.Cases = []Case{{}}
		}
		status, weight := http.StatusOK, 2
		switch op.Method {
		case http.MethodPut, http.MethodPost:
			status, weight = http.StatusCreated, 6
		case http.MethodPatch:
			status, weight = http.StatusNoContent, 12
		case http.MethodDelete:
			status = http.StatusNoContent
		}
		if len(op.Gives) == 1 {
			status = op.Gives[0]
		}
		if s.Status == 0 {
			s.Status = status
		}
		if s.Weight == 0 {
			s.Weight = weight
		}
		if op.Method == http.MethodPut && s.Cases[0].Name == "" {
			s.Cases[0].Name = "new"
		}
		if idempotent(op) {
			s.Cases = append(s.Cases, Case{Name: idempotencyKey, Header: [2]string{idempotencyKey, "{key}"}})
		}
	}
	return all
}

const idempotencyKey = "Idempotency-Key"

// idempotent reports whether an operation takes an Idempotency-Key.
func idempotent(op operations.Operation) bool {
	return slices.ContainsFunc(op.Grants, func(g operations.Grant) bool { return g.Table == dynamo.Idempotency })
}

// Audited reports whether an operation changes something, and so writes audit events. Calls of DDI clients only
// change, sometimes, the gateway that makes them.
func Audited(op operations.Operation) bool {
	return op.RootPath() == "" && slices.ContainsFunc(op.Grants, func(g operations.Grant) bool {
		return g.Table == dynamo.Audit && slices.Contains(g.Actions, dynamo.Put)
	})
}

// Lists reports whether an operation answers with a list.
func Lists(operation string) bool { return strings.HasPrefix(operation, "list-") }

// page is a list's case: a full page of ten items, with at least one more item.
func page(each, query string) Case {
	return Case{Name: "10 of a page", Query: query, Each: each}
}

const pageItems = 11
