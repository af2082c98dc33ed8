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

// report lets a machine's box report on a version: the machine gets the box, and may lose it afterwards.
func (l *lived) report() {
	if len(l.hashes) == 0 {
		return
	}
	code, version := l.anyMachine(), l.anyVersion()
	state := []method.Doing{method.Loaded, method.Running, method.Running, method.Finished, method.Rejected}[l.random.IntN(5)]
	r := method.Report{Version: version, ContentSHA256: l.hashes[version], State: state, Order: []string{"PO-1", "PO-2", ""}[l.random.IntN(3)]}
	if !l.box.here {
		l.away(code, r)
		return
	}
	if !l.put(code, machine.Registration{EdgeID: &l.box.id}) {
		l.Fatal("the machine does not take its box")
	}
	l.named(code)
	l.begin()
	_, err := l.send(code, r)
	l.did("%s reports %s of %d, order %q: %v", code, state, version, r.Order, err)
	if err == nil || problem.Has(err, problem.VersionWithdrawn) {
		l.model.says(version, code, r)
	}
	if _, again := l.send(code, r); fmt.Sprint(again) != fmt.Sprint(err) { // a retry is answered as the first call
		l.Fatalf("%v, and %v again\n%s", err, again, strings.Join(l.log, "\n"))
	}
}

// send sends a report of the box.
func (l *lived) send(code string, r method.Report) (bool, error) {
	return l.methods.ForBoxes(func(_, _ string) bool { return true }).Report(l.ctx, auth.Principal{UserID: l.box.id, Roles: []auth.Role{auth.Edge}},
		origin, l.ref.FactoryID, code, l.ref.MethodID, "", r)
}

// confirm lets a person confirm for a machine, or for two with one signature: for both or for none.
func (l *lived) confirm() {
	if len(l.hashes) == 0 {
		return
	}
	codes, version := slices.Compact(slices.Sorted(slices.Values([]string{l.anyMachine(), l.anyMachine()}))), l.anyVersion()
	must, may := l.model.left(version)
	all, some := true, true
	for _, code := range codes {
		all, some = all && must[code], some && may[code]
	}
	_, err := l.methods.Confirm(l.ctx, engineer, origin, l.at(version), method.Confirmations{Machines: codes, Reason: fmt.Sprint("seen, ", len(l.model.times))})
	l.did("%v are confirmed not to have %d: %v", codes, version, err)
	if open := l.model.withdrawn[version]; err == nil && !(open && some) || err != nil && open && all {
		l.Fatalf("%v, version %d, withdrawn %v: confirmed with %v\n%s", codes, version, open, err, strings.Join(l.log, "\n"))
	}
	for _, code := range codes {
		if err == nil {
			note(l.model.confirmed, version, code)
		}
	}
}

// scrap signs that a machine is gone, or brings it back.
func (l *lived) scrap() {
	code := l.anyMachine()
	x := l.model.machines[code]
	if l.put(code, machine.Registration{Scrapped: "sold", Returned: x.scrapped}) && !x.scrapped {
		x.classes[l.model.now()], x.spoke = map[string]bool{}, map[int64]bool{}
	}
	x.scrapped = !x.scrapped
}

// tidy renames the method, retires or reopens it. It is never retired while a version holds somewhere, and a retired method has no
// further versions.
func (l *lived) tidy() {
	retired := l.random.IntN(2) == 0
	made, err := l.methods.Update(l.ctx, engineer, origin, l.ref, method.Update{Name: fmt.Sprint("Press ", len(l.model.times)), Retired: &retired, Reason: "old"}, input.Preconditions{})
	l.did("retired %v: %v", retired, err)
	holds := slices.ContainsFunc(slices.Collect(maps.Values(l.model.machines)), func(x *notedMachine) bool {
		return slices.ContainsFunc(x.rulings, func(r notedRuling) bool { return !r.ended })
	})
	if err == nil && retired && (holds || made.Retired == nil) {
		l.Fatalf("the method is retired while a version holds\n%s", strings.Join(l.log, "\n"))
	}
}
