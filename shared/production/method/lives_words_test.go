package method_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
)

// report lets a machine's box report on a version, at times with other bytes: the machine gets the box, and may lose it
// afterwards.
func (l *lived) report() action {
	if len(l.hashes) == 0 {
		return nothing
	}
	code, version := l.anyMachine(), l.anyVersion()
	state := []method.Doing{method.Loaded, method.Running, method.Running, method.Finished, method.Rejected}[l.random.IntN(5)]
	r := method.Report{Version: version, ContentSHA256: l.hashes[version], State: state, Order: []string{"PO-1", "PO-2", ""}[l.random.IntN(3)]}
	right := l.random.IntN(3) > 0
	if !right {
		r.ContentSHA256 = strings.Repeat([]string{"a", "b"}[l.random.IntN(2)], 64)
	}
	if !l.box.here {
		l.away(code, r)
		return nothing
	}
	if !l.put(code, machine.Registration{EdgeID: &l.box.id}) {
		l.Fatal("the machine does not take its box")
	}
	l.goOn(l.made(nothing))
	l.named(code)
	stored := false
	return action{
		call: func() {
			_, err := l.send(code, r)
			l.did("%s reports %s of %d, order %q, right %v: %v", code, state, version, r.Order, right, err)
			stored = err == nil || problem.Has(err, problem.VersionWithdrawn) || problem.Has(err, problem.ContentChanged)
			if l.atOnce {
				return
			}
			if _, again := l.send(code, r); fmt.Sprint(again) != fmt.Sprint(err) { // a retry is answered as the first call
				l.Errorf("%v, and %v again\n%s", err, again, strings.Join(l.log, "\n"))
			}
		},
		then: func(m *model) string {
			if stored {
				m.says(version, code, r, right)
			}
			return ""
		},
	}
}

// send sends a report of the box.
func (l *lived) send(code string, r method.Report) (bool, error) {
	return l.methods.ForBoxes(func(_, _ string) bool { return true }).Report(l.ctx, auth.Principal{UserID: l.box.id, Roles: []auth.Role{auth.Edge}},
		origin, l.ref.FactoryID, code, l.ref.MethodID, "", r)
}

// confirm lets a person confirm for a machine, or for two with one signature: for both or for none.
func (l *lived) confirm() action {
	if len(l.hashes) == 0 {
		return nothing
	}
	codes, version := slices.Compact(slices.Sorted(slices.Values([]string{l.anyMachine(), l.anyMachine()}))), l.anyVersion()
	reason := fmt.Sprint("seen, ", len(l.model().times))
	var err error
	return action{
		call: func() {
			_, err = l.methods.Confirm(l.ctx, engineer, origin, l.at(version), method.Confirmations{Machines: codes, Reason: reason})
			l.did("%v are confirmed not to have %d: %v", codes, version, err)
		},
		then: func(m *model) string {
			must, may := m.left(version)
			all, some := true, true
			for _, code := range codes {
				all, some = all && must[code], some && may[code]
			}
			if open := m.withdrawn[version]; err == nil && !(open && some) || err != nil && open && all {
				return fmt.Sprintf("%v, version %d, withdrawn %v: confirmed with %v", codes, version, open, err)
			}
			for _, code := range codes {
				if err == nil {
					note(m.confirmed, version, code)
				}
			}
			return ""
		},
	}
}

// scrap signs that a machine is gone, or brings it back.
func (l *lived) scrap() action {
	code := l.anyMachine()
	gone := l.model().machines[code].scrapped
	return l.registers(code, machine.Registration{Scrapped: "sold", Returned: gone}, func(m *model) {
		x := m.machines[code]
		if !gone {
			x.classes[m.now()], x.spoke = map[string]bool{}, map[int64]bool{}
		}
		x.scrapped = !gone
	})
}

// tidy renames the method, retires or reopens it. It is never retired while a version holds somewhere, and a retired method has no
// further versions.
func (l *lived) tidy() action {
	retired := l.random.IntN(2) == 0
	name := fmt.Sprint("Press ", len(l.model().times))
	var made method.Made
	var err error
	return action{
		call: func() {
			made, err = l.methods.Update(l.ctx, engineer, origin, l.ref, method.Update{Name: name, Retired: &retired, Reason: "old"}, input.Preconditions{})
			l.did("retired %v: %v", retired, err)
		},
		then: func(m *model) string {
			holds := slices.ContainsFunc(slices.Collect(maps.Values(m.machines)), func(x *notedMachine) bool {
				return slices.ContainsFunc(x.rulings, func(r notedRuling) bool { return !r.ended })
			})
			if err == nil && retired && (holds || made.Retired == nil) {
				return "the method is retired while a version holds"
			}
			return ""
		},
	}
}
