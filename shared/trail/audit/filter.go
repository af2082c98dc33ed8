package audit

import (
	"net/url"
	"slices"
	"time"

	"wavegate/shared/platform/input"
)

// A Filter says which events of a stream to list. An empty field matches any event.
type Filter struct {
	// From and To bound the time: From is included, To is not. They are rounded up to whole
	// milliseconds, the precision of events, which does not change what they match.
	From, To time.Time
	// ResourceType and ResourceID name one resource; both or neither are set. The type Boxes may
	// be set alone.
	ResourceType, ResourceID string
	// ActorIssuer and ActorUserID name one user; both or neither are set, because two issuers
	// can have users with the same id.
	ActorIssuer, ActorUserID string
}

// wordRule is the rule of resource types. A type that matches nothing is valid, and the list is
// empty.
var wordRule = &input.Text{Pattern: `[a-z][a-z-]{0,63}`, Says: "a type of resource such as rollout or release-channel"}

// FilterOf reads the query parameters from, to, resourceType, resourceId, actorIssuer and
// actorUserId. The types in alone need no resourceId.
func FilterOf(in *input.Reader, alone ...string) Filter {
	f := Filter{From: timeOf(in, "from"), To: timeOf(in, "to")}
	if !f.From.IsZero() && !f.To.IsZero() && f.From.After(f.To) {
		in.Fault("from", "range", "must not be after to")
	}
	f.ResourceType, f.ResourceID = pairOf(in, "resourceType", wordRule, "resourceId", alone...)
	f.ActorIssuer, f.ActorUserID = pairOf(in, "actorIssuer", input.ID, "actorUserId")
	return f
}

// timeOf reads a time and rounds it up to milliseconds. A time outside the years 1 to 9999
// becomes the nearest time inside, because no event is outside.
func timeOf(in *input.Reader, name string) time.Time {
	raw, _ := in.Query(name, input.Time)
	if raw == "" {
		return time.Time{}
	}
	t := input.ParseTime(raw)
	if cut := t.Truncate(time.Millisecond); cut.Before(t) {
		t = cut.Add(time.Millisecond)
	}
	switch {
	case t.Before(firstTime):
		return firstTime
	case t.After(lastTime):
		return lastTime
	}
	return t
}

// The zero time means that no time is given, so the earliest bound is one millisecond later.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 1e6, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
)

// pairOf reads two parameters that are only valid together; the second is an id. Values of the first that are listed
// in alone need no second one.
func pairOf(in *input.Reader, first string, rule *input.Text, second string, alone ...string) (a, b string) {
	a, hasA := in.Query(first, rule)
	b, hasB := in.Query(second, input.ID)
	switch {
	case hasA && !hasB && !slices.Contains(alone, a):
		in.Fault(second, "required", "is required together with "+first)
	case hasB && !hasA:
		in.Fault(first, "required", "is required together with "+second)
	}
	return a, b
}

// Values returns the filter as query parameters.
func (f Filter) Values() url.Values {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(timeFormat)
	}
	return input.Values("resourceType", f.ResourceType, "resourceId", f.ResourceID, "actorIssuer", f.ActorIssuer, "actorUserId", f.ActorUserID,
		"from", at(f.From), "to", at(f.To))
}
