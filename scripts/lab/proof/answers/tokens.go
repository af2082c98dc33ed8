package answers

import (
	"encoding/json"
	"net/http"
	"strings"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
)

// token reports whether the call sets or ends a token.
func (c Call) token() bool { return strings.HasSuffix(c.Operation, "-token") }

// saysToken reports whether a box or a gateway is shown as it is after the call: with or without a token.
func (c Call) saysToken(thing ledger.Item) bool {
	if c.about().Type == "gateway" {
		return (thing == nil) == c.removes()
	}
	return (ledger.Text(thing, "tokenSetAt") == "") == c.removes()
}

// tokens checks that the stored hash is that of the last change to a box's or a gateway's tokens.
func (x *explainer) tokens(b ledger.Books) {
	stored := map[string]string{}
	for table, id := range map[dynamo.TableID]string{dynamo.Reports: "edgeId", dynamo.Gateways: "organizationId"} {
		for _, item := range b[table] {
			stored[string(table)+" "+ledger.Text(item, id)] = ledger.Text(ledger.Object(item, "tokens"), "current")
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
			x.Add("%s: the hash of its token is %q, want %q", r, have, want)
		}
	}
}

// hashAfter is the hash of the current token after a change.
func (x *explainer) hashAfter(before string, e ledger.Event) string {
	moved := e.Before == nil || ledger.Text(e.Before, "organizationId") != ledger.Text(e.After, "organizationId")
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
		if hash := ledger.Text(one.fields(), "tokenSha256"); hash != "" && one.resource() == e.Resource {
			return hash
		}
	}
	return before
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
		x.Add("%s was answered for another box", c)
	}
	if !x.was(c, c.controller(), "organizationId", c.Parameter["tenant"]) {
		x.Add("%s was answered, but the box never belonged to %s during the call", c, c.Parameter["tenant"])
	}
	if c.Operation == "get-ddi-deployment" && c.Status == http.StatusOK {
		x.deployment(c)
	}
}

// was reports whether a box was registered with a value at some moment during the call.
func (x *explainer) was(c Call, box, name, value string) bool {
	return x.during(c, x.trail[c.of("edge", box)], func(e ledger.Event) bool { return value != "" && ledger.Text(e.After, name) == value })
}

// deployment compares a box's instructions with the publications: the same bytes of a version for its type.
func (x *explainer) deployment(c Call) {
	var told struct {
		Deployment struct {
			Chunks []struct {
				Name, Version string
				Artifacts     []struct {
					Hashes struct{ SHA1, SHA256 string }
					Size   int64
				}
			}
		}
	}
	if err := json.Unmarshal(c.Answer, &told); err != nil || len(told.Deployment.Chunks) != 1 || len(told.Deployment.Chunks[0].Artifacts) != 1 {
		x.Add("%s was told %s, want one artifact", c, c.Answer)
		return
	}
	chunk := told.Deployment.Chunks[0]
	artifact := chunk.Artifacts[0]
	if !x.some(func(e ledger.Event) bool {
		return e.Type == release.ResourceType && ledger.Text(e.After, "edgeType") == chunk.Name && ledger.Text(e.After, "currentVersion") == chunk.Version &&
			ledger.Text(e.After, "sha256") == artifact.Hashes.SHA256 && ledger.Text(e.After, "sha1") == artifact.Hashes.SHA1 &&
			ledger.Number(e.After, "sizeBytes") == artifact.Size
	}) {
		x.Add("%s was told %s, which was never published", c, c.Answer)
	}
}
