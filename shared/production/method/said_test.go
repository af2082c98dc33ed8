package method

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
	"wavegate/shared/testing/expect"
)

// approvedVersion is a version that somebody approved.
func approvedVersion(n int64) Version {
	return Version{MethodID: "m", FactoryID: "f", Version: n, Status: Released, ContentSHA256: "right", Revision: 3,
		Signatures: []Signature{{Meaning: Approval, ContentSHA256: "right"}}}
}

// word writes what was said about version 1.
func word(m OnMachine) string {
	x := m.Shown(1)
	var all []string
	for _, o := range x.Orders {
		all = append(all, o.Order)
	}
	text := fmt.Sprintf("%s %v", x.State, all)
	if x.OrdersUnlisted {
		text += " and more"
	}
	if x.Deviates != nil {
		text += " deviates with " + x.Deviates.ContentSHA256
	}
	if x.Confirmed != nil {
		text += " confirmed by " + x.Confirmed.UserID
	}
	if m.clear(1) {
		text += " clear"
	}
	return text
}

// after plays reports, each as "state order"; with "!" the version does not hold, and with "?" or "??" the bytes are others.
func after(t *testing.T, reports string) (m OnMachine, events []string) {
	t.Helper()
	at := hour(1)
	for report := range strings.SplitSeq(reports, ", ") {
		at = at.Add(time.Minute)
		state, order, _ := strings.Cut(strings.Trim(report, "!?"), " ")
		v, r := approvedVersion(1), Report{Version: 1, ContentSHA256: "right", State: Doing(state), Order: order}
		if others := strings.Count(report, "?"); others > 0 {
			r.ContentSHA256 = []string{"wrong", "worse"}[others-1]
		}
		next, event, err := m.reported(r, v, !strings.HasSuffix(report, "!"), "box-1", at)
		expect.OK(t, err)
		m, events = next, append(events, event)
	}
	return m, events
}

func TestReported_OrdersAndDeviations_AreKept(t *testing.T) {
	for reports, want := range map[string]string{
		"loaded":                           "loaded []",
		"loaded, finished":                 "finished [] clear",
		"running A, finished A":            "finished [] clear",
		"running A, running B, finished A": "running [B]",
		"running A, running B, finished A, finished B":          "finished [] clear",
		"running A, running B, finished":                        "finished [] clear",
		"running A, loaded":                                     "running [A]",
		"running A, refused B":                                  "running [A]",
		"running, finished A":                                   "running []",
		"running, finished":                                     "finished [] clear",
		"running A!":                                            "running [A] deviates with right",
		"running A, running A!":                                 "running [A]",
		"running A, running B!":                                 "running [A B] deviates with right",
		"loaded, loaded!":                                       "loaded []",
		"loaded!, finished":                                     "finished [] clear",
		"running A!, running A":                                 "running [A]",
		"loaded, running A?":                                    "loaded [] deviates with wrong",
		"finished, running A?":                                  "finished [] deviates with wrong",
		"running A?, finished A?":                               " []",
		"running A?, finished A":                                "finished [] deviates with wrong",
		"running A?, running A":                                 "running [A]",
		"running A?, running B":                                 "running [B] deviates with wrong",
		"running A?, loaded":                                    "loaded [] deviates with wrong",
		"running A?, loaded, finished":                          "finished [] deviates with wrong",
		"loaded?, loaded":                                       "loaded []",
		"loaded, finished, running A?, running B?, finished B?": "finished [] deviates with wrong",
		"running A?, running B?, finished B?, finished A?":      " []",
		"running A?, running B?, finished?":                     " []",
		"running A?, running B!, finished B":                    "finished [] deviates with wrong",
		"finished, running A?, running B??, finished B??":       "finished [] deviates with wrong",
		"finished, loaded?, running B??, finished B??":          "finished [] deviates with wrong",
		"loaded?, running A?, finished A?":                      " []",
	} {
		t.Run(reports, func(t *testing.T) {
			m, _ := after(t, reports)
			expect.Equal(t, word(m), want, "got")
		})
	}
}

