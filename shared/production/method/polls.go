package method

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/production/content"
	"wavegate/shared/production/machine"
	"wavegate/shared/trail/audit"
)

// maxPolled is how many methods of a product a poll lists, the newest first. A controller must
// not produce with a method that is not listed.
const maxPolled = 100

// MachinePolls answers the polls of machine controllers. A poll reads the box, the machine and each method,
// eventually consistent. So it usually shows a change within a second. If a person polls, the factory
// is read instead of the box. A poll for all methods of the machine first asks which ones name the
// machine or one of the classes that it has or had.
type MachinePolls struct {
	store          *Store
	log            *audit.Log
	interval, idle time.Duration
	routes         routes
}

// NewMachinePolls makes MachinePolls.
func NewMachinePolls(db *dynamo.DB, settings *setting.Values, speaks Speaks) *MachinePolls {
	return &MachinePolls{
		store: NewStore(db).ForBoxes(speaks), log: audit.NewLog(db),
		interval: time.Duration(settings.Number(setting.PollIntervalSeconds)) * time.Second,
		idle:     time.Duration(settings.Number(setting.IdlePollIntervalSeconds)) * time.Second,
	}
}

// A PollRequest is what a poll asks about, now or at another time: some methods, the methods of a
// product, or all methods of the machine.
type PollRequest struct {
	FactoryID, Machine string
	MethodIDs          []string
	ProductID          string
	At                 *time.Time // nil means now
	// After and Limit select the page of a poll for all methods.
	After string
	Limit int
}

// All reports whether the request is for all methods of the machine.
func (q PollRequest) All() bool { return len(q.MethodIDs) == 0 && q.ProductID == "" }

// Poll returns which versions hold on a machine. For a time in the past it reads the audit trail, for one method only.
// href makes links from paths that begin with /api. Poll returns NOT_FOUND if the machine is not in a factory that the
// caller may read, or, for a box, not in its own factory.
func (p *MachinePolls) Poll(ctx context.Context, caller auth.Principal, q PollRequest, href func(string) string) (PollAnswer, error) {
	now := p.store.db.Now()
	at := now
	if q.At != nil {
		at = *q.At
	}
	past := at.Before(now)
	if past && len(q.MethodIDs) == 0 {
		return PollAnswer{}, problem.Invalid([]problem.Fault{{Parameter: "methodId", Code: "required", Detail: "is required if at is in the past"}})
	}
	var on machine.Machine
	var methods []Method
	var last string
	err := dynamo.Together(ctx,
		func(ctx context.Context) error { return p.store.checkAccess(ctx, caller, q.FactoryID) },
		func(ctx context.Context) (err error) { on, err = p.machine(ctx, q, past); return err },
		func(ctx context.Context) (err error) { methods, err = p.methods(ctx, q, past); return err })
	if err == nil && q.All() {
		methods, last, err = p.all(ctx, q, on)
	}
	if err != nil {
		return PollAnswer{}, err
	}
	if past {
		if methods, on, err = p.asOf(ctx, methods, on, at); err != nil {
			return PollAnswer{}, err
		}
	}
	routes, err := p.routes.of(ctx, p.store, methods)
	if err != nil {
		return PollAnswer{}, err
	}
	interval := max(p.interval, p.idle)
	answer := PollAnswer{Items: []MachineState{}, Last: last}
	for _, m := range methods {
		if m.busy(now, interval) {
			interval = p.interval
		}
		path := func(version int64) string {
			return href("/api/factories/" + q.FactoryID + "/production-methods/" + m.MethodID + "/versions/" + strconv.FormatInt(version, 10) + "/content")
		}
		if s, concerned := m.On(on, at, path, func(sha256 string) []content.Stop { return routes[contentID{m.MethodID, sha256}] }); concerned {
			answer.Items = append(answer.Items, s)
		}
	}
	answer.PollIntervalSeconds = int(interval / time.Second)
	return answer, nil
}

// checkAccess returns NOT_FOUND unless the caller may read the answers to controllers in a factory. The caller must be
// a person who may read the factory, or a box of the same organization in it.
func (s *Store) checkAccess(ctx context.Context, caller auth.Principal, factoryID string) error {
	if !caller.Has(auth.Edge) {
		_, err := s.factories.Readable(ctx, caller, factoryID)
		return err
	}
	// The row of a box is its registration; see package edge. A factory never changes its
	// organization, and a box can only be registered in a factory of its own organization.
	var box struct {
		FactoryID      string `json:"factoryId"`
		OrganizationID string `json:"organizationId"`
		Issuer         string `json:"issuer"`
	}
	found, err := s.db.GetEventually(ctx, dynamo.Edges, dynamo.Key{"edgeId": caller.UserID}, &box)
	if err != nil {
		return err
	}
	if !found || box.FactoryID != factoryID || !s.speaks(box.Issuer, caller.Issuer) {
		return problem.Missing()
	}
	return admission.Share(ctx, box.OrganizationID)
}

