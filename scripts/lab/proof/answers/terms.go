package answers

import (
	"net/http"
	"reflect"
	"slices"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// within reports whether a value has everything in wish. Fields that wish omits have their defaults.
func within(wish, value any) bool {
	fields, ok := wish.(ledger.Item)
	if !ok {
		return reflect.DeepEqual(wish, value)
	}
	has, ok := value.(ledger.Item)
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
func (c Call) approved(rollout ledger.Item) bool {
	approvals, _ := ledger.Object(rollout, "terms")["approvals"].([]any)
	return slices.ContainsFunc(approvals, func(a any) bool {
		approval, _ := a.(ledger.Item)
		by := ledger.Object(approval, "by")
		return approval["stage"] == c.fields()["stage"] && ledger.Text(by, "issuer") == c.Issuer && ledger.Text(by, "userId") == c.User
	})
}

// policy checks a policy that was read against the changes.
func (x *explainer) policy(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	for _, e := range x.trail[c.resource()] {
		if reflect.DeepEqual(ledger.Object(ledger.Object(e.After, "terms"), "policy"), c.answered()) && x.began(e).Before(c.Ended) {
			return
		}
	}
	x.Add("%s read %s, which no change led to", c, c.Answer)
}

// guarded reports whether the guard made changes, in a tick. Nobody called for them.
func guarded(events []ledger.Event) bool {
	return !slices.ContainsFunc(events, func(e ledger.Event) bool {
		ours := []string{"rollout", "rollout-warning", "release-channel", "release-support", method.RecallResourceType}
		return e.Issuer != "urn:wavegate:guard" || e.User != "guard" || !slices.Contains(ours, e.Type)
	})
}

// activeRollout checks the rollout in a channel's answer against the changes, and removes it,
// because the channel's events do not contain it.
func (x *explainer) activeRollout(c Call, channel ledger.Item) {
	shown := ledger.Object(channel, "activeRollout")
	if shown == nil {
		return
	}
	delete(channel, "activeRollout")
	events := x.trail[ledger.Resource{Stream: audit.Platform, Type: "rollout", ID: ledger.Text(shown, "id")}]
	revision := ledger.Number(shown, "revision")
	if revision < 1 || revision > int64(len(events)) {
		x.Add("%s shows the rollout %v, which no change led to", c, shown)
		return
	}
	mode := ledger.Text(shown, "guard")
	delete(shown, "guard")
	if r := events[revision-1].After; !within(shown, r) || mode != modeOf(r) || ledger.Text(r, "status") != "active" {
		x.Add("%s shows the rollout %v with the guard %s, which was %v", c, shown, mode, r)
	}
}

// guard checks the guard in a rollout's answer, and removes it, because it follows from the policy.
func (x *explainer) guard(c Call, rollout ledger.Item) {
	shown, given := rollout["guard"]
	if !given {
		return
	}
	delete(rollout, "guard")
	if mode := modeOf(rollout); shown != mode {
		x.Add("%s shows the guard as %v, but its policy says %s", c, shown, mode)
	}
}

// modeOf returns the mode of a rollout's guard, by its policy.
func modeOf(rollout ledger.Item) string {
	if policy := ledger.Object(ledger.Object(rollout, "terms"), "policy"); policy != nil {
		return ledger.Text(policy, "mode")
	}
	return "none"
}
