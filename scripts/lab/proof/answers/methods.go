package answers

import (
	"bytes"
	"net/http"
	"slices"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/platform/canonical"
	"wavegate/shared/production/content"
	"wavegate/shared/production/method"
)

// savedAs is the hash under which a content is saved; empty if it is none.
func savedAs(body []byte) string {
	c, faults := content.Parse(body)
	if len(faults) > 0 {
		return ""
	}
	return c.SHA256()
}

// notShown are the fields of a move that the version does not show unchanged.
var notShown = []string{"reason", "machines", "effectiveFrom", "reinstate"}

// content checks a content that was read: it must be a whole content that was saved as the
// version, and not older than what was acknowledged before.
func (x *explainer) content(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	if c.Operation == "get-machine-content" { // with what of it is for a machine
		c.Answer = []byte(ledger.Text(c.answered(), "content"))
	}
	read, known := canonical.SHA256(c.Answer), false
	for i, e := range x.trail[c.resource()] {
		outdated := i+1 < len(x.trail[c.resource()]) && x.acknowledged(x.trail[c.resource()][i+1], c.Began)
		known = known || ledger.Text(e.After, "contentSha256") == read && !outdated && x.began(e).Before(c.Ended)
	}
	if !known {
		x.Add("%s read %s, which was not the content at that time", c, c.Answer)
	}
	x.foreign(c)
}

// methodPoll checks a controller's poll against the approvals. A poll may lag for a moment, but
// it must never name a version that nobody had approved by the end of the poll.
func (x *explainer) methodPoll(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	items, _ := c.answered()["items"].([]any)
	for _, one := range items {
		s, _ := one.(ledger.Item)
		of := c.of(method.ResourceType, ledger.Text(s, "methodId"))
		hash := ledger.Text(s, "trailSha256")
		if !slices.ContainsFunc(x.trail[of], func(e ledger.Event) bool { return ledger.Text(e.After, "trailSha256") == hash }) {
			x.Add("%s got the hash %q, which is not in the chain", c, hash)
		}
		if s["version"] == nil {
			continue
		}
		version := c.of(method.VersionResourceType, ledger.Text(s, "methodId")+":"+ledger.Plain(s, "version"))
		if !slices.ContainsFunc(x.trail[version], func(e ledger.Event) bool {
			return (ledger.Text(e.After, "status") == "trial" || ledger.Text(e.After, "status") == "released") && e.After["contentSha256"] == s["contentSha256"] && x.began(e).Before(c.Ended)
		}) {
			x.Add("%s got %v, which nobody approved", c, s)
		}
	}
	x.foreign(c)
}

// foreign adds a finding about an answer with data of another organization. A box has no organization of its own in its
// token: it may read what is in the factory where it is registered.
func (x *explainer) foreign(c Call) {
	if o := x.owner(c); c.Status/100 == 2 && o != "" && o != c.Organization && !c.ReadsAll && !x.was(c, c.User, "factoryId", c.Parameter["factoryId"]) {
		x.Add("%s read data of %q", c, o)
	}
}

// recalled reports whether a machine was told that it has a withdrawn version. Its report is stored nevertheless.
func (c Call) recalled() bool {
	return c.Operation == "put-method-report" && c.Status == http.StatusConflict && bytes.Contains(c.Answer, []byte("VERSION_WITHDRAWN"))
}

// said reports whether a list of what is stored of a machine has what the call said about a version: its reports or, in
// confirmed, the words of people.
func (c Call) said(thing ledger.Item, list string) bool {
	all, _ := thing[list].([]any)
	fields := c.fields()
	return slices.ContainsFunc(all, func(one any) bool {
		said, _ := one.(ledger.Item)
		return within(fields, said) && (list != "confirmed" || ledger.Plain(said, "version") == c.Parameter["number"] && said["userId"] == c.User)
	})
}
