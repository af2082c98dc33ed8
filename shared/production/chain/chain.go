// Package chain links the changes to a production method by hashes. Each poll gives the newest hash to machine
// controllers, which store it with what they produce. Someone who rewrites the audit trail later cannot rewrite these
// stored hashes. The chain computed from the rewritten events no longer contains them.
//
// A link is the SHA-256 of the canonical form (RFC 8785) of {"previous", "version", "method"}: the previous hash, which
// is empty at first, and the two events of the change. Salted hashes replace personal data in them; see Pseudonym.
package chain

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/trail/audit"
)

// hashField is the method's field for the hash of the chain. It is not hashed itself.
const hashField = "trailSha256"

// An Entry is the part of an event that a link covers: all but its id and its Before, which the
// previous event has as its After.
type Entry struct {
	EventName string         `json:"eventName"`
	EventTime time.Time      `json:"eventTime"`
	Actor     audit.Actor    `json:"actor"`
	SourceIP  string         `json:"sourceIp"`
	RequestID string         `json:"requestId"`
	Reason    string         `json:"reason,omitempty"`
	Resource  audit.Resource `json:"resource"`
	After     any            `json:"after"`
	// Salts are the salts of personal values, by their JSON Pointers in the entry. A value without a salt is covered
	// unchanged.
	Salts map[string]string `json:"-"`
}

// EntryOf returns the part of an event that a link covers.
func EntryOf(e audit.Event) Entry {
	return Entry{
		EventName: e.EventName, EventTime: e.EventTime, Actor: e.Actor, SourceIP: e.SourceIP,
		RequestID: e.RequestID, Reason: e.Reason, Resource: e.Resource, After: e.After, Salts: e.Salts,
	}
}

// Next returns the hash of the chain after a change to a method and one of its versions.
func Next(previous string, version, method Entry) (string, error) {
	after, err := withoutHash(method.After)
	if err != nil {
		return "", err
	}
	method.After = after
	ofMethod, err := method.covered()
	if err != nil {
		return "", err
	}
	ofVersion, err := version.covered()
	if err != nil {
		return "", err
	}
	link, err := canonical.Encode(map[string]any{"previous": previous, "version": ofVersion, "method": ofMethod})
	if err != nil {
		return "", fmt.Errorf("trail: %w", err)
	}
	return canonical.SHA256(link), nil
}

// NextReport returns the hash of a machine's chain of reports after a report.
func NextReport(previous string, report Entry) (string, error) {
	after, err := withoutHash(report.After)
	if err != nil {
		return "", err
	}
	// An empty list is stored, and not in the JSON of what was hashed.
	maps.DeleteFunc(after, func(_ string, value any) bool { list, is := value.([]any); return is && len(list) == 0 })
	report.After, report.SourceIP = after, "" // the address of a box is nobody's business later
	covered, err := report.covered()
	if err != nil {
		return "", err
	}
	link, err := canonical.Encode(map[string]any{"previous": previous, "report": covered})
	if err != nil {
		return "", fmt.Errorf("trail: %w", err)
	}
	return canonical.SHA256(link), nil
}

// CheckReports recomputes a machine's chain of reports from its events, in the order of their revisions, and says what is wrong.
func CheckReports(events []audit.Event) (wrong []string, err error) {
	previous := ""
	for i, e := range events {
		if e.Resource.Revision != int64(i+1) {
			return append(wrong, fmt.Sprintf("the trail has no event for report %d", i+1)), nil
		}
		computed, err := NextReport(previous, EntryOf(e))
		if err != nil {
			return nil, err
		}
		if previous = headOf(e.After).Hash; computed != previous {
			wrong = append(wrong, fmt.Sprintf("the event of report %d or an earlier one was changed", i+1))
		}
	}
	return wrong, nil
}

func withoutHash(method any) (map[string]any, error) {
	fields, err := decoded(method)
	delete(fields, hashField)
	return fields, err
}

// decoded returns an object as a map of its JSON fields.
func decoded(object any) (fields map[string]any, err error) {
	text, err := timestamp.JSON(object)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("trail: %w", err)
	}
	return fields, nil
}

// A Link is one change in the chain.
type Link struct {
	SHA256    string
	EventName string
	EventTime time.Time
	RequestID string
	// Contents are the contents that were in force or scheduled after the change, by version.
	Contents map[int64]string
	// Fault says what is wrong with the link; it is empty for a good link.
	Fault string
}

// Check recomputes the chain of a method from its events and its versions' events, in any order. A method's events
// before its first version are not links.
func Check(methodEvents, versionEvents []audit.Event) ([]Link, error) {
	versions := map[string]audit.Event{}
	for _, e := range versionEvents {
		versions[e.RequestID] = e
	}
	events := slices.Clone(methodEvents)
	slices.SortFunc(events, func(a, b audit.Event) int { return int(a.Resource.Revision - b.Resource.Revision) })
	var links []Link
	previous, revision := "", int64(0)
	var before any // the method before an event
	for _, e := range events {
		after := headOf(e.After)
		stored, linked := after.Hash, after.Hash != ""
		gap := e.Resource.Revision != revision+1
		revision = e.Resource.Revision
		if !linked && previous == "" || unlinked(e, before) {
			before = e.After
			continue
		}
		before = e.After
		link := Link{SHA256: stored, EventName: e.EventName, EventTime: e.EventTime, RequestID: e.RequestID, Contents: after.contents()}
		version, found := versions[e.RequestID]
		computed, err := Next(previous, EntryOf(version), EntryOf(e))
		switch {
		case err != nil:
			return nil, err
		case gap:
			link.Fault = "the event before it is missing"
		case !found:
			link.Fault = "the event of its version is missing"
		case computed != stored:
			link.Fault = "its event or an earlier one was changed"
		}
		links = append(links, link)
		previous = stored
	}
	return links, nil
}

// names are the events of a method itself, which change no version.
var names = []string{"ProductionMethodRenamed", "ProductionMethodRetired", "ProductionMethodReopened"}

// unlinked reports whether an event is no link: one of a method itself, which leaves all but its name and its end as they were.
func unlinked(e audit.Event, before any) bool {
	was, err := decoded(before)
	is, err2 := decoded(e.After)
	if err != nil || err2 != nil || !slices.Contains(names, e.EventName) {
		return false
	}
	for _, own := range []string{"name", "retired", "updatedAt", "revision"} {
		delete(was, own)
		delete(is, own)
	}
	return reflect.DeepEqual(was, is)
}

// A head is the part of a method that a check needs.
type head struct {
	Hash        string `json:"trailSha256"`
	Effectivity []struct {
		Version       int64  `json:"version"`
		ContentSHA256 string `json:"contentSha256"`
	} `json:"effectivity"`
}

// headOf reads a method from an event. Anything else has an empty head.
func headOf(method any) (h head) {
	text, err := json.Marshal(method)
	if err != nil || json.Unmarshal(text, &h) != nil {
		return head{}
	}
	return h
}

func (h head) contents() map[int64]string {
	all := map[int64]string{}
	for _, d := range h.Effectivity {
		all[d.Version] = d.ContentSHA256
	}
	return all
}
