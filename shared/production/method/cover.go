package method

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
)

// A Decided is an approval or a withdrawal of a version, as the version records it.
type Decided struct {
	Status Status `json:"status" stored:"identity"` // trial, released or withdrawn
	// Number is the number of changes of the factory's machines before the decision; see factory.Factory.Changes.
	Number int64     `json:"number" stored:"identity"`
	At     time.Time `json:"at"`
	// From and Machines are the decision of an approval.
	From     *time.Time `json:"from,omitempty"`
	Machines []string   `json:"machines,omitempty"`
	// Reinstates is the version that a withdrawal reinstated.
	Reinstates int64 `json:"reinstates,omitempty"`
	// Rule is the factory's rule for approvals at that time.
	Rule factory.ApprovalPolicy `json:"rule,omitempty"`
}

// A Cover is an approval of a decision. It covers the machines that had a class of the version's equipment at its
// Number. Made is the number at which the decision was made: a machine that was admitted after that is covered, too.
type Cover struct {
	Version int64     `json:"version" stored:"identity"`
	Trial   bool      `json:"trial,omitempty" stored:"identity"`
	Number  int64     `json:"number"`
	At      time.Time `json:"at"`
	Made    int64     `json:"made"`
}

// after returns the method with the approvals after a decision on a version. other is the version that it reinstates.
func (m Method) after(made Decided, v Version, other ...Version) Method {
	covers := slices.Clone(m.Covers)
	switch {
	case made.Status != Withdrawn:
		covers = append(covers, Cover{v.Version, made.Status == Trial, made.Number, made.At, made.Number})
	case made.Reinstates > 0:
		covers = slices.DeleteFunc(covers, func(a Cover) bool { return a.Version == made.Reinstates && !a.Trial })
		for _, o := range other {
			for _, d := range o.Decisions {
				if d.Status == Released {
					covers = append(covers, Cover{o.Version, false, d.Number, d.At, made.Number})
				}
			}
		}
	}
	m.Covers = nil
	for _, a := range covers {
		if slices.ContainsFunc(m.Effectivity, func(d Decision) bool { return d.Version == a.Version && d.everywhere() == !a.Trial }) {
			m.Covers = append(m.Covers, a)
		}
	}
	return m
}

// covers reports whether a decision's approvals cover a machine: steps name it, or it has a class of the steps and had
// it at an approval, or somebody has admitted it since.
func (m Method) covers(x machine.Machine, d Decision) bool {
	if x.Scrapped != nil {
		return false
	}
	e := m.equipmentOf(d.Version)
	return slices.Contains(e.Machines, x.Code) || slices.ContainsFunc(e.Classes, func(class string) bool {
		return slices.Contains(x.Classes, class) && m.signedFor(x, class, d)
	})
}

func (m Method) signedFor(x machine.Machine, class string, d Decision) bool {
	return slices.ContainsFunc(m.Covers, func(a Cover) bool {
		return a.Version == d.Version && a.Trial != d.everywhere() && (x.Keeps(class, a.Number) || x.Admitted(class, a.Made))
	})
}

// waits reports whether a machine does a step of a version that holds there, and waits for a signature.
func (m Method) waits(x machine.Machine, version int64, at time.Time) bool {
	d, holds := m.Effectivity.At(x.Code, at)
	return holds && d.Version == version && m.equipmentOf(version).names(x) && !m.covers(x, d)
}

// A Concern says which machines a withdrawn version concerns: those that steps named at some moment from the number Since
// to Until, without Except, or exactly Only. Whichever list is shorter is stored. The lists were made at the number AsOf:
// a machine that changed between AsOf and Until is concerned if steps named it, too.
type Concern struct {
	Version int64    `json:"version" stored:"identity"`
	Since   int64    `json:"since"`
	AsOf    int64    `json:"asOf"`
	Until   int64    `json:"until"`
	Only    []string `json:"only,omitempty"`
	Except  []string `json:"except,omitempty"`
	Nobody  bool     `json:"nobody,omitempty"`
	// Also are machines that no step names. They are listed if the version has neither Only nor Except.
	Also []string `json:"also,omitempty"`
}

