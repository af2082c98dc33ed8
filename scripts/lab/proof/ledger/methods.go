package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
)

// Resource types in the audit trail.
const (
	methodType  = "production-method"
	versionType = "production-method-version"
)

// notShown are the fields of a move that the version does not show unchanged.
var notShown = []string{"reason", "machines", "effectiveFrom", "reinstate"}

// canonicalHash is the hash of a content's RFC 8785 form, for contents without negative zeros
// and line separators. It is empty if the content is not JSON.
func canonicalHash(content []byte) string {
	var v any
	if json.Unmarshal(content, &v) != nil {
		return ""
	}
	return hashOf(v)
}

func hashOf(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return ""
	}
	return sum(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// open reports whether a version is still being written or reviewed.
func open(version Item) bool {
	return text(version, "status") == "draft" || text(version, "status") == "in_review"
}

// effective reports whether a version may hold.
func effective(version Item) bool {
	return text(version, "status") == "trial" || text(version, "status") == "released"
}

// auditMethods compares methods, their versions and contents with each other.
func (b Books) auditMethods(f *findings, trail map[Resource][]Event) {
	versions := map[string]map[int64]Item{}
	for _, v := range b[dynamo.MethodVersions] {
		id := text(v, "methodId")
		if versions[id] == nil {
			versions[id] = map[int64]Item{}
		}
		versions[id][number(v, "version")] = v
	}
	methods := map[string]bool{}
	for _, m := range b[dynamo.Methods] {
		methods[text(m, "methodId")] = true
		auditVersions(f, m, versions[text(m, "methodId")])
	}
	for id, of := range versions {
		if !methods[id] {
			f.add("%d versions of the method %s, which is not stored", len(of), id)
		}
	}
	single := map[string]bool{}
	for _, factory := range b[dynamo.Factories] {
		single[insideFactory(factory)] = text(factory, "methodApproval") == "single"
	}
	named := map[string]bool{}
	changed := map[string]Event{} // the change to the version, by request
	for r, events := range trail {
		if r.Type != versionType {
			continue
		}
		method, _, _ := strings.Cut(r.ID, ":")
		for _, e := range events {
			named[method+" "+text(e.After, "contentSha256")] = true
			changed[e.RequestID] = e
			auditSignature(f, e, single[r.Stream])
		}
	}
	b.auditContents(f, named)
	for r, events := range trail {
		if r.Type == methodType {
			auditLinks(f, r, events, changed)
		}
	}
}

// auditVersions compares a method with its versions.
func auditVersions(f *findings, m Item, versions map[int64]Item) {
	id, latest := text(m, "methodId"), object(m, "latest")
	if n := number(latest, "version"); n != int64(len(versions)) {
		f.add("method %s: the latest version is %d; %d are stored", id, n, len(versions))
	}
	for n, v := range versions {
		switch {
		case n < 1 || n > int64(len(versions)):
			f.add("method %s: version %d of %d", id, n, len(versions))
		case text(v, "factoryId") != text(m, "factoryId"):
			f.add("method %s: version %d belongs to the factory %s", id, n, text(v, "factoryId"))
		case n < int64(len(versions)) && open(v):
			f.add("method %s: version %d is still %s", id, n, text(v, "status"))
		case n == int64(len(versions)) && v["status"] != latest["status"]:
			f.add("method %s: the latest version is %v; the method says %v", id, v["status"], latest["status"])
		}
	}
	decisions, _ := m["effectivity"].([]any)
	for _, one := range decisions {
		d, _ := one.(Item)
		v := versions[number(d, "version")]
		if !effective(v) || d["contentSha256"] != v["contentSha256"] {
			f.add("method %s: %v takes effect, but the version is %v", id, d, v)
		}
	}
	equipment, _ := m["equipment"].([]any)
	for _, one := range equipment {
		e, _ := one.(Item)
		copied := maps.Clone(e)
		delete(copied, "version")
		if !reflect.DeepEqual(copied, object(versions[number(e, "version")], "equipment")) {
			f.add("method %s: the equipment %v is not the version's", id, e)
		}
	}
}

// auditSignature compares the event of a move with the resulting signature. A person who puts a
// version on trial or releases it must not have saved or submitted it.
func auditSignature(f *findings, e Event, single bool) {
	meaning := map[string]string{
		"ProductionMethodVersionSubmitted": "authorship", "ProductionMethodVersionTried": "approval",
		"ProductionMethodVersionReleased": "approval", "ProductionMethodVersionWithdrawn": "responsibility",
	}[e.Name]
	if e.Name == "ProductionMethodVersionCosigned" {
		meaning = map[string]string{"in_review": "authorship", "trial": "approval", "released": "approval", "withdrawn": "responsibility"}[text(e.After, "status")]
	}
	signatures, _ := e.After["signatures"].([]any)
	if meaning == "" {
		if len(signatures) > 0 {
			f.add("%s: %s left signatures", e.Resource, e.Name)
		}
		return
	}
	if len(signatures) == 0 {
		f.add("%s: %s without a signature", e.Resource, e.Name)
		return
	}
	s, _ := signatures[len(signatures)-1].(Item)
	if text(s, "meaning") != meaning || text(s, "issuer") != e.Issuer || text(s, "userId") != e.User ||
		s["contentSha256"] != e.After["contentSha256"] || !moment(s, "at").Equal(e.Time) {
		f.add("%s: %s by %s is signed with %v", e.Resource, e.Name, e.User, s)
	}
	authors, _ := e.After["authors"].([]any)
	written := slices.ContainsFunc(authors, func(a any) bool {
		author, _ := a.(Item)
		return text(author, "issuer") == e.Issuer && text(author, "userId") == e.User
	})
	if meaning == "approval" && written && !single {
		f.add("%s: %s wrote it and approved it", e.Resource, e.User)
	}
}

// auditContents compares contents with their hashes, and with the hashes that versions have
// named.
func (b Books) auditContents(f *findings, named map[string]bool) {
	stored := map[string]bool{}
	for _, c := range b[dynamo.MethodContents] {
		key := text(c, "methodId") + " " + text(c, "sha256")
		stored[key] = true
		if sum([]byte(text(c, "bytes"))) != text(c, "sha256") {
			f.add("the content %s does not match its hash", key)
		}
		if !named[key] {
			f.add("the content %s belongs to no version", key)
		}
	}
	for key := range named {
		if !stored[key] {
			f.add("the content %s is not stored", key)
		}
	}
}

// auditLinks recomputes the chain of a method's changes.
func auditLinks(f *findings, r Resource, events []Event, changed map[string]Event) {
	previous := ""
	for _, e := range events[min(1, len(events)):] {
		version, found := changed[e.RequestID]
		if !found || !strings.HasPrefix(version.Resource.ID, r.ID+":") {
			f.add("%s: %s, revision %d, without a change to a version", r, e.Name, e.Revision)
			return
		}
		method := linked(e)
		delete(method["after"].(Item), "trailSha256")
		previous = hashOf(Item{"previous": previous, "version": linked(version), "method": method})
		if text(e.After, "trailSha256") != previous {
			f.add("%s: the chain of changes breaks with %s, revision %d", r, e.Name, e.Revision)
			return
		}
	}
}

// linked is the part of an event that a link of the chain covers, with the salted hash of each value that has a salt.
func linked(e Event) Item {
	entry, salts := Item{}, object(e.stored, "salts")
	for _, name := range []string{"eventName", "eventTime", "actor", "sourceIp", "requestId", "reason", "resource", "after"} {
		if value, found := e.stored[name]; found {
			entry[name] = hidden(value, "/"+name, salts)
		}
	}
	return entry
}

// hidden returns a value of an event with salted hashes. No field name has a character that JSON Pointer escapes.
func hidden(v any, pointer string, salts Item) any {
	switch v := v.(type) {
	case string:
		if salt, err := base64.RawURLEncoding.DecodeString(text(salts, pointer)); err == nil && len(salt) > 0 {
			hash := hmac.New(sha256.New, salt)
			_, _ = hash.Write([]byte(v)) // never fails
			return base64.RawURLEncoding.EncodeToString(hash.Sum(nil))
		}
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = hidden(one, fmt.Sprint(pointer, "/", i), salts)
		}
		return all
	case Item:
		all := Item{}
		for name, one := range v {
			all[name] = hidden(one, pointer+"/"+name, salts)
		}
		return all
	}
	return v
}

