package chain_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/production/chain"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// people holds the personal values of the version's events below.
type people struct{ address, user, name string }

func drawPeople(t *rapid.T) people {
	return people{
		rapid.SampledFrom([]string{"192.0.2.7", "2001:db8::1"}).Draw(t, "address"),
		rapid.StringMatching(`user-[a-zé~/"]{1,20}`).Draw(t, "user"),
		rapid.StringMatching(`Name [A-Za-zäß <>/~"]{1,30}`).Draw(t, "name"),
	}
}

// signed makes one change to a version with an author and a signature of the same person.
func signed(t *rapid.T, p people) (method, version audit.Event) {
	person := map[string]any{"issuer": "https://people.example", "userId": p.user}
	after := map[string]any{
		"name": "not a person", "authors": []any{person},
		"signatures": []any{map[string]any{"issuer": "https://people.example", "userId": p.user, "name": p.name, "reason": "tested"}},
	}
	salted := func(e audit.Event) audit.Event {
		entry := expect.Value(chain.EntryOf(e).Salted())(t)
		e.Salts = entry.Salts
		return e
	}
	base := audit.Event{
		EventName: "Signed", SourceIP: p.address, RequestID: "r",
		Actor: audit.Actor{Issuer: "https://people.example", UserID: p.user, Roles: []auth.Role{auth.ProductionEngineer}},
	}
	version, method = base, base
	version.Resource, version.After = audit.Resource{Type: "version", ID: "m:1", Revision: 1}, after
	method.Resource, method.After = audit.Resource{Type: "method", ID: "m", Revision: 1}, map[string]any{"name": "Press"}
	version, method = salted(version), salted(method)
	next := expect.Value(chain.Next("", chain.EntryOf(version), chain.EntryOf(method)))(t)
	method.After = map[string]any{"name": "Press", "trailSha256": next}
	return method, version
}

func whole(t *rapid.T, method, version audit.Event) bool {
	links, err := chain.Check([]audit.Event{method}, []audit.Event{version})
	expect.Must(t, err == nil && len(links) == 1, "%v, %v", links, err)
	return links[0].Fault == ""
}

// set replaces the value at a JSON Pointer of an event. It returns the event and the old value.
func set(t *rapid.T, e audit.Event, pointer, value string) (changed audit.Event, was string) {
	text, err := json.Marshal(e)
	expect.OK(t, err)
	var root any
	expect.OK(t, json.Unmarshal(text, &root))
	at, steps := root, strings.Split(pointer, "/")[1:]
	for _, step := range steps[:len(steps)-1] {
		if list, is := at.([]any); is {
			at = list[int(step[0]-'0')]
		} else {
			at = at.(map[string]any)[step]
		}
	}
	last := at.(map[string]any)
	was = last[steps[len(steps)-1]].(string)
	last[steps[len(steps)-1]] = value
	if text, err = json.Marshal(root); err == nil {
		err = json.Unmarshal(text, &changed)
	}
	expect.OK(t, err)
	return changed, was
}

func TestSalted_AddressesUserIDsAndNamesOfPeople_HaveSalts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		method, version := signed(t, drawPeople(t))
		if got := slices.Sorted(maps.Keys(method.Salts)); !slices.Equal(got, []string{"/actor/userId", "/sourceIp"}) {
			t.Errorf("of the method: %q", got)
		}
		want := []string{"/actor/userId", "/after/authors/0/userId", "/after/signatures/0/name", "/after/signatures/0/userId", "/sourceIp"}
		got := slices.Sorted(maps.Keys(version.Salts))
		expect.That(t, slices.Equal(got, want), "of the version: %q", got)
	})
}

func TestCheck_ChangedPersonalValue_IsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		method, version := signed(t, drawPeople(t))
		expect.Must(t, whole(t, method, version), "the unchanged chain has a fault")
		at := rapid.SampledFrom(slices.Sorted(maps.Keys(version.Salts))).Draw(t, "at")
		changed, _ := set(t, version, at, rapid.String().Draw(t, "value")+"!")
		expect.That(t, !whole(t, method, changed), "%s was changed, and nobody notices", at)
		delete(changed.Salts, at)
		expect.That(t, !whole(t, method, changed), "%s was changed and its salt removed, and nobody notices", at)
	})
}

func TestCheck_ErasedPersonalValues_LeaveTheChainWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPeople(t)
		method, version := signed(t, p)
		erased := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(version.Salts))), 1, len(version.Salts), rapid.ID[string]).Draw(t, "erased")
		for _, at := range erased {
			_, was := set(t, version, at, "")
			pseudonym, ok := chain.Pseudonym(version.Salts[at], was)
			expect.Must(t, ok, "%s has no pseudonym", at)
			version, _ = set(t, version, at, pseudonym)
			delete(version.Salts, at)
		}
		expect.That(t, whole(t, method, version), "without %q, the chain is broken", erased)
		text := expect.Value(json.Marshal(version))(t)
		if slices.Contains(erased, "/sourceIp") && strings.Contains(string(text), p.address) {
			t.Errorf("the erased address is still in %s", text)
		}
	})
}

func TestPseudonym_TwoEventsOfOnePerson_DoNotHaveTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPeople(t)
		method, version := signed(t, p)
		again, _ := signed(t, p)
		seen := map[string]bool{}
		for _, salt := range []string{
			method.Salts["/actor/userId"], version.Salts["/actor/userId"], again.Salts["/actor/userId"],
			version.Salts["/after/authors/0/userId"], version.Salts["/after/signatures/0/userId"],
		} {
			pseudonym, ok := chain.Pseudonym(salt, p.user)
			if !ok || seen[pseudonym] {
				t.Fatalf("salt %q: pseudonym %q, seen before: %v", salt, pseudonym, seen[pseudonym])
			}
			seen[pseudonym] = true
		}
	})
}

// The expected value was made with other software (Python's hmac), as an auditor might do.
func TestPseudonym_IsHMACSHA256InBase64URL(t *testing.T) {
	if got, ok := chain.Pseudonym("AAECAwQFBgcICQoLDA0ODw", "Erika Müller"); !ok || got != "0uCgoXcp3NjdLTr9uhq5ZAIvqX0Id97PTvVk8_WC8aU" {
		t.Errorf("%q, %v", got, ok)
	}
	for _, salt := range []string{"", "AAEC", "AAECAwQFBgcICQoLDA0ODw==", "ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ"} {
		got, ok := chain.Pseudonym(salt, "Erika Müller")
		expect.That(t, !ok, "salt %q: %q", salt, got)
	}
}
