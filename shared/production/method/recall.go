package method

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/machine"
	"wavegate/shared/trail/audit"
)

// RecallResourceType is the type of a recall in the audit trail. The id is the factory, the method and the version.
const RecallResourceType = "recall"

// RecallUnconfirmed is the event that warns people that machines may still have a version although its orders were
// stopped. It does not change anything.
const RecallUnconfirmed = "RecallUnconfirmed"

// ConfirmWithin is how long machines have to confirm that they no longer have a version after its orders were stopped.
// Orders that may finish have no time limit.
const ConfirmWithin = 30 * time.Minute

// A Recall is a version with stopped orders. It is watched until all machines have confirmed, and again once a machine
// reports the version after that. Meanwhile, people are warned once that it is unconfirmed.
type Recall struct {
	Subject        string    `json:"subject"`
	Part           string    `json:"part"`
	FactoryID      string    `json:"factoryId"`
	MethodID       string    `json:"methodId"`
	Version        int64     `json:"version"`
	OrganizationID string    `json:"organizationId"`
	Since          time.Time `json:"since"` // when its orders were stopped, or a machine reported it again
	Revision       int64     `json:"revision"`
	// Again is set if a machine reported the version after all had confirmed.
	Again bool `json:"again,omitempty"`
	// Warned is set once people were warned. Left of Of machines had not confirmed at the last tick.
	Warned bool `json:"warned,omitempty"`
	Left   int  `json:"left,omitempty"`
	Of     int  `json:"of,omitempty"`
	dynamo.Unknown
}

// due reports whether a tick looks at the recall. Each look reads all machines of the factory, and a machine that is gone
// for good never confirms. So a look every ten minutes is enough once people were warned a day ago.
func (r Recall) due(at time.Time) bool {
	age := at.Sub(r.Since)
	if !r.Warned {
		return age >= ConfirmWithin
	}
	return age < 24*time.Hour || int(age/time.Minute)%10 == 0
}

// left is the recall with the machines that have not confirmed.
func (r Recall) left(m Missing) Recall {
	r.Left, r.Of = m.Left, m.Of
	r.Revision++
	return r
}

// A Pending is a recall that was not confirmed in time, without what only people of its organization may see.
type Pending struct {
	FactoryID      string    `json:"factoryId"`
	OrganizationID string    `json:"organizationId"`
	Since          time.Time `json:"since"`
	Left           int       `json:"left"`
	Of             int       `json:"of"`
}

// Warned are such recalls as a part of an answer.
type Warned struct {
	Recalls []Pending `json:"recalls,omitempty"`
}

// MostPending limits a list of such recalls.
const MostPending = 100

// Unconfirmed lists the recalls of which people were warned, and which are not confirmed yet: those of an organization, or
// all of them.
func (s *Store) Unconfirmed(ctx context.Context, organization string) (list []Pending, err error) {
	err = dynamo.Walk(ctx, s.db, watched, nil, 0, func(r Recall) error {
		if r.Warned && (organization == "" || r.OrganizationID == organization) && len(list) < MostPending {
			list = append(list, Pending{r.FactoryID, r.OrganizationID, r.Since, r.Left, r.Of})
		}
		return nil
	})
	return list, err
}

// recalls is the key of all factories' recalls in the table of progress, so that one read finds those that are due.
const recalls = "recalls"

var watched = dynamo.Selection{Table: dynamo.Progress, Partition: recalls}

// recalled returns the write that begins to watch a recall, if the change of a version is a recall.
func recalled(was, next Version, organization string) []dynamo.TransactItem {
	if next.Orders != Stop || was.Orders == Stop || !next.approvedOnce() {
		return nil
	}
	return []dynamo.TransactItem{dynamo.TransactPut("recall", dynamo.Progress, nil, next.watch(organization, next.UpdatedAt), dynamo.Condition{})}
}

// watch is a recall that begins to be watched.
func (v Version) watch(organization string, since time.Time) Recall {
	r := Recall{Subject: recalls, FactoryID: v.FactoryID, MethodID: v.MethodID, Version: v.Version,
		OrganizationID: organization, Since: since, Revision: 1}
	r.Part = r.id()
	return r
}

// reopens reports whether a report puts a machine on the list of a recall on which it was not.
func (m Method) reopens(v Version, on machine.Machine, was, next OnMachine) bool {
	return v.Orders == Stop && next.reports(v.Version) &&
		(was.clear(v.Version) || on.Scrapped != nil || !was.SaysAbout(v.Version) && !m.concerns(v.Version, on))
}

// reopened returns the write that watches a recall again. A watch that has not ended changes, so that a tick which has not
// seen the report does not end it.
func (s *Store) reopened(ctx context.Context, v Version, organization string, at time.Time) (dynamo.TransactItem, error) {
	var was Recall
	r := v.watch(organization, at)
	r.Again = true
	found, err := s.db.Get(ctx, dynamo.Progress, r.key(), &was)
	if found {
		r = was
		r.Revision++
	}
	return dynamo.TransactPut("recall", dynamo.Progress, was, r, dynamo.AtRevision("subject", was.Revision)), err
}

