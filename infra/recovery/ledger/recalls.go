package ledger

import (
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/method"
)

func versionID(item Item) string {
	return Text(item, "factoryId") + "/" + Text(item, "methodId") + "/" + Plain(item, "version")
}

// auditRecalls: the warnings of a recall are about a version that is stored, and there is at most one since its orders were
// stopped, or since a machine reported it again. The version of a recall that is still watched is stored, too.
func (b Books) auditRecalls(f *Findings, trail map[Resource][]Event) {
	stored := map[string]bool{}
	for _, v := range b[dynamo.MethodVersions] {
		stored[versionID(v)] = true
	}
	for r, events := range trail {
		if r.Type != method.RecallResourceType {
			continue
		}
		since := map[time.Time]bool{}
		for _, e := range events {
			at := moment(e.After, "since")
			if since[at] {
				f.Add("%s: two warnings since %s", r, at)
			}
			since[at] = true
			if !stored[r.ID] || versionID(e.After) != r.ID {
				f.Add("%s: the warning is about %v, which is not stored", r, e.After)
			}
		}
	}
	for _, item := range b[dynamo.Progress] {
		if Text(item, "subject") == "recalls" && !stored[Text(item, "part")] {
			f.Add("the recall %s is watched, but its version is not stored", Text(item, "part"))
		}
	}
}

// auditPlaces: each machine and class that a method's approved versions name has an entry that leads to the method, and
// each entry leads to a stored method.
func (b Books) auditPlaces(f *Findings) {
	entries, methods := map[string]bool{}, map[string]bool{}
	for _, p := range b[dynamo.MethodPlaces] {
		entries[Text(p, "place")+" "+Text(p, "methodId")] = true
	}
	for _, item := range b[dynamo.Methods] {
		m := as[method.Method](item)
		methods[m.MethodID] = true
		leads := func(kind string, names []string) {
			for _, name := range names {
				if place := m.FactoryID + "#" + kind + "#" + name; !entries[place+" "+m.MethodID] {
					f.Add("%s does not lead to the method %s, which names it", place, m.MethodID)
				}
			}
		}
		for _, e := range m.Equipment {
			leads("machine", e.Machines)
			leads("class", e.Classes)
		}
	}
	for _, p := range b[dynamo.MethodPlaces] {
		if !methods[Text(p, "methodId")] {
			f.Add("%s leads to the method %s, which is not stored", Text(p, "place"), Text(p, "methodId"))
		}
	}
}
