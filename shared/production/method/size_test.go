package method

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/production/machine"
	"wavegate/shared/testing/expect"
)

// mostEvent is the size of an event below which the store takes it. An event has a row before and after its change.
const mostEvent = 350 << 10

// fits checks the size of a row with its event. JSON is longer than what DynamoDB counts.
func fits(t testing.TB, name string, row any) {
	t.Helper()
	text := expect.Value(json.Marshal(row))(t)
	t.Logf("%s: %d KB", name, len(text)>>10)
	expect.That(t, 2*len(text) < mostEvent, "%s has %d bytes, and its event more than twice that", name, len(text))
}

// long makes different texts of the greatest length, of characters of four bytes.
func long(n, i int) string { return strings.Repeat("𝔵", n-6) + fmt.Sprintf("%06d", i) }

func code(i int) string { return strings.Repeat("m", 58) + fmt.Sprintf("%06d", i) }

func at(minute int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
}

func numbered(n int64) Version {
	hash := strings.Repeat("0", 60) + fmt.Sprintf("%04d", n)
	return Version{MethodID: "m", FactoryID: "f", Version: n, Status: Released, ContentSHA256: hash, Signatures: []Signature{{Meaning: Approval, ContentSHA256: hash}}, Revision: 3}
}

// TestOnMachine_TheLargestRow_FitsTheStore: a machine says that it has each of 300 versions, with 30 orders each, and other bytes.
func TestOnMachine_TheLargestRow_FitsTheStore(t *testing.T) {
	var m OnMachine
	for n := range 300 {
		v := numbered(int64(n + 1))
		for i := range 30 {
			r := Report{Version: v.Version, ContentSHA256: v.ContentSHA256, State: Running, Order: long(64, i), Detail: long(256, i)}
			if i%3 == 0 {
				r.ContentSHA256 = strings.Repeat("f", 58) + fmt.Sprintf("%06d", i)
			}
			next, _, err := m.reported(r, v, i%2 == 0, code(1), at(n))
			expect.OK(t, err)
			m = next
		}
		expect.That(t, !m.clear(v.Version) && m.reports(v.Version), "version %d is clear", v.Version)
	}
	for n := range 300 {
		expect.That(t, m.reports(int64(n+1)), "version %d, which the machine has, is forgotten", n+1)
	}
	for i := range maxConfirmed {
		m.Confirmed = append(m.Confirmed, Confirmation{Version: int64(1000 + i), At: at(i), Reason: long(256, i),
			Person: machine.Person{Issuer: "https://people.example/" + strings.Repeat("p", 100), UserID: strings.Repeat("u", 128), Name: long(100, i)}})
	}
	fits(t, "what a machine said", m)
}

// TestOnMachine_HoweverMuchItSays_IsClearOfNothingThatItHas compares with what it said, however little of that is kept.
func TestOnMachine_HoweverMuchItSays_IsClearOfNothingThatItHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m OnMachine
		has := map[int64]bool{}
		for i := range rapid.IntRange(1, 400).Draw(t, "reports") {
			v := numbered(rapid.Int64Range(1, 60).Draw(t, "version"))
			r := Report{Version: v.Version, ContentSHA256: v.ContentSHA256, State: rapid.SampledFrom([]Doing{Loaded, Running, Running, Finished}).Draw(t, "state"),
				Order: fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "order"))}
			if r.State == Finished {
				r.Order = "" // of all orders
			}
			next, _, err := m.reported(r, v, true, "box", at(i))
			expect.Must(t, err == nil, "%v", err)
			m, has[v.Version] = next, r.State.has()
			for version, does := range has {
				expect.Must(t, m.clear(version) == !does, "version %d: clear %t, and the machine has it: %t", version, m.clear(version), does)
			}
		}
		expect.Must(t, len(m.Versions) <= maxHad && len(m.Orders) <= mostOrders, "%d versions and %d orders are kept", len(m.Versions), len(m.Orders))
	})
}

// TestFits_RefusesApprovalsFirst: with the longest equipment and lists, a method has room for withdrawals after its last approval.
func TestFits_RefusesApprovalsFirst(t *testing.T) {
	var equipment Equipment
	var park []machine.Machine
	for i := range 40 {
		equipment.Classes = append(equipment.Classes, code(i))
	}
	for i := range 600 {
		park = append(park, machine.Machine{Code: code(i)})
	}
	m, approved := Method{Name: long(200, 1)}, 0
	for n := int64(1); m.fits(Withdrawn) == nil; n++ {
		if m.fits(Released) == nil {
			approved++
		}
		v := numbered(n)
		v.Equipment = equipment
		m = m.told(v, at(int(n)))
		m.Recalled = append(m.Recalled, concern(v, 10, 10, []string{code(int(n))}, park))
		m = m.equipped(v)
	}
	expect.That(t, approved >= 30 && len(m.Withdrawals) >= approved+10, "approved with %d withdrawals, refused at %d", approved, len(m.Withdrawals))
}

// TestFitted_ConcernsNoMachineLess: a shorter list never leaves a machine out.
func TestFitted_ConcernsNoMachineLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var park []machine.Machine
		for i := range rapid.IntRange(1, 300).Draw(t, "machines") {
			x := machine.Machine{Code: code(i)}
			if rapid.Bool().Draw(t, "classed") {
				x.Classes, x.ClassTerms = []string{"press"}, []machine.Term{{Class: "press", From: 1}}
			}
			park = append(park, x)
		}
		m := Method{}
		for n := int64(1); n <= 8; n++ {
			v := numbered(n)
			v.Equipment = Equipment{Classes: []string{"press"}}
			m = m.told(v, at(int(n)))
			var codes []string
			for _, x := range park {
				if rapid.Bool().Draw(t, "concerned") {
					codes = append(codes, x.Code)
				}
			}
			m.Recalled = append(m.Recalled, concern(v, 5, 5, codes, park))
			m = m.equipped(v)
			before := m
			m.Recalled = m.fitted(park)
			for _, x := range park {
				expect.Must(t, !before.concerns(n, x) || m.concerns(n, x), "version %d: machine %s hears no more of it", n, x.Code)
			}
		}
	})
}
