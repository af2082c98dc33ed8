package ratelimit

import (
	"reflect"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
)

// TestTarget_SpaceInTheIssuer_IsADifferentUser: no real issuer has a space in its name. Such a
// target must not reach a user of an issuer without one.
func TestTarget_SpaceInTheIssuer_IsADifferentUser(t *testing.T) {
	victim := Target{Kind: Users, ID: "vic 1", Issuer: "https://people.example"}
	other := Target{Kind: Users, ID: "1", Issuer: "https://people.example vic"}
	if victim.key() == other.key() || victim.subject() == other.subject() {
		t.Errorf("both are counted as %s and stored as %q", victim.key(), other.subject())
	}
	if caller := (auth.Principal{Issuer: victim.Issuer, UserID: victim.ID}); userKey(caller.User()) != victim.key() {
		t.Error("a user's override is not in the item that counts their calls")
	}
}

func TestOverride_SetAndRemove_ByPresentOverride(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at, ends := made.Add(time.Hour), made.Add(2*time.Hour)
	eric := Target{Kind: Users, ID: "eric", Issuer: "https://people.example"}
	spec, others := OverrideSpec{Limit: new(1200)}, OverrideSpec{Limit: new(50), ExpiresAt: &ends}
	set := func(spec OverrideSpec, revision int64, created, updated time.Time) record {
		return record{Subject: eric.subject(), Override: Override{Target: eric, OverrideSpec: spec, CreatedAt: created, UpdatedAt: updated, Revision: revision}}
	}
	removed := record{Subject: eric.subject(), Removed: true, Override: Override{Target: eric, UpdatedAt: made, Revision: 2}}
	for name, c := range map[string]struct {
		was   record
		at    time.Time
		next  record
		event string
	}{
		"no override":         {record{}, at, set(spec, 1, at, at), "RateLimitSet"},
		"the same":            {set(spec, 3, made, made), at, set(spec, 3, made, made), ""},
		"other spec":          {set(others, 3, made, made), at, set(spec, 4, made, at), "RateLimitSet"},
		"an expired override": {set(others, 3, made, made), ends, set(spec, 4, ends, ends), "RateLimitSet"},
		"a removed override":  {removed, at, set(spec, 3, at, at), "RateLimitSet"},
	} {
		if next, event := c.was.set(eric, spec, c.at); !reflect.DeepEqual(next, c.next) || event != c.event {
			t.Errorf("set, %s: got %+v, %q", name, next, event)
		}
	}
	for name, was := range map[string]record{"nothing": {}, "an expired override": set(OverrideSpec{ExpiresAt: &made}, 1, made, made), "a removed override": removed} {
		if _, event, err := was.remove(eric, at); !problem.Has(err, problem.NotFound) || event != "" {
			t.Errorf("remove, %s: got %q, %v", name, event, err)
		}
	}
	next, event, err := set(spec, 3, made, made).remove(eric, at)
	if want := (record{Subject: eric.subject(), Removed: true, Override: Override{Target: eric, UpdatedAt: at, Revision: 4}}); err != nil || event != "RateLimitRemoved" || !reflect.DeepEqual(next, want) {
		t.Errorf("remove: got %+v, %q, %v", next, event, err)
	}
}
