package method

import (
	"strings"
	"testing"

	"wavegate/shared/production/machine"
	"wavegate/shared/testing/expect"
)

// TestCouldHave_AMachine_HadTheVersionWhileItHeld: version 1 was released at the change 1 and superseded by
// version 2. press-2 got the class after that, so it had version 1 only if that was reinstated.
func TestCouldHave_AMachine_HadTheVersionWhileItHeld(t *testing.T) {
	press := func(code string, from int64) machine.Machine {
		return machine.Machine{Code: code, Classes: []string{"press"}, ClassTerms: []machine.Term{{Class: "press", From: from, FromAt: hour(int(from))}},
			Admissions: []machine.Admission{{Number: 9, At: hour(9)}}}
	}
	park := []machine.Machine{press("press-1", 1), press("press-2", 4), {Code: "saw-1", Classes: []string{"saw"}}}
	signed := func(m Meaning, at int) Signature { return Signature{Meaning: m, ContentSHA256: "right", At: hour(at)} }
	released := func(n int64, at int) Version {
		from := hour(at)
		return Version{Version: n, Status: Released, ContentSHA256: "right", Equipment: Equipment{Classes: []string{"press"}},
			Signatures: []Signature{signed(Approval, at)}, Decisions: []Decided{{Status: Released, Number: int64(at), At: from, From: &from}}}
	}
	withdrawn := func(v Version, recorded ...Decided) Version {
		v.Status, v.Signatures, v.Decisions = Withdrawn, append(v.Signatures, signed(Responsibility, 6)), append(v.Decisions, recorded...)
		return v
	}
	for name, c := range map[string]struct {
		first, second Version
		want          string
	}{
		"all is recorded":             {released(1, 2), released(2, 3), "press-1"},
		"a withdrawal is recorded":    {released(1, 2), withdrawn(released(2, 3), Decided{Status: Withdrawn, Number: 6, At: hour(6)}), "press-1"},
		"a reinstatement is recorded": {released(1, 2), withdrawn(released(2, 3), Decided{Status: Withdrawn, Number: 6, At: hour(6), Reinstates: 1}), "press-1 press-2"},
	} {
		t.Run(name, func(t *testing.T) {
			got := couldHave(c.first, []Version{c.first, c.second}, park, hour(12))
			expect.Equal(t, strings.Join(got, " "), c.want, "the machines")
		})
	}
}

// TestConcerns_AMachineThatChangesMeanwhile_IsToldIfItWasListed: press-1 and saw-1 were scrapped at the change 6, between the look at all machines, at
// 5, and the withdrawal, at 7. saw-1 had reported the version although no step names it.
func TestConcerns_AMachineThatChangesMeanwhile_IsToldIfItWasListed(t *testing.T) {
	gone := func(code string, terms ...machine.Term) machine.Machine {
		return machine.Machine{Code: code, ClassTerms: terms, Scrapped: &machine.Scrapping{Number: 6, At: hour(6)}}
	}
	press, saw := gone("press-1", machine.Term{Class: "press", From: 1, FromAt: hour(1), To: 6, ToAt: new(hour(6))}), gone("saw-1")
	other := gone("saw-2")
	v := Version{Version: 1, Equipment: Equipment{Classes: []string{"press"}}, Decisions: []Decided{{Status: Released, Number: 2, At: hour(2)}}}
	m := Method{Withdrawals: []Withdrawal{{Version: 1}}, Equipment: []VersionEquipment{{1, v.Equipment}}}
	m.Recalled = []Concern{concern(v, 5, 7, []string{"press-1", "saw-1"}, []machine.Machine{press, saw, other})}
	for x, want := range map[*machine.Machine]bool{&press: true, &saw: true, &other: false} {
		expect.Equal(t, m.concerns(1, *x), want, "%s is told", x.Code)
	}
}
