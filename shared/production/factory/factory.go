// Package factory stores factories. A factory has one owner, an organization, which decides who may read it.
package factory

import (
	"cmp"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// A Factory belongs to one organization, which never changes.
type Factory struct {
	FactoryID      string `json:"factoryId"`
	OrganizationID string `json:"organizationId"`
	Name           string `json:"name"`
	// MethodApproval says who may approve production methods. Empty means four-eyes.
	MethodApproval ApprovalPolicy `json:"methodApproval,omitempty"`
	// Updates say when the factory's boxes take updates; nil: always.
	Updates   *calendar.Updates `json:"updates,omitempty"`
	CreatedAt time.Time         `json:"createdAt"`
	UpdatedAt time.Time         `json:"updatedAt"`
	Revision  int64             `json:"revision"` // from 1

	changes  int64 // see Changes
	machines int64 // see Machines
	dynamo.Unknown
}

// A row is a factory as stored, with its number of changes of machines. Changes of the factory itself do not write it.
type row struct {
	Factory
	MachineChanges int64 `json:"machineChanges,omitempty"`
	MachineCount   int64 `json:"machineCount,omitempty"`
}

const changesField = "machineChanges"

// Changes is how often a machine of the factory was registered so far, or its classes, its box or its admissions have
// changed. It puts these changes and the decisions on production methods in an order, whatever the containers' clocks say:
// a decision with the number n comes after the n-th change and before the next one.
func (f Factory) Changes() int64 { return f.changes }

// Machines is how many machines the factory has.
func (f Factory) Machines() int64 { return f.machines }

// Unchanged is the condition that no machine of the factory has changed since it was read.
func (f Factory) Unchanged() dynamo.Condition {
	if f.changes == 0 {
		return dynamo.Absent(changesField)
	}
	return dynamo.Condition{Expr: "#" + changesField + " = :changes", Values: map[string]any{":changes": f.changes}}
}

// Counted is the write that counts one more change of a machine, and how many machines there are then.
func (f Factory) Counted(machines int64) dynamo.TransactItem {
	return dynamo.TransactUpdate("factory", dynamo.Factories, key(f.FactoryID), "SET #"+changesField+" = :next, #machineCount = :machines",
		map[string]any{":next": f.changes + 1, ":machines": machines}, f.Unchanged())
}

// Check is the condition on the factory that a decision depends on.
func (f Factory) Check(when dynamo.Condition) dynamo.TransactItem {
	return dynamo.TransactCheck("factory", dynamo.Factories, key(f.FactoryID), when)
}

// A Registration is a caller's input for a factory.
type Registration struct {
	OrganizationID, Name string
	MethodApproval       ApprovalPolicy           // empty keeps the present value
	Updates              *calendar.UpdatesRequest // nil keeps the present ones
	// Admin is the caller's organization if Restricted is set: the caller is no platform owner, and may only change the updates.
	Admin      string
	Restricted bool
}

// By completes a registration with who asks for it.
func (r Registration) By(caller auth.Principal) Registration {
	r.Restricted, r.Admin = !caller.Has(auth.PlatformOwner), caller.OrganizationID
	return r
}

// mayKnow returns NOT_FOUND unless the caller may know of a factory. Nobody without an organization does.
func (r Registration) mayKnow(f Factory) error {
	if !r.Restricted || f.Revision > 0 && r.Admin != "" && f.OrganizationID == r.Admin {
		return nil
	}
	return problem.Missing()
}

// An ApprovalPolicy says who may approve production methods in a factory. Only the platform owner sets
// it, so that nobody can relax a rule that applies to them.
type ApprovalPolicy string

// Approval policies.
const (
	FourEyes ApprovalPolicy = "four-eyes" // a person who neither saved nor submitted the version
	Single   ApprovalPolicy = "single"    // any engineer
)

// approvalRule is the rule for an ApprovalPolicy.
var approvalRule = &input.Text{Pattern: string(FourEyes) + "|" + string(Single), Says: "four-eyes or single"}

// RegistrationOf reads a factory.
func RegistrationOf(body *input.Object) Registration {
	r := Registration{OrganizationID: body.Text("organizationId", input.Name), Name: body.Text("name", input.DisplayName)}
	approval, _ := body.OptionalText("methodApproval", approvalRule)
	r.MethodApproval = ApprovalPolicy(approval)
	body.OptionalObject("updates", func(o *input.Object) { r.Updates = new(calendar.ReadUpdates(o, audit.ReasonRule)) })
	return r
}

// register decides the result of a registration: the factory's next state and the name of the event. The event is empty
// if nothing changes. An organization other than the factory's is CONFLICT. An organization's admin gets NOT_FOUND for any
// other factory, and FORBIDDEN for any change but that of the updates.
func (f Factory) register(id string, r Registration, at time.Time) (next Factory, event string, err error) {
	next = f
	next.FactoryID, next.OrganizationID, next.Name = id, r.OrganizationID, r.Name
	next.MethodApproval = cmp.Or(r.MethodApproval, f.MethodApproval)
	next.UpdatedAt, next.Revision = at, f.Revision+1
	if err := r.mayKnow(f); err != nil {
		return f, "", err
	}
	if r.Updates != nil {
		if next.Updates, err = f.Updates.With(*r.Updates, at); err != nil {
			return f, "", err
		}
	}
	switch {
	case f.Revision == 0:
		next.CreatedAt = at
		return next, "FactoryRegistered", nil
	case r.Restricted && (f.OrganizationID != r.OrganizationID || f.Name != r.Name || f.MethodApproval != next.MethodApproval):
		return f, "", problem.New(problem.Forbidden, "An organization's admin may only change updates; send the other values as they are.")
	case f.OrganizationID != r.OrganizationID:
		return f, "", problem.New(problem.Conflict, "The factory belongs to another organization, and a factory never changes its organization.")
	}
	switch {
	case f.Name != r.Name:
		return next, "FactoryRenamed", nil
	case f.MethodApproval != next.MethodApproval:
		return next, "FactoryMethodApprovalChanged", nil
	case !dynamo.Same(f.Updates, next.Updates):
		return next, "FactoryUpdatesChanged", nil
	}
	return f, "", nil
}
