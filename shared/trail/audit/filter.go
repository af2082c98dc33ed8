package audit

import (
	"net/url"
	"slices"
	"time"

	"wavegate/shared/platform/request"
	"wavegate/shared/platform/value"
)

// A Filter says which events of a stream to list; what is empty is any.
type Filter struct {
	// From and To bound the time: From is included, To is not. They are cut to the milliseconds that
	// events have, upwards, so that each keeps its meaning.
	From, To time.Time
	// ResourceType and ResourceID name one resource, both or neither; but for Boxes, which can stand alone.
	ResourceType, ResourceID string
	// ActorIssuer and ActorUserID name one user, both or neither: two issuers can have users of the
	// same id.
	ActorIssuer, ActorUserID string
}

// WordRule is the rule of resource types. A type that matches nothing is no fault: the list is empty.
var WordRule = &value.Text{Pattern: `[a-z][a-z-]{0,63}`, Says: "a type of resource such as rollout or release-channel"}

// FilterOf reads the query parameters from, to, resourceType, resourceId, actorIssuer and actorUserId. The
// types alone need no resourceId beside them.
func FilterOf(in *request.Input, alone ...string) Filter {
	f := Filter{From: timeOf(in, "from"), To: timeOf(in, "to")}
	if !f.From.IsZero() && !f.To.IsZero() && f.From.After(f.To) {
		in.Fault("from", "range", "must not be after to")
	}
	f.ResourceType, f.ResourceID = pairOf(in, "resourceType", WordRule, "resourceId", alone...)
	f.ActorIssuer, f.ActorUserID = pairOf(in, "actorIssuer", value.ID, "actorUserId")
	return f
}

// timeOf reads a time as the first millisecond that is not before it. A time out of the years 1 to
// 9999 becomes the nearest one within: nothing ever happened, or will, beyond.
func timeOf(in *request.Input, name string) time.Time {
	raw, _ := in.Query(name, value.Time)
	if raw == "" {
		return time.Time{}
	}
	t := value.ParseTime(raw)
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

// The zero time stands for none, so the first time that can be asked for is one millisecond later.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 1e6, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
)

// pairOf reads two parameters that only mean something together, but for the values of the first that may
// stand alone.
func pairOf(in *request.Input, first string, rule *value.Text, second string, alone ...string) (a, b string) {
	a, hasA := in.Query(first, rule)
	b, hasB := in.Query(second, value.ID)
	switch {
	case hasA && !hasB && !slices.Contains(alone, a):
		in.Fault(second, "required", "is required beside "+first)
	case hasB && !hasA:
		in.Fault(first, "required", "is required beside "+second)
	}
	return a, b
}

// Values is the filter as query parameters.
func (f Filter) Values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{
		"resourceType": f.ResourceType, "resourceId": f.ResourceID,
		"actorIssuer": f.ActorIssuer, "actorUserId": f.ActorUserID,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !at.IsZero() {
			v.Set(name, at.Format(TimeFormat))
		}
	}
	return v
}
