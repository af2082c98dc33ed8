package method

import (
	"cmp"
	"context"
	"slices"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/chain"
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
		var m Method
		var was OnMachine
		var box registration
		err := dynamo.Together(ctx,
			s.into(dynamo.Factories, dynamo.Key{"factoryId": factoryID}, &owner),
			s.into(dynamo.Machines, dynamo.Key{"factoryId": factoryID, "code": code}, &on),
			s.into(dynamo.Edges, dynamo.Key{"edgeId": caller.UserID}, &box),
			s.into(dynamo.MethodReports, dynamo.Key{"methodId": methodID, "machine": code}, &was),
			s.into(dynamo.Methods, key(factoryID, methodID), &m),
			func(ctx context.Context) (err error) { v, err = s.lookup(ctx, ref); return err })
		if err != nil {
			return err
		}
		speaks := on.Revision > 0 && on.EdgeID == caller.UserID && box.OrganizationID == owner.OrganizationID && box.FactoryID == factoryID &&
			s.speaks(box.Issuer, caller.Issuer)
		if owner.Revision == 0 || !speaks || v.FactoryID != factoryID {
			return problem.Missing()
		}
		if err := admission.Share(ctx, owner.OrganizationID); err != nil {
			return err
		}
		at := set.After(was.UpdatedAt)
		next, event, err := was.reported(r, v, m.has(on, r, at), caller.UserID, at)
		if err != nil {
			return err
		}
		if created, recall = was.Revision == 0, v.contradicts(r); recall == nil {
			recall = v.recalls(r.State)
		}
		if event == "" {
			return nil
		}
		next.Machine = code
		set.With(append(conditionsOn(known{code: on}, factoryID, []string{code}),
			dynamo.TransactCheck("version", dynamo.MethodVersions, ref.key(), dynamo.AtRevision("number", v.Revision)),
			dynamo.TransactCheck("box", dynamo.Edges, dynamo.Key{"edgeId": caller.UserID}, dynamo.AtRevision("edgeId", box.Revision)))...)
		if r.State.has() && !v.Equipment.named(on, 0, maxNumber) {
			set.With(placed(machinePlace(factoryID, code), methodID))
		}
		if m.reopens(v, on, was, next) {
			watch, err := s.reopened(ctx, v, owner.OrganizationID, at)
			if err != nil {
				return err
			}
			set.With(watch)
		}
		return recordReport(set, from, onMachineKind(owner.OrganizationID, subject), was, next, event)
	})
	if err == nil {
		err = recall
	}
	return created, err
}

// has reports whether a machine may have a version: it holds there, or follows and was loaded in advance.
func (m Method) has(x machine.Machine, r Report, at time.Time) bool {
	if d, holds := m.Effectivity.At(x.Code, at); holds && d.Version == r.Version && m.covers(x, d) {
		return true
	}
	next, follows := m.Effectivity.Next(x.Code, at)
	return r.State == Loaded && follows && next.Version == r.Version && m.covers(x, next)
}

// recordReport adds a report to a set, as the next link of the machine's own chain. The caller's address is not in the
// link. What people have confirmed is, with salts.
func recordReport(set *change.Set, from audit.Origin, k change.Kind[OnMachine], was, next OnMachine, event string) error {
	stamp := k.State(next)
	link := chain.Entry{
		EventName: event, EventTime: stamp.ChangedAt, Actor: from.Actor, RequestID: from.RequestID, Reason: from.Reason,
		Resource: audit.Resource{Type: k.Type, ID: stamp.ID, Revision: stamp.Revision}, After: next,
	}
	var err error
	if len(next.Confirmed) > 0 {
		if link, err = link.Salted(); err != nil {
			return err
		}
	}
	if next.TrailSHA256, err = chain.NextReport(was.TrailSHA256, link); err != nil {
		return err
	}
	change.RecordSalted(set, k, was, next, event, link.Salts)
	return nil
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
	// Clear reports whether the machine's last report, or a person, says that it does not have the version.
	Clear bool `json:"clear"`
	// WithoutBox is set if the machine has no box that could report for it: none, or one that was retired, has no token any
	// more or is in another factory. Somebody has to go there.
	WithoutBox bool `json:"withoutBox,omitempty"`
	// Orders are the orders that run with the version, if the machine named them; OrdersUnlisted is set if more run.
	Orders         []RunningOrder `json:"orders,omitempty"`
	OrdersUnlisted bool           `json:"ordersUnlisted,omitempty"`
	// Deviates is how the machine deviates from what holds.
	Deviates *Deviation `json:"deviates,omitempty"`
	// Confirmed is a person's word that the machine does not have the version.
	Confirmed *Confirmation `json:"confirmed,omitempty"`
	// Scrapped is a person's word that the machine is gone; see gone.
	Scrapped *machine.Scrapping `json:"scrapped,omitempty"`
	// Waits is set if the machine could not have the version yet: it waits for a signature.
	Waits bool `json:"waits,omitempty"`
	// LastHeardAt is when the box made its last call, to half a second; nil if unknown.
	LastHeardAt *time.Time `json:"lastHeardAt,omitempty"`
	// RecordSHA256 is the hash of all that is stored of what was said about the machine and the method; see chain.Digest.
	RecordSHA256 string `json:"recordSha256,omitempty"`
	record       onMachineItem
}

