package ledger

import (
	"reflect"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/chain"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
	"wavegate/shared/trail/audit"
)

// auditMethods compares methods, their versions and contents with each other.
func (b Books) auditMethods(f *Findings, trail map[Resource][]Event) {
	versions := map[string]map[int64]method.Version{}
	for _, item := range b[dynamo.MethodVersions] {
		v := as[method.Version](item)
		if versions[v.MethodID] == nil {
			versions[v.MethodID] = map[int64]method.Version{}
		}
		versions[v.MethodID][v.Version] = v
	}
	methods := map[string]bool{}
	for _, item := range b[dynamo.Methods] {
		m := as[method.Method](item)
		methods[m.MethodID] = true
		auditVersions(f, m, versions[m.MethodID])
	}
	for id, of := range versions {
		if !methods[id] {
			f.Add("%d versions of the method %s, which is not stored", len(of), id)
		}
	}
	rules := map[string]factory.ApprovalPolicy{}
	for _, item := range b[dynamo.Factories] {
		rules[insideFactory(item)] = factory.ApprovalPolicy(Text(item, "methodApproval"))
	}
	named, changes := map[string]bool{}, map[string][]audit.Event{} // the changes to the versions of each method
	for r, events := range trail {
		if r.Type != method.VersionResourceType {
			continue
		}
		for _, e := range events {
			v := as[method.Version](e.After)
			changes[v.MethodID] = append(changes[v.MethodID], stored([]Event{e})...)
			named[v.MethodID+" "+v.ContentSHA256] = true
			auditSignature(f, e, v)
			for _, wrong := range v.Unsigned(rules[r.Stream]) {
				f.Add("%s: after %s, %s", r, e.Name, wrong)
			}
		}
	}
	b.auditContents(f, named)
	for r, events := range trail {
		switch r.Type {
		case method.ResourceType:
			auditLinks(f, r, events, changes[r.ID])
		case method.OnMachineResourceType:
			auditSaid(f, r, events)
		}
	}
}

// auditVersions compares a method with its versions.
func auditVersions(f *Findings, m method.Method, versions map[int64]method.Version) {
	latest, last := method.Latest{}, int64(len(versions))
	if m.Latest != nil {
		latest = *m.Latest
	}
	if latest.Version != last {
		f.Add("method %s: the latest version is %d; %d are stored", m.MethodID, latest.Version, last)
	}
	for n, v := range versions {
		switch {
		case n < 1 || n > last:
			f.Add("method %s: version %d of %d", m.MethodID, n, last)
		case v.FactoryID != m.FactoryID:
			f.Add("method %s: version %d belongs to the factory %s", m.MethodID, n, v.FactoryID)
		case n < last && (v.Status == method.Draft || v.Status == method.InReview):
			f.Add("method %s: version %d is still %s", m.MethodID, n, v.Status)
		case n == last && v.Status != latest.Status:
			f.Add("method %s: the latest version is %s; the method says %s", m.MethodID, v.Status, latest.Status)
		}
	}
	for _, d := range m.Effectivity {
		if v := versions[d.Version]; v.Status != method.Trial && v.Status != method.Released || d.ContentSHA256 != v.ContentSHA256 {
			f.Add("method %s: %v takes effect, but the version is %v", m.MethodID, d, v)
		}
	}
	for _, e := range m.Equipment {
		if !reflect.DeepEqual(e.Equipment, versions[e.Version].Equipment) {
			f.Add("method %s: the equipment %v is not the version's", m.MethodID, e)
		}
	}
}

// meanings are those of the signatures that lead to a status.
var meanings = map[method.Status]method.Meaning{
	method.InReview: method.Authorship, method.Trial: method.Approval, method.Released: method.Approval, method.Withdrawn: method.Responsibility,
}

// auditSignature compares the event of a move with the resulting signature.
func auditSignature(f *Findings, e Event, v method.Version) {
	meaning := meanings[v.Status]
	if len(v.Signatures) == 0 || meaning == "" {
		if len(v.Signatures) > 0 || meaning != "" {
			f.Add("%s: %s left %d signatures", e.Resource, e.Name, len(v.Signatures))
		}
		return
	}
	s := v.Signatures[len(v.Signatures)-1]
	if s.Meaning != meaning || s.Issuer != e.Issuer || s.UserID != e.User || s.ContentSHA256 != v.ContentSHA256 || !s.At.Equal(e.Time) {
		f.Add("%s: %s by %s is signed with %v", e.Resource, e.Name, e.User, s)
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

// auditSaid checks the chain of what was said about a method on a machine.
func auditSaid(f *Findings, r Resource, events []Event) {
	wrong, err := chain.CheckReports(stored(events))
	if err != nil {
		f.Add("%s: %v", r, err)
	}
	for _, what := range wrong {
		f.Add("%s: %s", r, what)
	}
}

// stored returns events as the service reads them.
func stored(events []Event) (all []audit.Event) {
	for _, e := range events {
		all = append(all, as[audit.Event](e.stored))
	}
	return all
}

// auditLinks checks the chain of a method's changes.
func auditLinks(f *Findings, r Resource, events []Event, versions []audit.Event) {
	links, err := chain.Check(stored(events), versions)
	if err != nil {
		f.Add("%s: %v", r, err)
	}
	for _, l := range links {
		if l.Fault != "" {
			f.Add("%s: the chain of changes breaks with %s of the request %s: %s", r, l.EventName, l.RequestID, l.Fault)
		}
	}
}
