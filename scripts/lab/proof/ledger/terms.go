package ledger

import (
	"net/http"
	"reflect"
	"slices"
	"time"
)

// within reports whether a value has everything in wish. Fields that wish omits have their defaults.
func within(wish, value any) bool {
	fields, ok := wish.(Item)
	if !ok {
		return reflect.DeepEqual(wish, value)
	}
	has, ok := value.(Item)
	for name, part := range fields {
		if !ok || !within(part, has[name]) {
			return false
		}
	}
	return ok
}

// sameMoment reports whether two values are the same time. A caller may write it without milliseconds.
func sameMoment(wish, value any) bool {
	a, _ := wish.(string)
	b, _ := value.(string)
	at, err := time.Parse(time.RFC3339, a)
	if err != nil {
		return false
	}
	kept, err := time.Parse(time.RFC3339, b)
	return err == nil && at.Equal(kept)
}

// approved reports whether a rollout has the caller's approval of the call's stage.
func (c Call) approved(rollout Item) bool {
	approvals, _ := object(rollout, "terms")["approvals"].([]any)
	return slices.ContainsFunc(approvals, func(a any) bool {
		approval, _ := a.(Item)
		by := object(approval, "by")
		return approval["stage"] == c.fields()["stage"] && text(by, "issuer") == c.Issuer && text(by, "userId") == c.User
	})
}

// policy checks a policy that was read against the changes.
func (x *explainer) policy(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	for _, e := range x.trail[c.resource()] {
		if reflect.DeepEqual(object(object(e.After, "terms"), "policy"), c.answered()) && x.began(e).Before(c.Ended) {
			return
		}
	}
	x.add("%s read %s, which no change led to", c, c.Answer)
}

// guarded reports whether the guard made changes, in a tick. Nobody called for them.
func guarded(events []Event) bool {
	return !slices.ContainsFunc(events, func(e Event) bool {
		ours := []string{"rollout", "rollout-warning", "release-channel", recallType}
		return e.Issuer != "urn:wavegate:guard" || e.User != "guard" || !slices.Contains(ours, e.Type)
	})
}
