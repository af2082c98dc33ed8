package ledger

import (
	"net/http"
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
)

// token reports whether the call sets or ends a token.
func (c Call) token() bool { return strings.HasSuffix(c.Operation, "-token") }

// saysToken reports whether a box or a gateway is shown as it is after the call: with or without a token.
func (c Call) saysToken(thing Item) bool {
	if c.about().Type == "gateway" {
		return (thing == nil) == c.removes()
	}
	return (text(thing, "tokenSetAt") == "") == c.removes()
}

// hashes returns the token hashes in an item.
func hashes(item Item) (all []string) {
	tokens := object(item, "tokens")
	for _, name := range []string{"current", "previous"} {
		if hash := text(tokens, name); hash != "" {
			all = append(all, hash)
		}
	}
	if code := text(item, "codeSha256"); code != "" {
		all = append(all, code)
	}
	return all
}

// tokens checks that the stored hash is that of the last change to a box's or a gateway's tokens.
func (x *explainer) tokens(b Books) {
	stored := map[string]string{}
	for table, id := range map[dynamo.TableID]string{dynamo.Reports: "edgeId", dynamo.Gateways: "organizationId"} {
		for _, item := range b[table] {
			stored[string(table)+" "+text(item, id)] = text(object(item, "tokens"), "current")
		}
	}
	tables := map[string]dynamo.TableID{"edge": dynamo.Reports, "gateway": dynamo.Gateways}
	for r, events := range x.trail {
		table, ok := tables[r.Type]
		if !ok {
			continue
		}
		want := ""
		for _, e := range events {
			want = x.hashAfter(want, e)
		}
		if have := stored[string(table)+" "+r.ID]; have != want {
			x.add("%s: the hash of its token is %q, want %q", r, have, want)
		}
	}
}

// hashAfter is the hash of the current token after a change.
func (x *explainer) hashAfter(before string, e Event) string {
	moved := e.Before == nil || text(e.Before, "organizationId") != text(e.After, "organizationId")
	if e.After == nil || strings.HasSuffix(e.Name, "TokenEnded") || e.Type == "edge" && moved {
		before = ""
	}
	c := x.asked[e.RequestID]
	asks := []Call{c}
	if c.batches() {
		asks = c.members()
	} else if boxes := c.accepted(); boxes != nil {
		asks = boxes
	}
	for _, one := range asks {
		if hash := text(one.fields(), "tokenSha256"); hash != "" && one.resource() == e.Resource {
			return hash
		}
	}
	return before
}

// auditTokens checks that no item and no event contains a token, or anything like one. Hashes of tokens are only in
// the attributes that are compared, never in those that are shown.
func (b Books) auditTokens(f *findings) {
	kept := map[string]bool{}
	for _, items := range b {
		for _, item := range items {
			for _, hash := range hashes(item) {
				kept[hash] = true
			}
		}
	}
	for table, items := range b {
		for _, item := range items {
			if holds(item, func(s string) bool {
				return strings.HasPrefix(s, "wavegate-edge:") || strings.HasPrefix(s, "wavegate-gateway:") || strings.HasPrefix(s, "wavegate-enrol:")
			}) {
				f.add("%s: a token is stored in %v", table, item)
			}
			if table != dynamo.Reports && table != dynamo.Gateways && table != dynamo.Enrolments && holds(item, func(s string) bool { return kept[s] }) {
				f.add("%s: the hash of a token is stored in %v", table, item)
			}
		}
	}
}

func holds(value any, is func(string) bool) bool {
	switch v := value.(type) {
	case string:
		return is(v)
	case Item:
		for _, inner := range v {
			if holds(inner, is) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return holds(inner, is) })
	}
	return false
}

// controller returns the box that a DDI client calls for; empty for other callers.
func (c Call) controller() string { return c.Parameter["controllerId"] }

// controlled compares the answer to a DDI client with the changes: the box belonged to the organization in the path,
// and it was told only versions that were published on a channel of its type.
func (x *explainer) controlled(c Call) {
	if !c.done() {
		return
	}
	if c.controller() != c.User {
		x.add("%s was answered for another box", c)
	}
	if !x.was(c, c.controller(), "organizationId", c.Parameter["tenant"]) {
		x.add("%s was answered, but the box never belonged to %s during the call", c, c.Parameter["tenant"])
	}
	if c.Operation == "get-ddi-deployment" && c.Status == http.StatusOK {
		x.deployment(c)
	}
}

// was reports whether a box was registered with a value at some moment during the call.
func (x *explainer) was(c Call, box, name, value string) bool {
	return x.during(c, x.trail[c.of("edge", box)], func(e Event) bool { return value != "" && text(e.After, name) == value })
}

// deployment compares a box's instructions with the publications: the same bytes of a version for its type.
func (x *explainer) deployment(c Call) {
	chunks, _ := object(c.answered(), "deployment")["chunks"].([]any)
	if len(chunks) != 1 {
		x.add("%s was told %d chunks: %s", c, len(chunks), c.Answer)
		return
	}
	chunk, _ := chunks[0].(Item)
	artifacts, _ := chunk["artifacts"].([]any)
	if len(artifacts) != 1 {
		x.add("%s was told %d artifacts: %s", c, len(artifacts), c.Answer)
		return
	}
	artifact, _ := artifacts[0].(Item)
	hashes := object(artifact, "hashes")
	published := func(e Event) bool {
		return e.Type == "release-channel" && text(e.After, "edgeType") == text(chunk, "name") && text(e.After, "currentVersion") == text(chunk, "version") &&
			text(e.After, "sha256") == text(hashes, "sha256") && text(e.After, "sha1") == text(hashes, "sha1") && number(e.After, "sizeBytes") == number(artifact, "size")
	}
	for _, events := range x.trail {
		if slices.ContainsFunc(events, published) {
			return
		}
	}
	x.add("%s was told %s, which was never published", c, c.Answer)
}