// LastCall returns when a subject of the limiter made its last call; zero means unknown.
type LastCall func(ctx context.Context, subject string) (time.Time, error)

// Machines lists the machines that a version concerns, in the order of their codes; with onlyNotClear, only those that
// have not confirmed that they do not have it. It returns NOT_FOUND for a version outside the factories that the caller
// may read. A page looks at as many machines as it needs; see dynamo.Search.
func (s *Store) Machines(ctx context.Context, caller auth.Principal, r Ref, onlyNotClear bool, seen LastCall, w dynamo.Span) (page dynamo.Page[Reached], err error) {
	var v Version
	var m Method
	var versions []Version
	_, err = factory.ReadInParallel(ctx, s.factories, caller, r.FactoryID, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, dynamo.Together(ctx,
			func(ctx context.Context) (err error) { v, err = s.lookup(ctx, r); return err },
			func(ctx context.Context) (err error) { m, err = s.find(ctx, r.FactoryID, r.MethodID); return err },
			func(ctx context.Context) (err error) { versions, err = s.versions(ctx, r.MethodID); return err })
	})
	if err != nil {
		return page, err
	}
	if v.Revision == 0 || v.FactoryID != r.FactoryID {
		return page, problem.Missing()
	}
	search := dynamo.NewSearch[Reached](s.db, w, dynamo.MostLooked)
	of := dynamo.Selection{Table: dynamo.Machines, Partition: r.FactoryID}
	_, err = dynamo.Look(ctx, search, of, w.After, 0, "", false, func(ctx context.Context, some []machine.Machine) ([]*Reached, error) {
		shown := make([]*Reached, len(some))
		if len(some) == 0 {
			return shown, nil
		}
		said, err := s.saidBy(ctx, r.MethodID, some[0].Code, some[len(some)-1].Code)
		next := 0
		for _, one := range m.reached(v, survey{versions: versions, park: some, said: said}, s.db.Now()) {
			for some[next].Code != one.Machine {
				next++
			}
			if !onlyNotClear || !one.Clear {
				shown[next] = &one
			}
		}
		return shown, err
	})
	if page = search.Page(); err == nil {
		err = s.addBoxes(ctx, r.FactoryID, page.Items, seen)
	}
	return page, err
}

// addBoxes adds to a page what the boxes of its machines say.
func (s *Store) addBoxes(ctx context.Context, factoryID string, page []Reached, seen LastCall) error {
	boxes, err := s.boxesOf(ctx, page)
	if err == nil {
		err = heard(ctx, factoryID, page, boxes, seen)
	}
	if err != nil {
		return err
	}
	withoutBox(factoryID, page, boxes)
	for i, x := range page {
		if x.record.Revision == 0 {
			continue
		}
		if page[i].RecordSHA256, err = chain.Digest(x.record.OnMachine); err != nil {
			return err
		}
	}
	return nil
}

// reachedBy lists the machines that a version concerns, and those that wait for it, in the order of their codes. It reads all
// machines of the factory.
func (s *Store) reachedBy(ctx context.Context, v Version) ([]Reached, error) {
	var seen survey
	var m Method
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			seen, err = s.survey(ctx, Ref{v.FactoryID, v.MethodID, 0})
			return err
		},
		func(ctx context.Context) (err error) { m, err = s.find(ctx, v.FactoryID, v.MethodID); return err })
	if err != nil {
		return nil, err
	}
	return m.reached(v, seen, s.db.Now()), nil
}