func (r Recall) key() dynamo.Key { return dynamo.Key{"subject": r.Subject, "part": r.Part} }

func (r Recall) id() string {
	return strings.Join([]string{r.FactoryID, r.MethodID, strconv.FormatInt(r.Version, 10)}, "/")
}

func (r Recall) ref() Ref { return Ref{r.FactoryID, r.MethodID, r.Version} }

// unconfirmed is a recall as its audit event shows it.
type unconfirmed struct {
	FactoryID string    `json:"factoryId"`
	MethodID  string    `json:"methodId"`
	Version   int64     `json:"version"`
	Since     time.Time `json:"since"`
}

// Missing lists the machines that may still have a recalled version. The audit event holds it.
type Missing struct {
	Sentence string   `json:"sentence"`
	Machines []string `json:"machines"` // the first ones
	Left     int      `json:"left"`     // how many there are
	Of       int      `json:"of"`       // how many machines the version concerns
}

const mostMissing = 20

// Explain says how many machines these are. It names neither the machines nor the method, since fewer people may see
// those.
func (m Missing) Explain() string { return m.Sentence }

// missing returns which of the machines may still have the version.
func (r Recall) missing(all []Reached) Missing {
	m := Missing{Machines: []string{}, Of: len(all)}
	for _, x := range all {
		if x.Clear {
			continue
		}
		if m.Left++; m.Left <= mostMissing {
			m.Machines = append(m.Machines, x.Machine)
		}
	}
	after := "its orders were stopped"
	if r.Again {
		after = "a machine reported it again"
	}
	m.Sentence = fmt.Sprintf("%d of %d machines have not said that they no longer have version %d, %d minutes after %s.",
		m.Left, m.Of, r.Version, int(ConfirmWithin/time.Minute), after)
	return m
}

// TellUnconfirmed warns people of the recalls that were not confirmed in time, once for each, and returns their number. It
// also counts again who has confirmed those of which people were warned before, old ones every ten minutes. The next call
// retries failed ones; the error joins all failures.
func (s *Store) TellUnconfirmed(ctx context.Context, from audit.Origin) (told int, err error) {
	var due []Recall
	err = dynamo.Walk(ctx, s.db, watched, nil, 0, func(r Recall) error {
		if r.due(s.db.Now()) {
			due = append(due, r)
		}
		return nil
	})
	faults := []error{err}
	for _, r := range due {
		left, err := s.tellUnconfirmed(ctx, from, r)
		if left {
			told++
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("method: recall of %s: %w", r.id(), err))
		}
	}
	return told, errors.Join(faults...)
}

// tellUnconfirmed ends the watch of a recall if no machine may still have the version. Otherwise it warns people once.
func (s *Store) tellUnconfirmed(ctx context.Context, from audit.Origin, r Recall) (told bool, err error) {
	all, err := s.concerned(ctx, r.ref())
	if err != nil {
		return false, err
	}
	m := r.missing(all)
	unchanged := dynamo.AtRevision("subject", r.Revision)
	switch {
	case m.Left == 0:
		if err = s.db.Commit(ctx, dynamo.TransactDelete("recall", dynamo.Progress, r.key(), unchanged)); dynamo.Refused(err, "recall") {
			err = nil // another run has ended it, or a machine has reported the version
		}
		return false, err
	case r.Warned && r.Left == m.Left && r.Of == m.Of:
		return false, nil
	case r.Warned:
		if err = s.db.Put(ctx, dynamo.Progress, r, r.left(m), unchanged); dynamo.Refused(err, "item") {
			err = nil // another run has counted
		}
		return false, err
	}
	now := s.db.Now()
	event := audit.Event{
		EventTime: now, EventName: RecallUnconfirmed, OrganizationID: r.OrganizationID,
		Actor: from.Actor, RequestID: from.RequestID, Grounds: audit.Grounds{Cause: m},
		Resource: audit.Resource{Type: RecallResourceType, ID: r.id(), Revision: 1},
		After:    unconfirmed{r.FactoryID, r.MethodID, r.Version, r.Since},
	}
	next := r.left(m)
	next.Warned = true
	err = s.db.Commit(ctx, dynamo.TransactPut("recall", dynamo.Progress, r, next, unchanged), audit.Write(audit.Factory(r.FactoryID), event))
	if dynamo.Refused(err, "recall") {
		return false, nil // another run has told people
	}
	return err == nil, err
}

// concerned lists the machines that a version concerns.
func (s *Store) concerned(ctx context.Context, r Ref) ([]Reached, error) {
	v, err := s.lookup(ctx, r)
	if err != nil || v.Revision == 0 {
		return nil, err
	}
	return s.reachedBy(ctx, v)
}
