package ledger

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/chain"
	"wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// open reports whether a version is still being written or reviewed.
func open(version Item) bool {
	return Text(version, "status") == "draft" || Text(version, "status") == "in_review"
}

// effective reports whether a version may hold.
func effective(version Item) bool {
	return Text(version, "status") == "trial" || Text(version, "status") == "released"
}

// auditMethods compares methods, their versions and contents with each other.
func (b Books) auditMethods(f *Findings, trail map[Resource][]Event) {
	versions := map[string]map[int64]Item{}
	for _, v := range b[dynamo.MethodVersions] {
		id := Text(v, "methodId")
		if versions[id] == nil {
			versions[id] = map[int64]Item{}
		}
		versions[id][Number(v, "version")] = v
	}
	methods := map[string]bool{}
	for _, m := range b[dynamo.Recipes] {
		methods[Text(m, "methodId")] = true
		auditVersions(f, m, versions[Text(m, "methodId")])
	}
	for id, of := range versions {
		if !methods[id] {
			f.Add("%d versions of the method %s, which is not stored", len(of), id)
		}
	}
	single := map[string]bool{}
	for _, factory := range b[dynamo.Factories] {
		single[insideFactory(factory)] = Text(factory, "methodApproval") == "single"
	}
	named, changes := map[string]bool{}, map[string][]Event{} // the changes to the versions of each method
	for r, events := range trail {
		if r.Type != method.VersionResourceType {
			continue
		}
		id, _, _ := strings.Cut(r.ID, ":")
		changes[id] = append(changes[id], events...)
		for _, e := range events {
			named[id+" "+Text(e.After, "contentSha256")] = true
			auditSignature(f, e, single[r.Stream])
		}
	}
	b.auditContents(f, named)
	for r, events := range trail {
		if r.Type == method.ResourceType {
			auditLinks(f, r, events, changes[r.ID])
		}
	}
}

// auditVersions compares a method with its versions.
func auditVersions(f *Findings, m Item, versions map[int64]Item) {
	id, latest := Text(m, "methodId"), Object(m, "latest")
	if n := Number(latest, "version"); n != int64(len(versions)) {
		f.Add("method %s: the latest version is %d; %d are stored", id, n, len(versions))
	}
	for n, v := range versions {
		switch {
		case n < 1 || n > int64(len(versions)):
			f.Add("method %s: version %d of %d", id, n, len(versions))
		case Text(v, "factoryId") != Text(m, "factoryId"):
			f.Add("method %s: version %d belongs to the factory %s", id, n, Text(v, "factoryId"))
		case n < int64(len(versions)) && open(v):
			f.Add("method %s: version %d is still %s", id, n, Text(v, "status"))
		case n == int64(len(versions)) && v["status"] != latest["status"]:
			f.Add("method %s: the latest version is %v; the method says %v", id, v["status"], latest["status"])
		}
	}
	decisions, _ := m["effectivity"].([]any)
	for _, one := range decisions {
		d, _ := one.(Item)
		v := versions[Number(d, "version")]
		if !effective(v) || d["contentSha256"] != v["contentSha256"] {
			f.Add("method %s: %v takes effect, but the version is %v", id, d, v)
		}
	}
	equipment, _ := m["equipment"].([]any)
	for _, one := range equipment {
		e, _ := one.(Item)
		copied := maps.Clone(e)
		delete(copied, "version")
		if !reflect.DeepEqual(copied, Object(versions[Number(e, "version")], "equipment")) {
			f.Add("method %s: the equipment %v is not the version's", id, e)
		}
	}
}

// auditSignature compares the event of a move with the resulting signature. A person who puts a
// version on trial or releases it must not have saved or submitted it.
func auditSignature(f *Findings, e Event, single bool) {
	meaning := map[string]string{
		"ProductionMethodVersionSubmitted": "authorship", "ProductionMethodVersionTried": "approval",
		"ProductionMethodVersionReleased": "approval", "ProductionMethodVersionWithdrawn": "responsibility",
	}[e.Name]
	if e.Name == "ProductionMethodVersionCosigned" {
		meaning = map[string]string{"in_review": "authorship", "trial": "approval", "released": "approval", "withdrawn": "responsibility"}[Text(e.After, "status")]
	}
	signatures, _ := e.After["signatures"].([]any)
	if meaning == "" {
		if len(signatures) > 0 {
			f.Add("%s: %s left signatures", e.Resource, e.Name)
		}
		return
	}
	if len(signatures) == 0 {
		f.Add("%s: %s without a signature", e.Resource, e.Name)
		return
	}
	s, _ := signatures[len(signatures)-1].(Item)
	if Text(s, "meaning") != meaning || Text(s, "issuer") != e.Issuer || Text(s, "userId") != e.User ||
		s["contentSha256"] != e.After["contentSha256"] || !moment(s, "at").Equal(e.Time) {
		f.Add("%s: %s by %s is signed with %v", e.Resource, e.Name, e.User, s)
	}
	authors, _ := e.After["authors"].([]any)
	written := slices.ContainsFunc(authors, func(a any) bool {
		author, _ := a.(Item)
		return Text(author, "issuer") == e.Issuer && Text(author, "userId") == e.User
	})
	if meaning == "approval" && written && !single {
		f.Add("%s: %s wrote it and approved it", e.Resource, e.User)
	}
}

// auditContents compares contents with their hashes, and with the hashes that versions have
// named.
func (b Books) auditContents(f *Findings, named map[string]bool) {
	stored := map[string]bool{}
	for _, c := range b[dynamo.MethodContents] {
		key := Text(c, "methodId") + " " + Text(c, "sha256")
		stored[key] = true
		if canonical.SHA256([]byte(Text(c, "bytes"))) != Text(c, "sha256") {
			f.Add("the content %s does not match its hash", key)
		}
		if !named[key] {
			f.Add("the content %s belongs to no version", key)
		}
	}
	for key := range named {
		if !stored[key] {
			f.Add("the content %s is not stored", key)
		}
	}
}

// auditLinks checks the chain of each method's changes.
func auditLinks(f *Findings, r Resource, events, versions []Event) {
	list := func(of []Event) (all []audit.Event) {
		for _, e := range of {
			var one audit.Event
			if text, err := json.Marshal(e.stored); err != nil || json.Unmarshal(text, &one) != nil {
				f.Add("%s: the event %s cannot be read", e.Resource, e.ID)
			}
			all = append(all, one)
		}
		return all
	}
	links, err := chain.Check(list(events), list(versions))
	if err != nil {
		f.Add("%s: %v", r, err)
	}
	for _, l := range links {
		if l.Fault != "" {
			f.Add("%s: the chain of changes breaks with %s of the request %s: %s", r, l.EventName, l.RequestID, l.Fault)
		}
	}
}
