package machine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
)

// A Term is a time in which a machine had a class: from one change of the factory's machines until another one. To is 0
// while the machine has the class.
type Term struct {
	Class  string     `json:"class" stored:"identity"`
	From   int64      `json:"from" stored:"identity"`
	FromAt time.Time  `json:"fromAt"`
	To     int64      `json:"to,omitempty"`
	ToAt   *time.Time `json:"toAt,omitempty"`
}

// A Person is the person who signs.
type Person struct {
	Issuer          string     `json:"issuer"`
	UserID          string     `json:"userId"`
	Name            string     `json:"name,omitempty"`
	AuthenticatedAt *time.Time `json:"authenticatedAt,omitempty"`
}

// PersonOf is a caller as the person who signs.
func PersonOf(caller auth.Principal) Person {
	p := Person{Issuer: caller.Issuer, UserID: caller.UserID, Name: caller.Name}
	if !caller.AuthenticatedAt.IsZero() {
		p.AuthenticatedAt = &caller.AuthenticatedAt
	}
	return p
}

// An Admission is a signature for one machine. It admits the machine to all versions that hold in its classes, as if each
// had been approved again.
type Admission struct {
	Person
	Number int64     `json:"number" stored:"identity"` // of the change
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// A Scrapping is a signature that a machine is gone. It has no class any more, and no version holds on it.
type Scrapping struct {
	Person
	Number int64     `json:"number"` // of the change
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// scrap returns what a registration says of a machine that is gone, and the registration, by which it loses its classes. Nothing
// else changes on a machine that is gone, until it is there again. The first signature counts.
func (m Machine) scrap(r Registration, by signing, at time.Time) (Registration, *Scrapping, error) {
	switch {
	case r.Scrapped != "" && m.Scrapped == nil:
		r.Classes = []string{}
		return r, &Scrapping{by.Person, by.number, at, r.Scrapped}, nil
	case r.Returned:
		return r, nil, nil
	case m.Scrapped != nil && (len(r.Classes) > 0 || r.Admission != ""):
		return r, m.Scrapped, problem.New(problem.Conflict, "The machine was scrapped on %s: %s. If it is there again, send \"scrapped\": null with its classes.",
			m.Scrapped.At.Format(time.DateOnly), m.Scrapped.Reason)
	}
	return r, m.Scrapped, nil
}

const (
	// Correction is the time within which a lost class can be given back. The machine then has its versions again
	// without a signature: it takes a person over a weekend to notice a wrong class.
	Correction = 7 * 24 * time.Hour
	// maxTerms and maxAdmissions keep the item of a machine small, since each poll reads it.
	maxTerms      = 64
	maxAdmissions = 48
)

// termsWith returns the terms after a change of the classes.
func (m Machine) termsWith(classes []string, number int64, at time.Time) []Term {
	terms := slices.Clone(m.ClassTerms)
	for i, t := range terms {
		if t.To == 0 && !slices.Contains(classes, t.Class) {
			terms[i].To, terms[i].ToAt = number, &at
		}
	}
	for _, class := range classes {
		if !slices.Contains(m.Classes, class) {
			terms = append(terms, Term{Class: class, From: number, FromAt: at})
		}
	}
	return shortened(terms)
}

// shortened joins the oldest terms of a class, as if the machine had not lost it between. So a recall concerns no
// machine too few.
func shortened(terms []Term) []Term {
	for i := 0; len(terms) > maxTerms && i < len(terms); i++ {
		later := slices.IndexFunc(terms[i+1:], func(t Term) bool { return t.Class == terms[i].Class })
		if later < 0 {
			continue
		}
		terms[i].To, terms[i].ToAt = terms[i+1+later].To, terms[i+1+later].ToAt
		terms = slices.Delete(terms, i+1+later, i+2+later)
		i--
	}
	return terms
}

// during reports whether the term has a change's number.
func (t Term) during(number int64) bool { return t.From <= number && (t.To == 0 || number < t.To) }

// Had reports whether the machine had a class at some moment from one number to another.
func (m Machine) Had(class string, from, to int64) bool {
	return slices.ContainsFunc(m.ClassTerms, func(t Term) bool { return t.Class == class && t.From <= to && (t.To == 0 || from < t.To) })
}

// A Moment is when a change was made: its number, and the time by its container's clock.
type Moment struct {
	Number int64
	At     time.Time
}

// Keeps reports whether the machine has a class and had it after the change with a number. If it lost the class between, it
// got it back in time; see Correction.
func (m Machine) Keeps(class string, number int64) bool {
	if !slices.Contains(m.Classes, class) {
		return false
	}
	had, last := false, time.Time{}
	for _, t := range m.ClassTerms {
		switch {
		case t.Class != class:
		case t.during(number):
			had = true
		case had && t.FromAt.Sub(last) > Correction:
			had = false
		}
		if t.Class == class && t.ToAt != nil {
			last = *t.ToAt
		}
	}
	return had
}

// Admitted reports whether somebody admitted the machine after a decision, while it had a class that it still has.
func (m Machine) Admitted(class string, after int64) bool {
	return slices.ContainsFunc(m.Admissions, func(a Admission) bool {
		return a.Number > after && m.Keeps(class, a.Number)
	})
}

// AsOf is the machine with the classes and admissions that it had after a change with a number.
func (m Machine) AsOf(number int64) Machine {
	terms := m.ClassTerms
	m.Classes, m.ClassTerms = nil, nil
	for _, t := range terms {
		if t.From > number {
			continue
		}
		if t.To > number {
			t.To, t.ToAt = 0, nil
		}
		if t.To == 0 {
			m.Classes = append(m.Classes, t.Class)
		}
		m.ClassTerms = append(m.ClassTerms, t)
	}
	m.Admissions = slices.DeleteFunc(slices.Clone(m.Admissions), func(a Admission) bool { return a.Number > number })
	if m.Scrapped != nil && m.Scrapped.Number > number {
		m.Scrapped = nil
	}
	return m
}

// Changes are the moments of the machine's changes, by their numbers.
func (m Machine) Changes() []Moment {
	var all []Moment
	for _, t := range m.ClassTerms {
		all = append(all, Moment{t.From, t.FromAt})
		if t.ToAt != nil {
			all = append(all, Moment{t.To, *t.ToAt})
		}
	}
	for _, a := range m.Admissions {
		all = append(all, Moment{a.Number, a.At})
	}
	if m.Scrapped != nil {
		all = append(all, Moment{m.Scrapped.Number, m.Scrapped.At})
	}
	slices.SortFunc(all, func(a, b Moment) int { return cmp.Compare(a.Number, b.Number) })
	return slices.CompactFunc(all, func(a, b Moment) bool { return a.Number == b.Number })
}

// EverClasses are all classes that the machine has or had.
func (m Machine) EverClasses() []string {
	all := slices.Clone(m.Classes) // they have terms, unless somebody removed these
	for _, t := range m.ClassTerms {
		all = append(all, t.Class)
	}
	slices.SortFunc(all, strings.Compare)
	return slices.Compact(all)
}

// signedLast reports whether the last admission is by a person, with a reason.
func (m Machine) signedLast(reason string, by Person) bool {
	if len(m.Admissions) == 0 {
		return false
	}
	last := m.Admissions[len(m.Admissions)-1]
	return last.Reason == reason && last.Issuer == by.Issuer && last.UserID == by.UserID
}

// admitted returns the admissions with one more.
func (m Machine) admitted(reason string, by signing, at time.Time) ([]Admission, error) {
	if len(m.Admissions) >= maxAdmissions {
		return nil, problem.New(problem.Conflict,
			"The machine was admitted %d times, which is the maximum. Sign the version once more instead; that admits all machines of its classes.", maxAdmissions)
	}
	return append(slices.Clone(m.Admissions), Admission{Person: by.Person, Number: by.number, At: at, Reason: reason}), nil
}
