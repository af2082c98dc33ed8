// Package method is about production methods: how a product is made in a factory. A method has numbered
// versions; a version has a content, is approved by a second person, and then holds on some machines or on
// all, until it is superseded or withdrawn.
//
// The rules are pure. Version.After says where a version can go, Effectivity which version holds on a
// machine at a time, and Method puts the two together; store.go and its neighbours keep what they decide.
package method

import (
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
)

// A Method is a production method. Two may have the same name.
type Method struct {
	MethodID  string    `json:"methodId"` // UUID, version 7: ids are in the order of creation
	FactoryID string    `json:"factoryId"`
	ProductID string    `json:"productId"` // UUID, in lower case
	Name      string    `json:"name"`      // 1 to 200 characters
	CreatedAt time.Time `json:"createdAt"`
	// UpdatedAt is absent as long as the method has no version.
	UpdatedAt *time.Time `json:"updatedAt,omitempty"`
	Latest    *Latest    `json:"latest,omitempty"` // the version with the highest number
	// Effectivity decides which version holds where from now on.
	Effectivity Effectivity `json:"effectivity,omitempty"`
	// Withdrawals are those of versions that held before, the newest first, at most 8.
	Withdrawals []Withdrawal `json:"withdrawn,omitempty"`
	// TrailSHA256 is the hash of the chain of the method's changes; see package trail.
	TrailSHA256 string `json:"trailSha256,omitempty"`
	Revision    int64  `json:"revision"` // from 1
}

// Latest is the version with the highest number and where it stands.
type Latest struct {
	Version int64  `json:"version"`
	Status  Status `json:"status"`
}

// A Withdrawal tells controllers what was withdrawn, and what becomes of orders under way.
type Withdrawal struct {
	Version   int64     `json:"version"`
	Orders    Orders    `json:"orders"`
	At        time.Time `json:"at"`
	Equipment Equipment `json:"equipment"`
}

// maxWithdrawals is how many withdrawals a method shows.
const maxWithdrawals = 8

// A Creation is a caller's wish to create a method.
type Creation struct {
	ProductID string `json:"productId"`
	Name      string `json:"name"`
}

// create makes the method.
func (c Creation) create(id, factoryID string, at time.Time) Method {
	return Method{MethodID: id, FactoryID: factoryID, ProductID: c.ProductID, Name: c.Name, CreatedAt: at, Revision: 1}
}

// changedAt is the time of the method's last change.
func (m Method) changedAt() time.Time {
	if m.UpdatedAt != nil {
		return *m.UpdatedAt
	}
	return m.CreatedAt
}

func (m Method) latest() Latest {
	if m.Latest != nil {
		return *m.Latest
	}
	return Latest{}
}

func (m Method) changed(at time.Time) Method {
	m.UpdatedAt = &at
	m.Revision++
	return m
}

// An Outcome is what a wish makes of a method and one of its versions. Event is empty where nothing
// changes; the method changes where its revision does.
type Outcome struct {
	Method  Method
	Version Version
	Event   string
}

// Save decides what saving a content as the version of a number makes of the method. v is that version, or
// the zero value where there is none yet. It returns NOT_FOUND for a number that is not the next one,
// VERSION_OPEN while another version is in draft or review, and VERSION_FROZEN.
func (m Method) Save(v Version, number int64, c content.Content, author Person, at time.Time) (Outcome, error) {
	begins := v.Revision == 0
	if latest := m.latest(); begins && number != latest.Version+1 {
		return Outcome{}, problem.Missing()
	} else if begins && latest.Status.open() {
		return Outcome{}, problem.New(problem.VersionOpen, "Version %d is %s. Release or withdraw it before you begin another.", latest.Version, latest.Status)
	}
	v.MethodID, v.FactoryID, v.Version = m.MethodID, m.FactoryID, number
	next, event, err := v.saved(c, author, at)
	if err != nil || event == "" {
		return Outcome{Method: m, Version: v}, err
	}
	if begins {
		m.Latest = &Latest{number, next.Status}
		m = m.changed(at)
	}
	return Outcome{m, next, event}, nil
}

// Move decides what a move of a version makes of the method. other is the version that the move wants to
// reinstate, or the zero value. It returns what Version.After returns, INVALID_STATE_TRANSITION where a
// newer version is released to all machines, EFFECTIVITY_FULL, and VALIDATION_FAILED for a time that has
// passed.
func (m Method) Move(v, other Version, move Move, s Signer, p factory.Approval, at time.Time) (Outcome, error) {
	same := Outcome{Method: m, Version: v}
	from := move.EffectiveFrom
	if from.IsZero() {
		from = at
	}
	if v.Status == Trial && move.Status == Trial && m.Effectivity.tries(v.Version, move.Machines, from) {
		return same, v.made(move)
	}
	next, event, err := v.After(move, s, p, at)
	if err != nil || event == "" {
		return same, err
	}
	switch move.Status {
	case Trial, Released:
		if m.Effectivity, err = m.decide(next, move, from, at); err != nil {
			return same, err
		}
	case Withdrawn:
		m.Effectivity = m.Effectivity.withdraw(v.Version, reinstated(v, other, move, at), at)
		if next.Orders != "" {
			m.Withdrawals = append([]Withdrawal{{v.Version, next.Orders, at, v.Equipment}}, m.Withdrawals...)
			m.Withdrawals = m.Withdrawals[:min(len(m.Withdrawals), maxWithdrawals)]
		}
	}
	if m.latest().Version == v.Version {
		m.Latest = &Latest{v.Version, next.Status}
	}
	m = m.changed(at)
	return Outcome{m, next, event}, nil
}

// decide is the effectivity with the decision of a trial or a release.
func (m Method) decide(v Version, move Move, from, at time.Time) (Effectivity, error) {
	if from.Before(at) {
		return nil, problem.Invalid([]problem.Fault{{Pointer: "/effectiveFrom", Code: "range", Detail: "must not have passed; leave it out for now"}})
	}
	if newer := m.Effectivity.newer(v.Version); newer > 0 {
		return nil, problem.New(problem.InvalidStateTransition, "Version %d is released to all machines; an older version cannot follow it.", newer)
	}
	d := Decision{Version: v.Version, ContentSHA256: v.ContentSHA256, From: from, Equipment: v.Equipment}
	if move.Status == Trial {
		d.Machines = move.Machines
	}
	next := append(m.Effectivity[:len(m.Effectivity):len(m.Effectivity)], d).Prune(at)
	if len(next) > maxDecisions {
		return nil, problem.New(problem.EffectivityFull, "The method has %d decisions that still count, as many as can. Release or withdraw a version that is on trial.", maxDecisions)
	}
	return next, nil
}

// reinstated is the decision for a version that is to hold again in the place of one that is withdrawn, or
// nil. It must be older, and released: it was approved for all machines. A wish that cannot be met does
// not refuse the withdrawal.
func reinstated(withdrawn, other Version, move Move, at time.Time) *Decision {
	if move.Reinstate == 0 || other.Version != move.Reinstate || other.Status != Released || other.Version >= withdrawn.Version {
		return nil
	}
	return &Decision{Version: other.Version, ContentSHA256: other.ContentSHA256, From: at, Equipment: other.Equipment}
}
