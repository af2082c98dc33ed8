package answers

import (
	"encoding/json"
	"net/http"
	"slices"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/trail/audit"
)

// redeems reports whether a box made the call with a code. Its User is the enrolment.
func (c Call) redeems() bool { return c.Operation == "redeem-edge-enrolment" }

// refusedBox reports whether the only change of a call that was refused, or got no clear answer, is the record that a box
// was refused.
func (c Call) refusedBox(events []ledger.Event) bool {
	return c.redeems() && (c.Status == http.StatusConflict || c.unknown()) && !slices.ContainsFunc(events, func(e ledger.Event) bool {
		return e.Name != "EnrolmentRefused" || e.Resource.ID != c.User
	})
}

// enrolled reports whether a box has the values with which an enrolment registers it.
func enrolled(box ledger.Item, edgeID, enrolmentID string) bool {
	return ledger.Text(box, "edgeId") == edgeID && ledger.Text(box, "enrolmentId") == enrolmentID && ledger.Text(box, "tokenSetAt") != ""
}

// redemption checks that a box that was told that it is registered was registered, and that one that was told to wait
// changed nothing.
func (x *explainer) redemption(c Call) {
	switch made := x.made[c.RequestID]; {
	case c.Status == http.StatusCreated && len(made) == 0 && !x.wasTrue(c, x.trail[c.resource()]):
		x.Add("%s was told that it is registered, but it was not", c)
	case c.Status == http.StatusAccepted && len(made) > 0:
		x.Add("%s was told to wait, but made %s", c, made[0].Name)
	}
}

// accepted returns the calls that would set the tokens of the accepted boxes one by one.
func (c Call) accepted() []Call {
	var body struct{ Items []json.RawMessage }
	if c.Operation != "accept-edge-enrolment" || json.Unmarshal(c.Body, &body) != nil {
		return nil
	}
	var list []Call
	for _, item := range body.Items {
		one := c
		one.Operation, one.Body = "put-edge-token", item
		one.Parameter = map[string]string{"edgeId": ledger.Text(one.fields(), "edgeId")}
		list = append(list, one)
	}
	return list
}

// accepts reports whether an event registers a box that the call accepts.
func (c Call) accepts(e ledger.Event) bool {
	return slices.ContainsFunc(c.accepted(), func(one Call) bool {
		return one.resource() == e.Resource && enrolled(e.After, e.Resource.ID, c.Parameter["enrolmentId"])
	})
}

// registered reports whether the enrolment had registered all boxes that the call accepts: also those that redeemed a
// listed id, which nobody had to accept.
func (x *explainer) registered(c Call) bool {
	boxes := c.accepted()
	return len(boxes) > 0 && !slices.ContainsFunc(boxes, func(one Call) bool {
		return !slices.ContainsFunc(x.trail[one.resource()], func(e ledger.Event) bool {
			return enrolled(e.After, e.Resource.ID, c.Parameter["enrolmentId"]) && x.began(e).Before(c.Ended)
		})
	})
}

// owner is the organization that owns the call's factory or enrolment; empty if the call has none.
func (x *explainer) owner(c Call) string {
	if c.about().Type == "enrolment" {
		if events := x.trail[c.resource()]; len(events) > 0 {
			return ledger.Text(events[0].After, "organizationId")
		}
	}
	events := x.trail[ledger.Resource{Stream: audit.Platform, Type: "factory", ID: c.Parameter["factoryId"]}]
	if len(events) == 0 {
		return ""
	}
	return events[0].Organization
}