func TestReported_Deviation_IsItsOwnEventOnce(t *testing.T) {
	_, events := after(t, "running A?, running A?, running B!, running B!, finished B, running C?, running A?, running C?")
	want := []string{MachineDeviates, "", MachineDeviates, "", doings[Finished], MachineDeviates, "", ""}
	expect.That(t, strings.Join(events, " ") == strings.Join(want, " "), "got %q, want %q", events, want)
}

func TestReported_BeyondTheListOfOrders_HasItUntilAllAreFinished(t *testing.T) {
	var reports []string
	for i := range maxOrders + 1 {
		reports = append(reports, fmt.Sprint("running ", i))
	}
	for i := range maxOrders + 1 {
		reports = append(reports, fmt.Sprint("finished ", i))
	}
	m, _ := after(t, strings.Join(reports, ", "))
	expect.Equal(t, word(m), "running [] and more", "got")
	m, _ = after(t, strings.Join(append(reports, "finished"), ", "))
	expect.Equal(t, word(m), "finished [] clear", "once all are finished:")
}

// TestReported_BeyondTheListOfOtherBytes_HasItUntilAllAreFinished: 21 orders run with other bytes.
func TestReported_BeyondTheListOfOtherBytes_HasItUntilAllAreFinished(t *testing.T) {
	var reports []string
	for _, state := range []Doing{Running, Finished} {
		for i := range maxOrders + 1 {
			reports = append(reports, fmt.Sprintf("%s %d?", state, i))
		}
	}
	m, _ := after(t, strings.Join(reports, ", "))
	expect.Equal(t, word(m), " [] and more", "got")
	expect.Equal(t, len(m.OtherBytes), 0, "orders listed")
	m, _ = after(t, strings.Join(append(reports[:maxOrders+1], "finished"), ", "))
	expect.Equal(t, word(m), "running [] and more deviates with wrong", "while the listed ones run:")
	m, _ = after(t, strings.Join(append(reports[:maxOrders+1], "finished?", "finished"), ", "))
	expect.Equal(t, word(m), "finished [] clear", "once all are finished:")
}

// TestReported_ManyVersions_ForgetNoneThatTheMachineHas: the first is running, and all others are finished.
func TestReported_ManyVersions_ForgetNoneThatTheMachineHas(t *testing.T) {
	m, _ := after(t, "running A")
	for n := int64(2); n <= 60; n++ {
		state := Finished
		if n%2 == 0 {
			state = Loaded
		}
		next, _, err := m.reported(Report{Version: n, ContentSHA256: "right", State: state}, approvedVersion(n), true, "box-1", hour(2))
		expect.OK(t, err)
		m = next
	}
	for n := int64(1); n <= 60; n++ {
		got, want := m.clear(n), n%2 == 1 && n > 1
		expect.That(t, got == want, "version %d: clear %v", n, got)
	}
}

func TestConfirm_ByWhatWasSaid(t *testing.T) {
	by := func(user, reason string) Confirmation {
		return Confirmation{Version: 1, Person: machine.Person{UserID: user}, At: hour(3), Reason: reason}
	}
	for name, c := range map[string]struct {
		said  OnMachine
		by    Confirmation
		event string
		code  problem.Code
	}{
		"nothing was said":      {OnMachine{}, by("eric", "seen"), "MachineConfirmedByPerson", ""},
		"the machine has it":    {first(after(t, "running A")), by("eric", "seen"), "MachineConfirmedByPerson", ""},
		"the machine is clear":  {first(after(t, "finished")), by("eric", "seen"), "", problem.InvalidStateTransition},
		"the same again":        {OnMachine{Confirmed: []Confirmation{by("eric", "seen")}}, by("eric", "seen"), "", ""},
		"another person, again": {OnMachine{Confirmed: []Confirmation{by("eric", "seen")}}, by("anna", "seen"), "", problem.InvalidStateTransition},
	} {
		t.Run(name, func(t *testing.T) {
			next, event, err := c.said.confirm(approvedVersion(1), "press-1", c.by)
			if event != c.event || (err == nil) != (c.code == "") || err != nil && !problem.Has(err, c.code) {
				t.Errorf("got %q, %v", event, err)
			}
			if err == nil && !next.clear(1) {
				t.Errorf("it is not clear: %s", word(next))
			}
		})
	}
}

