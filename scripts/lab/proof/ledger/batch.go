package ledger

import (
	"encoding/json"
	"slices"
	"strings"
)

// batches reports whether the call registers several boxes at once.
func (c Call) batches() bool { return c.Operation == "register-edges" }

// isTally reports whether an idempotency record belongs to a batch. Such a record contains the
// answer instead of a thing's id.
func isTally(result string) bool { return strings.HasPrefix(result, `{"registered":`) }

// members are the calls that would register the boxes of a batch one by one.
func (c Call) members() []Call {
	var body struct{ Edges []json.RawMessage }
	if json.Unmarshal(c.Body, &body) != nil {
		return nil
	}
	var list []Call
	for _, text := range body.Edges {
		one := c
		one.Operation, one.Body = "put-edge", text
		id, _ := one.fields()["edgeId"].(string)
		one.Parameter = map[string]string{"edgeId": id}
		list = append(list, one)
	}
	return list
}

// batchChanges checks the events of a batch: each must be about one of its boxes, with the
// values in the batch.
func (x *explainer) batchChanges(c Call, events []Event) {
	members := c.members()
	for _, e := range events {
		if e.Issuer != c.Issuer || e.User != c.User {
			x.add("%s: the event %s names %s of %s as the actor", c, e.Name, e.User, e.Issuer)
		}
		i := slices.IndexFunc(members, func(m Call) bool { return m.resource() == e.Resource })
		if i < 0 || !members[i].says(e.After) {
			x.add("%s asked for %s, but the event of %s says %v", c, c.Body, e.Resource, e.After)
		}
	}
	if len(events) > len(members) {
		x.add("%s made %d changes to %d boxes", c, len(events), len(members))
	}
}

// batch checks an acknowledged batch: it changed each of its boxes or found it unchanged, and
// the answer counts the changes. A repeated key gets the first call's counts.
func (x *explainer) batch(c Call, calls []Call) {
	if !c.done() {
		return
	}
	repeats := c.Key != "" && slices.ContainsFunc(calls, func(d Call) bool {
		return d.RequestID != c.RequestID && d.batches() && d.Key == c.Key && d.Issuer == c.Issuer && d.User == c.User &&
			d.Organization == c.Organization && d.Began.Before(c.Ended)
	})
	if repeats {
		return
	}
	made := map[string]int{}
	for _, e := range x.made[c.RequestID] {
		made[e.Name]++
	}
	answer, members := c.answered(), c.members()
	if number(answer, "registered") != int64(made["EdgeRegistered"]) || number(answer, "reassigned") != int64(made["EdgeReassigned"]) ||
		number(answer, "takenOver") != int64(made["EdgeTakenOver"]) ||
		number(answer, "unchanged") != int64(len(members)-len(x.made[c.RequestID])) {
		x.add("%s was answered with %s, but made %v", c, c.Answer, made)
	}
	for _, m := range members {
		events := x.trail[m.resource()]
		own := slices.ContainsFunc(events, func(e Event) bool { return e.RequestID == c.RequestID })
		if !own && !x.wasTrue(m, events) {
			x.add("%s was acknowledged, but neither changed %s nor found it unchanged", c, m.Parameter["edgeId"])
		}
	}
}
