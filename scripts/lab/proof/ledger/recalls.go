package ledger

import (
	"fmt"

	"wavegate/shared/platform/dynamo"
)

// recallType is the type of the events that warn people of a recall. Nothing else is stored of it.
const recallType = "recall"

func versionID(item Item) string {
	return text(item, "factoryId") + "/" + text(item, "methodId") + "/" + plain(item, "version")
}

// auditRecalls: the warning of a recall is about a version that is stored, and there is at most one. The version of a
// recall that is still watched is stored, too.
func (b Books) auditRecalls(f *findings, trail map[Resource][]Event) {
	stored := map[string]bool{}
	for _, v := range b[dynamo.MethodVersions] {
		stored[versionID(v)] = true
	}
	for r, events := range trail {
		if r.Type != recallType {
			continue
		}
		if len(events) != 1 {
			f.add("%s: %d warnings", r, len(events))
		}
		if !stored[r.ID] || versionID(events[0].After) != r.ID {
			f.add("%s: the warning is about %v, which is not stored", r, events[0].After)
		}
	}
	for _, item := range b[dynamo.Progress] {
		if text(item, "subject") == "recalls" && !stored[text(item, "part")] {
			f.add("the recall %s is watched, but its version is not stored", text(item, "part"))
		}
	}
}

// auditPlaces: each machine and class that a method's approved versions name has an entry that leads to the method, and
// each entry leads to a stored method.
func (b Books) auditPlaces(f *findings) {
	entries, methods := map[string]bool{}, map[string]bool{}
	for _, p := range b[dynamo.MethodPlaces] {
		entries[text(p, "place")+" "+text(p, "methodId")] = true
	}
	for _, m := range b[dynamo.Methods] {
		methods[text(m, "methodId")] = true
		equipment, _ := m["equipment"].([]any)
		for _, e := range equipment {
			of, _ := e.(Item)
			for attribute, kind := range map[string]string{"machines": "machine", "classes": "class"} {
				names, _ := of[attribute].([]any)
				for _, name := range names {
					place := fmt.Sprintf("%s#%s#%v", text(m, "factoryId"), kind, name)
					if !entries[place+" "+text(m, "methodId")] {
						f.add("%s does not lead to the method %s, which names it", place, text(m, "methodId"))
					}
				}
			}
		}
	}
	for _, p := range b[dynamo.MethodPlaces] {
		if !methods[text(p, "methodId")] {
			f.add("%s leads to the method %s, which is not stored", text(p, "place"), text(p, "methodId"))
		}
	}
}