func TestConfirm_MachineThatHasItLater_IsNotClear(t *testing.T) {
	m, _, err := OnMachine{}.confirm(approvedVersion(1), "press-1", Confirmation{Version: 1, At: hour(3)})
	expect.OK(t, err)
	m, _, err = m.reported(Report{Version: 1, ContentSHA256: "right", State: Loaded}, approvedVersion(1), true, "box-1", hour(4))
	if err != nil || m.clear(1) {
		t.Errorf("got %s, %v", word(m), err)
	}
}

// TestConfirm_ManyVersions_StayConfirmed: the machine had said that it has the first one, with the right and other bytes.
func TestConfirm_ManyVersions_StayConfirmed(t *testing.T) {
	m, _ := after(t, "running A?, running B?, running C")
	for n := int64(1); n <= maxConfirmed+1; n++ {
		next, _, err := m.confirm(approvedVersion(n), "press-1", Confirmation{Version: n, At: hour(2).Add(time.Duration(n) * time.Minute)})
		expect.OK(t, err)
		m = next
		expect.That(t, m.clear(1), "after %d confirmations, version 1 is %s", n, word(m))
	}
}

func first(m OnMachine, _ []string) OnMachine { return m }

// TestClear_OfWhatIsStored_IsNotClearIfAnythingSaysSo, also in a combination that no call stores.
func TestClear_OfWhatIsStored_IsNotClearIfAnythingSaysSo(t *testing.T) {
	reported := func(s Doing, at time.Time) []Said { return []Said{{Version: 1, State: s, Since: at}} }
	for name, c := range map[string]struct {
		said OnMachine
		want bool
	}{
		"finished":                             {OnMachine{Versions: reported(Finished, hour(2))}, true},
		"finished, and an order is kept":       {OnMachine{Versions: reported(Finished, hour(2)), Orders: []RunningOrder{{Version: 1, Order: "A"}}}, false},
		"finished, and another version has it": {OnMachine{Versions: reported(Finished, hour(2)), Orders: []RunningOrder{{Version: 2, Order: "A"}}}, true},
		"finished, and orders are not listed":  {OnMachine{Versions: reported(Finished, hour(2)), Unlisted: []int64{1}}, false},
		"confirmed, and then running":          {OnMachine{Versions: reported(Running, hour(2)), Confirmed: []Confirmation{{Version: 1, At: hour(1)}}}, false},
		"confirmed while it was running":       {OnMachine{Versions: reported(Running, hour(1)), Confirmed: []Confirmation{{Version: 1, At: hour(2)}}}, true},
		"confirmed, and then finished":         {OnMachine{Versions: reported(Finished, hour(2)), Confirmed: []Confirmation{{Version: 1, At: hour(1)}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, c.said.clear(1), c.want, "clear:")
			again := Confirmation{Version: 1, At: hour(3)}
			next, _, err := c.said.confirm(approvedVersion(1), "press-1", again)
			if !c.want && (err != nil || !next.clear(1)) && len(c.said.Confirmed) > 0 {
				t.Errorf("a person cannot confirm it again: %+v, %v", next, err)
			}
		})
	}
}

// TestReported_ListsThatBecomeEmpty_AreMissing, as in the JSON whose hash is stored.
func TestReported_ListsThatBecomeEmpty_AreMissing(t *testing.T) {
	m, _ := after(t, "running A?, running A, finished A")
	expect.That(t, m.Orders == nil && m.Deviations == nil && m.Confirmed == nil && m.Gone == nil && m.Unlisted == nil,
		"got %#v", m)
}