// get reads an item. For a time in the past it is strongly consistent, so that the answer never
// changes.
func (p *MachinePolls) get(ctx context.Context, table dynamo.TableID, key dynamo.Key, out any, past bool) (found bool, err error) {
	if past {
		return p.store.db.Get(ctx, table, key, out)
	}
	return p.store.db.GetEventually(ctx, table, key, out)
}

func (p *MachinePolls) machine(ctx context.Context, q PollRequest, past bool) (m machine.Machine, err error) {
	found, err := p.get(ctx, dynamo.Machines, dynamo.Key{"factoryId": q.FactoryID, "code": q.Machine}, &m, past)
	if err == nil && !found {
		err = problem.Missing()
	}
	return m, err
}

// methods returns the methods that the request names; an empty list if there are none, or if it is for all methods.
func (p *MachinePolls) methods(ctx context.Context, q PollRequest, past bool) ([]Method, error) {
	if q.ProductID != "" {
		page, err := dynamo.List[Method](ctx, p.store.db, dynamo.Selection{
			Table: dynamo.Methods, Index: "byProduct", Partition: q.FactoryID,
			Least: q.ProductID + "#", Most: q.ProductID + "#~", Descending: true, Eventually: true,
		}, dynamo.Span{Limit: maxPolled})
		return page.Items, err
	}
	return p.heads(ctx, q.FactoryID, q.MethodIDs, past)
}

// heads reads methods, in the order of the ids. It skips those that do not exist.
func (p *MachinePolls) heads(ctx context.Context, factoryID string, ids []string, past bool) ([]Method, error) {
	found := make([]Method, len(ids))
	reads := make([]func(context.Context) error, len(ids))
	for i, id := range ids {
		reads[i] = func(ctx context.Context) error {
			_, err := p.get(ctx, dynamo.Methods, key(factoryID, id), &found[i], past)
			return err
		}
	}
	err := dynamo.Together(ctx, reads...)
	return slices.DeleteFunc(found, func(m Method) bool { return m.Revision == 0 }), err
}

// all returns a page of the methods that name a machine or one of its classes, by their ids, and the
// last of these ids if more follow.
func (p *MachinePolls) all(ctx context.Context, q PollRequest, on machine.Machine) ([]Method, string, error) {
	places := []string{machinePlace(on.FactoryID, on.Code)}
	for _, class := range on.EverClasses() {
		places = append(places, classPlace(on.FactoryID, class))
	}
	lists := make([][]place, len(places))
	reads := make([]func(context.Context) error, len(places))
	for i, one := range places {
		reads[i] = func(ctx context.Context) error {
			page, err := dynamo.List[place](ctx, p.store.db, dynamo.Selection{Table: dynamo.MethodPlaces, Partition: one, Eventually: true},
				dynamo.Span{Limit: q.Limit + 1, After: q.After})
			lists[i] = page.Items
			return err
		}
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return nil, "", err
	}
	var ids []string
	for _, x := range slices.Concat(lists...) {
		ids = append(ids, x.MethodID)
	}
	slices.Sort(ids)
	ids, last := slices.Compact(ids), ""
	if len(ids) > q.Limit {
		ids = ids[:q.Limit]
		last = ids[q.Limit-1]
	}
	methods, err := p.heads(ctx, q.FactoryID, ids, false)
	return methods, last, err
}

// asOf returns methods and a machine as they were at a time. It omits what did not exist then.
func (p *MachinePolls) asOf(ctx context.Context, methods []Method, on machine.Machine, at time.Time) ([]Method, machine.Machine, error) {
	stream := audit.Factory(on.FactoryID)
	on, existed, err := stateAt(ctx, p.log, stream, machine.ResourceType, on.Code, on, machine.Machine.ChangedAt, at)
	if err != nil || !existed {
		return nil, on, err
	}
	var then []Method
	for _, m := range methods {
		m, existed, err := stateAt(ctx, p.log, stream, ResourceType, m.MethodID, m, Method.changedAt, at)
		if err != nil {
			return nil, on, err
		}
		if existed {
			then = append(then, m)
		}
	}
	return then, on, nil
}

// stateAt returns the state of a resource at a time, and whether it existed. If the resource has not changed since,
// that is its present state. Otherwise the state is the Before of the first event after the time. The index of the
// trail may lag for a moment. If the event found is not the first one, the error is UNAVAILABLE.
func stateAt[T any](ctx context.Context, log *audit.Log, stream, kind, id string, is T, changedAt func(T) time.Time, at time.Time) (then T, existed bool, err error) {
	if !changedAt(is).After(at) {
		return is, true, nil
	}
	e, found, err := log.FirstAfter(ctx, stream, kind, id, at)
	if err != nil {
		return then, false, err
	}
	if found && e.Before == nil {
		return then, false, nil
	}
	if found {
		if then, err = decode[T](e.Before); err != nil {
			return then, false, err
		}
	}
	if !found || changedAt(then).After(at) {
		return then, false, problem.New(problem.Unavailable, "The audit trail does not show the latest changes yet; try again after the given time.").After(time.Second)
	}
	return then, true, nil
}

func decode[T any](shown any) (v T, err error) {
	text, err := json.Marshal(shown)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return v, fmt.Errorf("method: read an audit event: %w", err)
	}
	return v, nil
}
