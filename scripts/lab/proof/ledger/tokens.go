package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// tokenHash is the attribute of a box and of a gateway that keeps the SHA-256 of its token.
const tokenHash = "tokenSha256"

// token reports whether the call gives out a token or takes one back.
func (c Call) token() bool { return strings.HasSuffix(c.Operation, "-token") }

// saysToken reports whether a box or a gateway is as the call leaves it: with the hash of the token that the caller was
// shown, or with none. Where the answer was lost, any hash is one.
func (c Call) saysToken(thing Item) bool {
	kept := text(thing, tokenHash)
	if c.removes() {
		return kept == ""
	}
	shown := text(c.answered(), "token")
	if shown == "" {
		return kept != "" && !c.done()
	}
	sum := sha256.Sum256([]byte(shown))
	return kept == hex.EncodeToString(sum[:])
}

// auditTokens: no item and no event holds a token, or anything that could be one.
func (b Books) auditTokens(f *findings) {
	for table, items := range b {
		for _, item := range items {
			if holdsToken(item) {
				f.add("%s: a token is stored in %v", table, item)
			}
		}
	}
}

func holdsToken(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.HasPrefix(v, "wavegate-edge:") || strings.HasPrefix(v, "wavegate-gateway:")
	case Item:
		for _, inner := range v {
			if holdsToken(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holdsToken)
	}
	return false
}

// controller is the box that a DDI client calls for; empty: the call is not one of a DDI client.
func (c Call) controller() string { return c.Parameter["controllerId"] }

// controlled compares the answer to a DDI client with the changes: the box was one of the organization in the path, and it
// was told only what was published on a channel of its type.
func (x *explainer) controlled(c Call) {
	if !c.done() {
		return
	}
	if c.controller() != c.User {
		x.add("%s was answered for another box", c)
	}
	if !x.belonged(c) {
		x.add("%s was answered, and the box was never of %s meanwhile", c, c.Parameter["tenant"])
	}
	if c.Operation == "get-ddi-deployment" && c.Status == http.StatusOK {
		x.deployment(c)
	}
}

// belonged reports whether the box was of the organization in the path at some moment while the call ran.
func (x *explainer) belonged(c Call) bool {
	events := x.trail[c.of("edge", c.controller())]
	for i, e := range events {
		if text(e.After, "organizationId") == c.Parameter["tenant"] && x.began(e).Before(c.Ended) &&
			(i+1 == len(events) || !x.acknowledged(events[i+1], c.Began)) {
			return true
		}
	}
	return false
}

// deployment compares what a box is told to install with what was published: the same bytes of a version of its type.
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