// mostBytes limits a method's row, which an event has twice. Approvals leave room for withdrawals: for those of all that holds, and of more
// than 10 superseded versions with the longest equipment, or of hundreds with what is usual.
const mostBytes = 155 << 10

// fits refuses a move after which the method's row would be too large. JSON is longer than what the store counts.
func (m Method) fits(to Status) error {
	text, err := json.Marshal(m)
	switch {
	case err != nil:
		return fmt.Errorf("method: %w", err)
	case len(text) > mostBytes || len(text) > mostBytes*2/3 && (to == Trial || to == Released):
		return problem.New(problem.EffectivityFull, "The method has %d decisions that still count, and %d withdrawals that are not confirmed by all of their machines, "+
			"which is the maximum with so much equipment. Confirm the withdrawals first.", len(m.Effectivity), len(m.Withdrawals))
	}
	return nil
}

// mostCodes limits the lists of all concerns of a method, so that its row and its event fit into the store. Beyond it, machines that
// steps name hear of a recall that does not concern them.
const mostCodes = 600

// fitted returns the concerns of a method with lists that are not too long: the newest ones keep theirs.
func (m Method) fitted(park []machine.Machine) []Concern {
	list, left := slices.Clone(m.Recalled), mostCodes
	for i, c := range slices.Backward(list) {
		if left -= len(c.Only) + len(c.Except) + len(c.Also); left >= 0 {
			continue
		}
		left += len(c.Only) + len(c.Except)
		e := m.equipmentOf(c.Version)
		for _, x := range park {
			if slices.Contains(c.Only, x.Code) && !e.named(x, c.Since, c.Until) {
				c.Also = append(c.Also, x.Code)
				left--
			}
		}
		c.Only, c.Except = nil, nil
		list[i] = c
	}
	return list
}

// concern describes the machines with these codes, from all machines of the factory.
func concern(v Version, asOf, number int64, codes []string, park []machine.Machine) Concern {
	c := Concern{Version: v.Version, AsOf: asOf, Until: number, Nobody: len(codes) == 0}
	if n := len(v.Decisions); n > 0 {
		c.Since = v.Decisions[0].Number
		if last := v.Decisions[n-1]; last.Status == Withdrawn {
			c.Until = min(number, last.Number) // a further signature: no machine could get it since
		}
	}
	if c.Nobody {
		return c
	}
	var except []string
	named := 0
	for _, x := range park {
		if !v.Equipment.named(x, c.Since, c.Until) {
			continue
		}
		if named++; !slices.Contains(codes, x.Code) {
			except = append(except, x.Code)
		}
	}
	if len(except) > len(codes) || named-len(except) < len(codes) {
		c.Only = codes
	} else {
		c.Except = except
	}
	return c
}

// concerns reports whether a withdrawn version concerns a machine.
func (m Method) concerns(version int64, x machine.Machine) bool {
	e := m.equipmentOf(version)
	i := slices.IndexFunc(m.Recalled, func(c Concern) bool { return c.Version == version })
	if i < 0 {
		return e.named(x, 0, maxNumber) // rather one machine too many
	}
	c := m.Recalled[i]
	if slices.ContainsFunc(x.Changes(), func(at machine.Moment) bool { return at.Number > c.AsOf && at.Number <= c.Until }) {
		return e.named(x, c.Since, c.Until) || slices.Contains(c.Only, x.Code) || slices.Contains(c.Also, x.Code)
	}
	switch {
	case c.Nobody:
		return false
	case len(c.Only) > 0:
		return slices.Contains(c.Only, x.Code)
	default:
		return e.named(x, c.Since, c.Until) && !slices.Contains(c.Except, x.Code) || slices.Contains(c.Also, x.Code)
	}
}
