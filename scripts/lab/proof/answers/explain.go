// Package answers compares the answers to callers with the audit trail: a test knows all calls.
package answers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/samples"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/production/method"
)

// Explain compares the answers to callers with the audit trail, and returns all contradictions:
//
//   - For every change there is a call of that user that asked for exactly this change and was not
//     refused.
//   - For every acknowledged call there is a change, or nothing had to change at some moment during the call.
//   - All calls with one idempotency key, repeated or not, made one thing, and all answers name it.
//   - Every read shows a whole state after some change, and no older state than one that was
//     acknowledged before. Every version that a box was offered was on its channel.
//   - The stored hash of a token is the one that was set last. A DDI client was answered for its own box, and under
//     the organization of the box at that time.
//
// A call that ended with a 5xx may have made its change or not, but never a part of it.
func Explain(b ledger.Books, calls []Call) []string {
	x := explainer{trail: trailOf(b), asked: map[string]Call{}, made: map[string][]ledger.Event{}}
	for _, c := range calls {
		x.asked[c.RequestID] = c
	}
	x.collect()
	x.changes()
	x.keys(calls)
	x.tokens(b)
	for _, c := range calls {
		switch {
		case c.batches():
			x.batch(c, calls)
		case c.Operation == "get-manifest":
			x.poll(c)
		case c.controller() != "":
			x.controlled(c)
		case c.Operation == "put-update-report":
			x.report(c, calls)
		case c.Operation == "get-rollout-policy":
			x.policy(c)
		case c.Operation == "get-machine-methods":
			x.methodPoll(c)
		case c.Operation == "list-method-machines":
			x.foreign(c)
		case c.Operation == "get-method-content", c.Operation == "get-machine-content":
			x.content(c)
		case c.Operation == "get-method-changes":
			x.foreign(c)
		case c.redeems():
			x.redemption(c)
		case c.about().Type == "":
			// The call's resource has no events in the trail.
		case c.writes():
			x.write(c)
			if c.Operation == "put-method-report" {
				x.foreign(c)
			}
		case samples.Lists(c.Operation):
			x.list(c)
		default:
			x.read(c)
		}
	}
	slices.Sort(x.Findings)
	return x.Findings
}

type explainer struct {
	ledger.Findings
	trail map[ledger.Resource][]ledger.Event
	asked map[string]Call           // by request id
	made  map[string][]ledger.Event // by request id
}

func (c Call) String() string {
	return fmt.Sprintf("%s %s by %s of %q (%d, request %s)", c.Operation, c.Path, c.User, c.Organization, c.Status, c.RequestID)
}

// changes compares each event with the call that it names.
func (x *explainer) changes() {
	for request, events := range x.made {
		c, known := x.asked[request]
		if !known && guarded(events) {
			continue
		}
		if !known {
			x.Add("%s: %s by the request %q, which nobody made", events[0].Resource, events[0].Name, request)
			continue
		}
		if !c.done() && !c.unknown() && !c.recalled() && !c.refusedBox(events) {
			x.Add("%s was refused, but made %s of %s", c, events[0].Name, events[0].Resource)
		}
		if c.batches() {
			x.batchChanges(c, events)
			continue
		}
		own := 0
		for _, e := range events {
			if e.Issuer != c.Issuer || e.User != c.User {
				x.Add("%s: the event %s names %s of %s as the actor", c, e.Name, e.User, e.Issuer)
			}
			if c.beside(e) {
				continue
			}
			own++
			if !c.writes() || e.Type != c.about().Type || !c.lost() && e.Resource != c.resource() {
				x.Add("%s made %s of %s", c, e.Name, e.Resource)
			} else if !c.says(e.After) {
				x.Add("%s asked for %s, but the event says %v", c, c.Body, e.After)
			}
		}
		if own != 1 && !c.refusedBox(events) && !(own == 0 && c.everywhere()) { // whose own rollout may be halted already: see write
			x.Add("%s made %d changes; it asked for %s", c, own, c.Body)
		}
	}
}

// beside reports whether an event is not about the call's resource.
func (c Call) beside(e ledger.Event) bool {
	return (e.Name == "ReleaseAdopted" || e.Name == "ReleaseReturned") && c.Operation == "update-rollout" ||
		e.Name == "RolloutHalted" && e.Resource != c.resource() && c.everywhere() ||
		(e.Name == "RolloutHalted" || e.Name == "ReleaseDescribed") && c.Operation == "publish-release" ||
		e.Name == "EnrolmentRefused" || c.accepts(e) ||
		e.Type == method.ResourceType && c.about().Type == method.VersionResourceType && e.Resource.ID == c.Parameter["methodId"]
}

// everywhere reports whether the call halts all rollouts of a version.
func (c Call) everywhere() bool {
	return c.Operation == "update-rollout" && c.fields()["everywhere"] == true
}

// uploads reports whether 201 means that there is something to upload, and not that the call made it.
func (c Call) uploads() bool { return c.Operation == "put-artifact" }

