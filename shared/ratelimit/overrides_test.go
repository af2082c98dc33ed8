package ratelimit

import (
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestTarget_SpaceInTheIssuer_IsADifferentUser: no real issuer has a space in its name. Such a
// target must not reach a user of an issuer without one.
func TestTarget_SpaceInTheIssuer_IsADifferentUser(t *testing.T) {
	victim := Target{Kind: Users, ID: "vic 1", Issuer: "https://people.example"}
	other := Target{Kind: Users, ID: "1", Issuer: "https://people.example vic"}
	if victim.key() == other.key() || victim.subject() == other.subject() {
		t.Errorf("both are counted as %s and stored as %q", victim.key(), other.subject())
	}
	expect.Equal(t, userKey((auth.Principal{Issuer: victim.Issuer, UserID: victim.ID}).User()), victim.key(), "a user's override is not in the item that counts their calls")
}

func TestReadOverrideSpec_EndAfterTheYear9999InUTC_IsRefused(t *testing.T) {
	for text, want := range map[string]int{"9999-12-31T23:59:59Z": 0, "9999-12-31T23:59:59-00:01": 1} {
		_, faults := input.Parse([]byte(`{"limit":5,"expiresAt":"`+text+`"}`), ReadOverrideSpec)
		expect.Equal(t, len(faults), want, "faults of an end at %s:", text)
	}
}

func TestOverride_SetAndRemove_ByPresentOverride(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at, ends := made.Add(time.Hour), made.Add(2*time.Hour)
	eric := Target{Kind: Users, ID: "eric", Issuer: "https://people.example"}
	spec, others := OverrideSpec{Limit: new(1200)}, OverrideSpec{Limit: new(50), ExpiresAt: &ends}
	past := OverrideSpec{ExpiresAt: &made}
	set := func(spec OverrideSpec, revision int64, created, updated time.Time) record {
		return record{Subject: eric.subject(), Override: Override{
			Target: eric, OverrideSpec: spec, CreatedAt: created, UpdatedAt: updated, Revision: revision}}
	}
	removed := record{Subject: eric.subject(), Removed: true, Override: Override{Target: eric, UpdatedAt: made, Revision: 2}}
	removedAgain := record{Subject: eric.subject(), Removed: true, Override: Override{Target: eric, UpdatedAt: at, Revision: 4}}
	for name, c := range map[string]struct {
		was     record
		spec    *OverrideSpec // nil: it is removed
		at      time.Time
		next    record
		event   string
		missing bool
	}{
		"no override":             {record{}, &spec, at, set(spec, 1, at, at), "RateLimitSet", false},
		"the same":                {set(spec, 3, made, made), &spec, at, set(spec, 3, made, made), "", false},
		"other spec":              {set(others, 3, made, made), &spec, at, set(spec, 4, made, at), "RateLimitSet", false},
		"an expired override":     {set(others, 3, made, made), &spec, ends, set(spec, 4, ends, ends), "RateLimitSet", false},
		"a removed override":      {removed, &spec, at, set(spec, 3, at, at), "RateLimitSet", false},
		"remove":                  {set(spec, 3, made, made), nil, at, removedAgain, "RateLimitRemoved", false},
		"remove nothing":          {record{}, nil, at, record{}, "", true},
		"remove what has expired": {set(past, 1, made, made), nil, at, set(past, 1, made, made), "", true},
		"remove what is removed":  {removed, nil, at, removed, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var next record
			var event string
			var err error
			if c.spec != nil {
				next, event = c.was.set(eric, *c.spec, c.at)
			} else {
				next, event, err = c.was.remove(eric, c.at)
			}
			expect.Equal(t, next, c.next, "the next record")
			expect.Equal(t, event, c.event, "the event is")
			expect.Equal(t, problem.Has(err, problem.NotFound), c.missing, "not found:")
			expect.Equal(t, err != nil, c.missing, "failed:")
		})
	}
}
