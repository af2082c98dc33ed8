package answers

import (
	"encoding/json"
	"slices"

	"wavegate/infra/recovery/ledger"
)

// batches reports whether the call registers several boxes at once.
func (c Call) batches() bool { return c.Operation == "register-edges" }

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

// collect finds the changes of each request. That a box leaves an organization is the other half of another event.
func (x *explainer) collect() {
	for _, events := range x.trail {
		for _, e := range events {
			if e.Name != "EdgeLeft" {
				x.made[e.RequestID] = append(x.made[e.RequestID], e)
			}
		}
	}
}

// batchChanges checks the events of a batch: each must be about one of its boxes, with the
// values in the batch.
func (x *explainer) batchChanges(c Call, events []ledger.Event) {
	members := c.members()
	for _, e := range events {
		if e.Issuer != c.Issuer || e.User != c.User {
			x.Add("%s: the event %s names %s of %s as the actor", c, e.Name, e.User, e.Issuer)
		}
		i := slices.IndexFunc(members, func(m Call) bool { return m.resource() == e.Resource })
		if i < 0 || !members[i].says(e.After) {
			x.Add("%s asked for %s, but the event of %s says %v", c, c.Body, e.Resource, e.After)
		}
	}
	if len(events) > len(members) {
		x.Add("%s made %d changes to %d boxes", c, len(events), len(members))
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
	if ledger.Number(answer, "registered") != int64(made["EdgeRegistered"]) || ledger.Number(answer, "reassigned") != int64(made["EdgeReassigned"]) ||
		ledger.Number(answer, "takenOver") != int64(made["EdgeTakenOver"]) ||
		ledger.Number(answer, "unchanged") != int64(len(members)-len(x.made[c.RequestID])) {
		x.Add("%s was answered with %s, but made %v", c, c.Answer, made)
	}
	for _, m := range members {
		events := x.trail[m.resource()]
		own := slices.ContainsFunc(events, func(e ledger.Event) bool { return e.RequestID == c.RequestID })
		if !own && !x.wasTrue(m, events) {
			x.Add("%s was acknowledged, but neither changed %s nor found it unchanged", c, m.Parameter["edgeId"])
		}
	}
}