// says reports whether a thing has the values of the call, apart from the fields in but.
func (c Call) says(thing ledger.Item, but ...string) bool {
	if c.token() {
		return c.saysToken(thing)
	}
	switch {
	case c.Operation == "delete-artifact": // its bytes go later
		return ledger.Text(thing, "state") == "deleted"
	case c.removes():
		return thing == nil
	}
	fields := c.fields()
	switch c.Operation {
	case "put-method-report":
		return c.said(thing, "versions")
	case "put-method-confirmation":
		return c.said(thing, "confirmed")
	case "put-method-content":
		return ledger.Text(thing, "status") == "draft" && ledger.Text(thing, "contentSha256") == savedAs(c.Body)
	case "redeem-edge-enrolment":
		return enrolled(thing, ledger.Text(fields, "edgeId"), c.User)
	case "create-edge-enrolment":
		delete(fields, "edgeIds") // the trail has their number
	case "delete-edge-enrolment":
		return ledger.Text(thing, "endedAt") != ""
	case "accept-edge-enrolment":
		return ledger.Number(thing, "accepted") > 0
	case "put-release-components":
		contents := ledger.Object(thing, "contents")
		return ledger.Text(contents, "sbom") == strings.ToLower(ledger.Text(fields, "sbom")) && ledger.Number(contents, "components") == ledger.Number(fields, "total")
	case "put-rollout-policy":
		return within(fields, ledger.Object(ledger.Object(thing, "terms"), "policy"))
	case "approve-rollout-stage":
		return c.approved(thing)
	}
	if !c.agrees(fields, thing) {
		return false
	}
	for name, value := range fields {
		if c.Operation == "update-method-version" && slices.Contains(notShown, name) || slices.Contains(but, name) {
			continue
		}
		if name == "staged_percent" && fields["status"] == "halted" || name == "overrideReason" || name == "reason" && slices.Contains(steers, c.Operation) {
			continue // a halt ignores the percentage; the reason is only in the event
		}
		if !reflect.DeepEqual(thing[name], value) && !sameMoment(value, thing[name]) {
			return false
		}
	}
	return thing != nil
}

// write compares an acknowledged change with the trail.
func (x *explainer) write(c Call) {
	if !c.done() {
		return
	}
	events := x.trail[c.resource()]
	i := slices.IndexFunc(events, func(e ledger.Event) bool { return e.RequestID == c.RequestID })
	switch {
	case c.Location != "":
		// A repeated key is answered with the first call's thing.
		if len(events) == 0 || events[0].Before != nil || i != 0 && (c.Key == "" || x.asked[events[0].RequestID].Key != c.Key) {
			x.Add("%s was answered with %s, which it did not make", c, c.Location)
		}
	case i < 0 && c.Status == http.StatusCreated && !c.uploads():
		x.Add("%s was answered as if it had made it, but there is no event", c)
	case i < 0:
		if !x.wasTrue(c, events) && !x.registered(c) {
			x.Add("%s was acknowledged, but neither made a change nor found what it asked for: %s", c, c.Body)
		}
	case c.Operation == "reset-edge-enrolment" && i > 0 && events[i-1].After == nil: // it freed the id of a box that was retired
	case !c.token() && !c.uploads() && (events[i].Before == nil) != (c.Status == http.StatusCreated):
		x.Add("%s made %s from %v", c, events[i].Name, events[i].Before)
	}
}

// wasTrue reports whether the thing had the values of the call at some moment during the call.
func (x *explainer) wasTrue(c Call, events []ledger.Event) bool {
	if c.removes() && (len(events) == 0 || !x.acknowledged(events[0], c.Began)) {
		return true // it was not there yet: a reset of an id that no box has redeemed
	}
	return x.during(c, events, func(e ledger.Event) bool { return c.says(e.After) || x.published(c, e) })
}

// during reports whether a change after which something holds was the last one of a thing at some moment during the call.
func (x *explainer) during(c Call, events []ledger.Event, holds func(ledger.Event) bool) bool {
	for i, e := range events {
		if holds(e) && x.began(e).Before(c.Ended) && (i+1 == len(events) || !x.acknowledged(events[i+1], c.Began)) {
			return true
		}
	}
	return false
}

// began is the earliest time at which an event can have been written.
func (x *explainer) began(e ledger.Event) time.Time { return x.asked[e.RequestID].Began }

// acknowledged reports whether the caller of a change had its answer before a time.
func (x *explainer) acknowledged(e ledger.Event, before time.Time) bool {
	c := x.asked[e.RequestID]
	return c.done() && c.Ended.Before(before)
}

// keys compares the calls that share an idempotency key.
func (x *explainer) keys(calls []Call) {
	type use struct{ issuer, user, organization, path, key string }
	told := map[use]map[string]bool{}
	made := map[use]int{}
	for _, c := range calls {
		if c.Key == "" {
			continue
		}
		u := use{c.Issuer, c.User, c.Organization, c.Path, c.Key}
		changes, answer := len(x.made[c.RequestID]), c.Location
		switch {
		case c.batches():
			changes, answer = min(changes, 1), string(c.Answer)
		case c.accepted() != nil: // one change, of several boxes
			changes = min(changes, 1)
		}
		made[u] += changes
		if c.done() {
			if told[u] == nil {
				told[u] = map[string]bool{}
			}
			told[u][answer] = true
		}
	}
	for u, n := range made {
		if n > 1 {
			x.Add("the key %q of %s on %s made %d things", u.key, u.user, u.path, n)
		}
		if len(told[u]) > 1 {
			x.Add("the key %q of %s on %s was answered in %d ways", u.key, u.user, u.path, len(told[u]))
		}
	}
}

