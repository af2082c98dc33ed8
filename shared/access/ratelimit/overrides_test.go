package ratelimit

import (
	"reflect"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
)

// TestHolder_SpaceInTheIssuer_IsAnotherUser: an issuer with a space is nobody's, and must not reach a user of
// an issuer without one.
func TestHolder_SpaceInTheIssuer_IsAnotherUser(t *testing.T) {
	victim := Holder{Kind: Users, ID: "vic 1", Issuer: "https://people.example"}
	other := Holder{Kind: Users, ID: "1", Issuer: "https://people.example vic"}
	if victim.key() == other.key() || victim.subject() == other.subject() {
		t.Errorf("both are counted as %s and kept as %q", victim.key(), other.subject())
	}
	if caller := (auth.Principal{Issuer: victim.Issuer, UserID: victim.ID}); userKey(caller.User()) != victim.key() {
		t.Error("a limit of the user is not the one that counts their calls")
	}
}

func TestOverride_SetAndRemove_DecideByWhatIsArranged(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at, ends := made.Add(time.Hour), made.Add(2*time.Hour)
	eric := Holder{Kind: Users, ID: "eric", Issuer: "https://people.example"}
	terms, others := Terms{Limit: new(1200)}, Terms{Limit: new(50), ExpiresAt: &ends}
	set := func(terms Terms, revision int64, created, updated time.Time) record {
		return record{Subject: eric.subject(), Arrangement: Arrangement{Holder: eric, Terms: terms, CreatedAt: created, UpdatedAt: updated, Revision: revision}}
	}
	removed := record{Subject: eric.subject(), Removed: true, Arrangement: Arrangement{Holder: eric, UpdatedAt: made, Revision: 2}}
	for name, c := range map[string]struct {
		was   record
		at    time.Time
		next  record
		event string
	}{
		"nothing was":             {record{}, at, set(terms, 1, at, at), "RateLimitSet"},
		"the same":                {set(terms, 3, made, made), at, set(terms, 3, made, made), ""},
		"other terms":             {set(others, 3, made, made), at, set(terms, 4, made, at), "RateLimitSet"},
		"one that has expired":    {set(others, 3, made, made), ends, set(terms, 4, ends, ends), "RateLimitSet"},
		"one that was taken back": {removed, at, set(terms, 3, at, at), "RateLimitSet"},
	} {
		if next, event := c.was.set(eric, terms, c.at); !reflect.DeepEqual(next, c.next) || event != c.event {
			t.Errorf("set, %s: got %+v, %q", name, next, event)
		}
	}
	for name, was := range map[string]record{"nothing": {}, "what has expired": set(Terms{ExpiresAt: &made}, 1, made, made), "what was taken back": removed} {
		if _, event, err := was.remove(eric, at); !problem.Has(err, problem.NotFound) || event != "" {
			t.Errorf("remove, %s: got %q, %v", name, event, err)
		}
	}
	next, event, err := set(terms, 3, made, made).remove(eric, at)
	if want := (record{Subject: eric.subject(), Removed: true, Arrangement: Arrangement{Holder: eric, UpdatedAt: at, Revision: 4}}); err != nil || event != "RateLimitRemoved" || !reflect.DeepEqual(next, want) {
		t.Errorf("remove: got %+v, %q, %v", next, event, err)
	}
}
