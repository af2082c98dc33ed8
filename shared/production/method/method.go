// Package method implements production methods: how a product is made in a factory. A method has
// numbered versions. A version has a content, and a second person approves it. It then holds on
// some machines or on all, until it is superseded or withdrawn.
//
// The rules are pure. Method.Save and Method.Move decide what a request makes of a method and one
// of its versions. Effectivity decides which version holds on a machine at a time. store.go and
// the files beside it store the results.
package method

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/trail/audit"
)

// A Method is a production method. Two methods may have the same name.
type Method struct {
	MethodID  string    `json:"methodId"` // UUID, version 7, so that ids sort by creation
	FactoryID string    `json:"factoryId"`
	ProductID string    `json:"productId"` // UUID, in lower case
	Name      string    `json:"name"`      // 1 to 200 characters
	CreatedAt time.Time `json:"createdAt"`
	// UpdatedAt is missing until the method has a version.
	UpdatedAt *time.Time `json:"updatedAt,omitempty"`
	Latest    *Latest    `json:"latest,omitempty"` // the version with the highest number
	// Retired is a person's word that nothing is made by the method any more; nil: it can have further versions.
	Retired *Retirement `json:"retired,omitempty"`
	// Effectivity decides which version holds on which machine from now on.
	Effectivity Effectivity `json:"effectivity,omitempty"`
	// Equipment is the equipment of each version in Effectivity and Withdrawals, so that a poll need
	// not read the versions.
	Equipment []VersionEquipment `json:"equipment,omitempty"`
	// Withdrawals lists the withdrawals of versions that held before, the newest first: the last 8, and all that machines
	// have not confirmed.
	Withdrawals []Withdrawal `json:"withdrawn,omitempty"`
	// Covers are the approvals of the decisions in Effectivity. They decide which machines with a class are covered.
	Covers []Cover `json:"covers,omitempty"`
	// Recalled says for each version in Withdrawals which machines could have it, and so have to hear of it.
	Recalled []Concern `json:"recalled,omitempty"`
	// TrailSHA256 is the hash of the method's chain of changes; see package chain.
	TrailSHA256 string `json:"trailSha256,omitempty"`
	Revision    int64  `json:"revision"` // from 1
	dynamo.Unknown
}

// Latest is the version with the highest number, and its status.
type Latest struct {
	Version int64  `json:"version" stored:"identity"`
	Status  Status `json:"status"`
}

// A Withdrawal tells controllers which version was withdrawn, and what to do with orders under
// way.
type Withdrawal struct {
	Version int64     `json:"version" stored:"identity"`
	Orders  Orders    `json:"orders"`
	At      time.Time `json:"at"`
}

// VersionEquipment is the equipment of a version.
type VersionEquipment struct {
	Version int64 `json:"version" stored:"identity"`
	Equipment
}

// keptWithdrawals is how many withdrawals are kept although all machines have confirmed them. While maxWithdrawals are
// not confirmed, no version is approved: so the list stays small, and no withdrawal is ever refused.
const (
	keptWithdrawals = 8
	maxWithdrawals  = 24
	// maxVersions limits what is kept by version of each machine.
	maxVersions = 10_000
)

func (m Method) equipmentOf(version int64) Equipment {
	for _, e := range m.Equipment {
		if e.Version == version {
			return e.Equipment
		}
	}
	return Equipment{}
}

// equipped returns the method with the equipment of the versions in its decisions and withdrawals. more contains all of
// these that were not there before.
func (m Method) equipped(more ...Version) Method {
	named := map[int64]bool{}
	for _, d := range m.Effectivity {
		named[d.Version] = true
	}
	for _, w := range m.Withdrawals {
		named[w.Version] = true
	}
	var all []VersionEquipment
	for _, e := range m.Equipment {
		if named[e.Version] {
			all = append(all, e)
			delete(named, e.Version)
		}
	}
	for _, v := range more {
		if named[v.Version] {
			all = append(all, VersionEquipment{v.Version, v.Equipment})
			delete(named, v.Version)
		}
	}
	m.Recalled = orNil(slices.DeleteFunc(slices.Clone(m.Recalled), func(c Concern) bool {
		return !slices.ContainsFunc(m.Withdrawals, func(w Withdrawal) bool { return w.Version == c.Version })
	}))
	slices.SortFunc(all, func(a, b VersionEquipment) int { return cmp.Compare(a.Version, b.Version) })
	m.Equipment = all
	return m
}

// A Creation is the input for a new method.
type Creation struct {
	ProductID string `json:"productId"`
	Name      string `json:"name"`
}

func (c Creation) create(id, factoryID string, at time.Time) Method {
	return Method{MethodID: id, FactoryID: factoryID, ProductID: c.ProductID, Name: c.Name, CreatedAt: at, Revision: 1}
}

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

// A Result is the result of a request: the method and one of its versions afterwards. Event is
// empty if nothing changes. The method changes only if its revision does.
type Result struct {
	Method  Method
	Version Version
	Event   string
}

// Save decides the result of saving a content as the version with a number. v is that version,
// or the zero value if it does not exist yet. It returns NOT_FOUND for a number that is not the
// next one, VERSION_OPEN while another version is in draft or in review, and VERSION_FROZEN.
func (m Method) Save(v Version, number int64, c content.Content, author audit.Person, at time.Time) (Result, error) {
	begins := v.Revision == 0
	if m.Retired != nil {
		return Result{}, m.isRetired()
	}
	if latest := m.latest(); begins && number != latest.Version+1 {
		return Result{}, problem.Missing()
	} else if begins && latest.Status.open() {
		advice := "Continue with it, or withdraw it"
		if latest.Status == InReview {
			advice = "Put it on trial, release it or withdraw it"
		}
		return Result{}, problem.New(problem.VersionOpen, "Version %d is %s. %s before you begin another.", latest.Version, latest.Status.words(), advice)
	}
	if number > maxVersions {
		return Result{}, problem.New(problem.Conflict, "The method has %d versions, which is the maximum. Create another method.", maxVersions)
	}
	v.MethodID, v.FactoryID, v.Version = m.MethodID, m.FactoryID, number
	next, event, err := v.saved(c, author, at)
	if err != nil || event == "" {
		return Result{Method: m, Version: v}, err
	}
	if begins {
		m.Latest = &Latest{number, next.Status}
		m = m.changed(at)
	}
	return Result{m, next, event}, nil
}