// read checks a thing that was read against the changes.
func (x *explainer) read(c Call) {
	events := x.trail[c.resource()]
	acknowledged, gone := int64(0), false
	for _, e := range events {
		if x.acknowledged(e, c.Began) {
			acknowledged, gone = e.Revision, false
		}
		gone = gone || e.After == nil
	}
	switch c.Status {
	case http.StatusOK:
		thing := c.answered()
		x.activeRollout(c, thing)
		x.guard(c, thing)
		beside(thing)
		delete(thing, "order")                   // the release's, which the channel's events do not contain
		delete(thing, "requires")                // as well
		if c.Operation == "get-edge-enrolment" { // these follow from the boxes
			for _, name := range []string{"edgeIds", "redemptions", "waiting"} {
				delete(thing, name)
			}
		}
		revision := ledger.Number(thing, "revision")
		if revision < 1 || revision > int64(len(events)) || !ledger.Same(c.resource().Type, thing, events[revision-1].After) {
			x.Add("%s read %s, which no change led to", c, c.Answer)
			return
		}
		if revision < acknowledged {
			x.Add("%s read revision %d after %d was acknowledged", c, revision, acknowledged)
		}
		if !x.began(events[revision-1]).Before(c.Ended) {
			x.Add("%s read revision %d before anyone asked for it", c, revision)
		}
		x.foreign(c)
	case http.StatusNotFound:
		o := x.owner(c)
		elsewhere := c.Operation == "get-edge" && !c.ReadsAll // or it was, when the organization's person asked
		if acknowledged > 0 && !gone && !elsewhere && (c.ReadsAll || o == "" || c.Member && o == c.Organization) {
			x.Add("%s found nothing after revision %d was acknowledged", c, acknowledged)
		}
	}
}

// poll checks a box's poll against the publications and rollouts of its channel, or of any channel of its type if the
// box is pinned, held or told a stone: a held one may keep what its channel before told it. A poll may lag for a moment, but it must
// never name anything else.
func (x *explainer) poll(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	m := c.answered()
	apart := slices.Contains([]decide.Source{decide.FromPin, decide.FromHold}, decide.Source(ledger.Text(m, "source"))) || ledger.Text(m, "towards") != ""
	is := func(e ledger.Event, version string) bool {
		return ledger.Text(e.After, "edgeType") == ledger.Text(m, "edgeType") &&
			(apart || ledger.Text(e.After, "channel") == ledger.Text(m, "channel")) &&
			ledger.Text(e.After, version) == ledger.Text(m, "version") && ledger.Text(e.After, "sha256") == ledger.Text(m, "sha256")
	}
	if !x.some(func(e ledger.Event) bool {
		return e.Type == rollout.ResourceType && is(e, "targetVersion") || e.Type == release.ResourceType && is(e, "currentVersion")
	}) {
		x.Add("%s was offered %s, which was never published for it", c, c.Answer)
	}
}

// beside removes what a read and a list show besides the thing: what follows from its method and the time, what a box says
// or does, where an artifact is and what uses it, and a warning about a policy.
func beside(thing ledger.Item) {
	gone := []string{"standing", "units", "doubts", "product", "saidAttributes", "restless", "url", "uses", "fast"}
	if thing["edgeId"] != nil && thing["createdAt"] != nil { // a registration
		gone = append(gone, "running", "label", "stay", "pending", "state")
	}
	for _, name := range gone {
		delete(thing, name)
	}
}

// some reports whether something holds for an event.
func (x *explainer) some(holds func(ledger.Event) bool) bool {
	for _, events := range x.trail {
		if slices.ContainsFunc(events, holds) {
			return true
		}
	}
	return false
}

// list checks each thing of a list against the changes. Some lists lag for a moment, so they may
// show any revision.
func (x *explainer) list(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	var page struct{ Items []ledger.Item }
	if err := json.Unmarshal(c.Answer, &page); err != nil {
		x.Add("%s: the list cannot be read: %v", c, err)
		return
	}
	for _, thing := range page.Items {
		x.activeRollout(c, thing)
		x.guard(c, thing)
		beside(thing)
		id := c.about().Name(func(name string) string { return ledger.Plain(thing, name) })
		events := x.trail[c.of(c.about().Type, id)]
		revision := ledger.Number(thing, "revision")
		if revision < 1 || revision > int64(len(events)) || !ledger.Same(c.about().Type, thing, events[revision-1].After) {
			x.Add("%s lists %v, which no change led to", c, thing)
		}
		if o := ledger.Text(thing, "organizationId"); o != "" && o != c.Organization && !c.ReadsAll {
			x.Add("%s lists data of %q", c, o)
		}
	}
}