// reached lists the machines that a version concerns: those that could have it at some moment, and those that have
// reported on it.
func (m Method) reached(v Version, seen survey, now time.Time) []Reached {
	codes := map[string]bool{}
	for _, code := range couldHave(v, seen.versions, seen.park, now) {
		codes[code] = true
	}
	var all []Reached
	for _, one := range seen.park {
		x := Reached{Machine: one.Code, Name: one.Name, EdgeID: one.EdgeID, record: seen.said[one.Code]}
		switch spoke := x.says(seen.said[one.Code].OnMachine, v.Version); {
		case spoke, codes[one.Code]:
		case m.waits(one, v.Version, now):
			x.Waits, x.Clear = true, true
		default:
			continue
		}
		x.Scrapped = one.Scrapped
		x.Clear = x.Clear || x.gone()
		all = append(all, x)
	}
	return all
}

// gone reports whether the machine is scrapped and has not said since then that it has the version.
func (x Reached) gone() bool {
	if x.Scrapped == nil {
		return false
	}
	since := func(at time.Time) bool { return at.After(x.Scrapped.At) }
	return !(x.State.has() && since(*cmp.Or(x.Since, &time.Time{})) || x.Deviates != nil && x.Deviates.State.has() && since(x.Deviates.Since) ||
		slices.ContainsFunc(x.Orders, func(o RunningOrder) bool { return since(o.Since) }))
}

// says shows what was said about a version, and reports whether anything was.
func (x *Reached) says(m OnMachine, version int64) bool {
	s, spoke := m.about(version)
	if spoke {
		x.State, x.ContentSHA256, x.Order, x.Detail, x.Told, x.ToldAt = s.State, s.ContentSHA256, s.Order, s.Detail, s.Told, s.ToldAt
		if !s.Since.IsZero() {
			x.Since = &s.Since
		}
	}
	for _, o := range m.running(version) {
		if o.Order != "" {
			x.Orders = append(x.Orders, o)
		}
	}
	x.OrdersUnlisted = slices.Contains(m.Unlisted, version)
	d, deviates := m.deviation(version)
	if deviates {
		x.Deviates = &d
	}
	c, confirmed := m.confirmation(version)
	if confirmed {
		x.Confirmed = &c
	}
	x.Clear = m.clear(version)
	return spoke || deviates || confirmed || x.OrdersUnlisted
}

// SaysAbout reports whether something was said about a version.
func (m OnMachine) SaysAbout(version int64) bool { return new(Reached).says(m, version) }

// Shown is what was said about a version, as the list of the version's machines shows it.
func (m OnMachine) Shown(version int64) (x Reached) {
	x.says(m, version)
	return x
}

// SameWord reports whether the same was said about two machines.
func (x Reached) SameWord(y Reached) bool {
	word := func(r Reached) Reached {
		return Reached{State: r.State, ContentSHA256: r.ContentSHA256, Since: r.Since, Order: r.Order, Detail: r.Detail, Told: r.Told,
			ToldAt: r.ToldAt, Orders: r.Orders, OrdersUnlisted: r.OrdersUnlisted, Deviates: r.Deviates, Confirmed: r.Confirmed,
			RecordSHA256: r.RecordSHA256}
	}
	a, err := timestamp.JSON(word(x))
	b, err2 := timestamp.JSON(word(y))
	return err == nil && err2 == nil && string(a) == string(b)
}

// heard adds when the boxes were last heard from, also those of the factory that said nothing about the method.
func heard(ctx context.Context, factoryID string, page []Reached, boxes map[string]*boxOf, seen LastCall) error {
	var reads []func(context.Context) error
	for i, x := range page {
		subject := x.record.Subject
		if box := boxes[x.EdgeID]; subject == "" && box.FactoryID == factoryID { // others may be another organization's
			subject = box.row.Subject
		}
		if subject == "" {
			continue
		}
		reads = append(reads, func(ctx context.Context) error {
			at, err := seen(ctx, subject)
			if err == nil && !at.IsZero() {
				page[i].LastHeardAt = &at
			}
			return err
		})
	}
	return dynamo.Together(ctx, reads...)
}