// versionOf is a version in the call's factory and method.
func (c Call) versionOf(n int64) Resource {
	return c.of(versionType, fmt.Sprintf("%s:%d", c.Parameter["methodId"], n))
}

// content checks a content that was read: it must be a whole content that was saved as the
// version, and not older than what was acknowledged before.
func (x *explainer) content(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	read, known := sum(c.Answer), false
	for i, e := range x.trail[c.resource()] {
		outdated := i+1 < len(x.trail[c.resource()]) && x.acknowledged(x.trail[c.resource()][i+1], c.Began)
		known = known || text(e.After, "contentSha256") == read && !outdated && x.began(e).Before(c.Ended)
	}
	if !known {
		x.add("%s read %s, which was not the content at that time", c, c.Answer)
	}
	x.foreign(c)
}

// comparison checks a comparison against the versions that exist.
func (x *explainer) comparison(c Call) {
	if c.Status != http.StatusOK {
		return
	}
	answer := c.answered()
	for _, name := range []string{"since", "version"} {
		if len(x.trail[c.versionOf(number(answer, name))]) == 0 {
			x.add("%s compares %s %d, which was never saved", c, name, number(answer, name))
		}
	}
	if changes, ok := answer["changes"].([]any); !ok || answer["since"] == answer["version"] && len(changes) > 0 {
		x.add("%s got %s", c, c.Answer)
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
		s, _ := one.(Item)
		method := c.of(methodType, text(s, "methodId"))
		hash := text(s, "trailSha256")
		if !slices.ContainsFunc(x.trail[method], func(e Event) bool { return text(e.After, "trailSha256") == hash }) {
			x.add("%s got the hash %q, which is not in the chain", c, hash)
		}
		if s["version"] == nil {
			continue
		}
		version := c.of(versionType, text(s, "methodId")+":"+plain(s, "version"))
		if !slices.ContainsFunc(x.trail[version], func(e Event) bool {
			return effective(e.After) && e.After["contentSha256"] == s["contentSha256"] && x.began(e).Before(c.Ended)
		}) {
			x.add("%s got %v, which nobody approved", c, s)
		}
	}
	x.foreign(c)
}

// foreign adds a finding about an answer with data of another organization. A box has no organization of its own in its
// token: it may read what is in the factory where it is registered.
func (x *explainer) foreign(c Call) {
	if o := x.owner(c); c.Status/100 == 2 && o != "" && o != c.Organization && !c.ReadsAll && !x.was(c, c.User, "factoryId", c.Parameter["factoryId"]) {
		x.add("%s read data of %q", c, o)
	}
}

// recalled reports whether a machine was told that it has a withdrawn version. Its report is stored nevertheless.
func (c Call) recalled() bool {
	return c.Operation == "put-method-report" && c.Status == http.StatusConflict && bytes.Contains(c.Answer, []byte("VERSION_WITHDRAWN"))
}

// said reports whether a machine's stored report about a version is that of the call.
func (c Call) said(thing Item) bool {
	list, _ := thing["versions"].([]any)
	fields := c.fields()
	return slices.ContainsFunc(list, func(one any) bool {
		said, _ := one.(Item)
		return within(fields, said)
	})
}
