package method

import (
	"context"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// OnMachineResourceType is the type of what machines say about methods in the audit trail. The id
// is the code of the machine, a slash, and the id of the method.
const OnMachineResourceType = "method-on-machine"

// onMachineItem is an OnMachine as stored, with the limiter's name for the box that reported.
type onMachineItem struct {
	OnMachine
	Subject string `json:"subject"`
}

func onMachineKind(organization, subject string) change.Kind[OnMachine] {
	return change.Kind[OnMachine]{
		Type: OnMachineResourceType, Table: dynamo.MethodReports, Key: "machine",
		State: func(m OnMachine) change.Stamp {
			return change.Stamp{ID: m.Machine + "/" + m.MethodID, Revision: m.Revision, ChangedAt: m.UpdatedAt,
				Stream: audit.Factory(m.FactoryID), Organization: organization}
		},
		Item: func(m OnMachine) any { return onMachineItem{m, subject} },
	}
}

// Report stores what a machine's box says about a version, and reports whether it is the machine's first report on the
// method. subject is the limiter's name for the box. It returns VERSION_WITHDRAWN if the machine has a withdrawn
// version; the report is stored then, too. It returns NOT_FOUND if the machine does not name the box, or the box is not
// of the organization.
func (s *Store) Report(ctx context.Context, caller auth.Principal, from audit.Origin, factoryID, code, methodID, subject string, r Report) (created bool, err error) {
	ref := Ref{factoryID, methodID, r.Version}
	var recall error
	err = change.Make(ctx, s.db, from, func(set *change.Set) error {
		var owner factory.Factory
		var on machine.Machine
		var v Version
		var was OnMachine
		var box registration
		err := dynamo.Together(ctx,
			s.into(dynamo.Factories, dynamo.Key{"factoryId": factoryID}, &owner),
			s.into(dynamo.Machines, dynamo.Key{"factoryId": factoryID, "code": code}, &on),
			s.into(dynamo.Edges, dynamo.Key{"edgeId": caller.UserID}, &box),
			s.into(dynamo.MethodReports, dynamo.Key{"methodId": methodID, "machine": code}, &was),
			func(ctx context.Context) (err error) { v, err = s.lookup(ctx, ref); return err })
		if err != nil {
			return err
		}
		speaks := on.Revision > 0 && on.EdgeID == caller.UserID && box.OrganizationID == owner.OrganizationID &&
			s.speaks(box.Issuer, caller.Issuer)
		if owner.Revision == 0 || !speaks || v.FactoryID != factoryID {
			return problem.Missing()
		}
		next, event, err := was.reported(r, v, caller.UserID, set.After(was.UpdatedAt))
		if err != nil {
			return err
		}
		created, recall = was.Revision == 0, v.recalls(r.State)
		if event == "" {
			return nil
		}
		next.Machine = code
		set.With(
			dynamo.TransactCheck("version", dynamo.MethodVersions, ref.key(), dynamo.AtRevision("number", v.Revision)),
			dynamo.TransactCheck("machine", dynamo.Machines, dynamo.Key{"factoryId": factoryID, "code": code}, dynamo.AtRevision("code", on.Revision)),
			dynamo.TransactCheck("box", dynamo.Edges, dynamo.Key{"edgeId": caller.UserID}, dynamo.AtRevision("edgeId", box.Revision)))
		change.Record(set, onMachineKind(owner.OrganizationID, subject), was, next, event)
		return nil
	})
	if err == nil {
		err = recall
	}
	return created, err
}

// A registration is the part of a box's row that says who it speaks for; see package edge.
type registration struct {
	OrganizationID string `json:"organizationId"`
	FactoryID      string `json:"factoryId"`
	Issuer         string `json:"issuer"`
	Revision       int64  `json:"revision"`
}

func (s *Store) into(table dynamo.TableID, key dynamo.Key, out any) func(context.Context) error {
	return func(ctx context.Context) error { _, err := s.db.Get(ctx, table, key, out); return err }
}

// Reached is a machine that a version concerns: a step of the version is for it, or it has reported on the version.
type Reached struct {
	Machine string `json:"machine"`
	Name    string `json:"name"`
	// EdgeID is the machine's box. Without one, a person has to go to the machine.
	EdgeID string `json:"edgeId,omitempty"`
	// State and the fields below are missing until the machine has reported.
	State         Doing      `json:"state,omitempty"`
	ContentSHA256 string     `json:"contentSha256,omitempty"`
	Since         *time.Time `json:"since,omitempty"`
	Order         string     `json:"order,omitempty"`
	Detail        string     `json:"detail,omitempty"`
	// Told is what the box was told to do with orders after the withdrawal.
	Told   Orders     `json:"told,omitempty"`
	ToldAt *time.Time `json:"toldAt,omitempty"`
	// Clear reports whether the machine's last report says that it does not have the version.
	Clear bool `json:"clear"`
	// LastHeardAt is when the box made its last call, to half a second; nil if unknown.
	LastHeardAt *time.Time `json:"lastHeardAt,omitempty"`
	subject     string
}

// LastCall returns when a subject of the limiter made its last call; zero means unknown.
type LastCall func(ctx context.Context, subject string) (time.Time, error)

// Machines lists the machines that a version concerns, in the order of their codes; with onlyNotClear, only those that
// have not confirmed that they do not have it. It returns NOT_FOUND for a version outside the factories that the caller
// may read. It reads all machines of the factory.
func (s *Store) Machines(ctx context.Context, caller auth.Principal, r Ref, onlyNotClear bool, seen LastCall, w dynamo.Span) (page dynamo.Page[Reached], err error) {
	v, err := factory.ReadInParallel(ctx, s.factories, caller, r.FactoryID, func(ctx context.Context) (Version, error) { return s.lookup(ctx, r) })
	if err != nil {
		return page, err
	}
	if v.Revision == 0 || v.FactoryID != r.FactoryID {
		return page, problem.Missing()
	}
	all, err := s.reachedBy(ctx, v)
	if err != nil {
		return page, err
	}
	all = slices.DeleteFunc(all, func(m Reached) bool {
		return onlyNotClear && m.Clear || w.After != "" && strings.Compare(m.Machine, w.After) <= 0
	})
	page.Items = all[min(w.Skip, len(all)):]
	if len(page.Items) > w.Limit {
		page.Items, page.More = page.Items[:w.Limit], true
		page.Last = page.Items[w.Limit-1].Machine
	}
	return page, heard(ctx, page.Items, seen)
}

// reachedBy reads the machines of a version's factory, and what they said about its method.
func (s *Store) reachedBy(ctx context.Context, v Version) ([]Reached, error) {
	said, park := map[string]onMachineItem{}, []machine.Machine{}
	err := dynamo.Together(ctx,
		func(ctx context.Context) error {
			return dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.MethodReports, Partition: v.MethodID}, nil, 0, func(m onMachineItem) error {
				said[m.Machine] = m
				return nil
			})
		},
		func(ctx context.Context) error {
			return dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.Machines, Partition: v.FactoryID}, nil, 0, func(m machine.Machine) error {
				park = append(park, m)
				return nil
			})
		})
	return reached(v, park, said), err
}

// reached lists the machines that a version concerns, in the order of the machines.
func reached(v Version, park []machine.Machine, said map[string]onMachineItem) []Reached {
	var all []Reached
	for _, m := range park {
		x := Reached{Machine: m.Code, Name: m.Name, EdgeID: m.EdgeID, subject: said[m.Code].Subject}
		s, spoke := said[m.Code].about(v.Version)
		if !spoke && !v.Equipment.Concerns(m) {
			continue
		}
		if spoke {
			x.State, x.ContentSHA256, x.Since, x.Order, x.Detail, x.Told, x.ToldAt = s.State, s.ContentSHA256, &s.Since, s.Order, s.Detail, s.Told, s.ToldAt
			x.Clear = !s.State.has()
		}
		all = append(all, x)
	}
	return all
}

// heard adds when the boxes were last heard from.
func heard(ctx context.Context, page []Reached, seen LastCall) error {
	var reads []func(context.Context) error
	for i := range page {
		if page[i].subject == "" {
			continue
		}
		reads = append(reads, func(ctx context.Context) error {
			at, err := seen(ctx, page[i].subject)
			if err == nil && !at.IsZero() {
				page[i].LastHeardAt = &at
			}
			return err
		})
	}
	return dynamo.Together(ctx, reads...)
}
