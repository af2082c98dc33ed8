package golden

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
)

// A Kind is a kind of items in a table.
type Kind struct {
	Table dynamo.TableID
	Name  string
	// Is reports whether an item of the table is of the kind; nil: each is.
	Is func(Plain) bool
	// Parts returns parts of an item whose forms count by themselves, by a name; nil: the item is one part.
	Parts func(Plain) map[string][]Plain
	// States are paths of values that are forms themselves, such as the states of a box.
	States []string
	// Free are the paths of maps whose names are data.
	Free []string
	// Numbered is how the names of numbered attributes begin, which count as one.
	Numbered string
	// Whole is set if a write keeps nothing inside an item of the kind, and says why.
	Whole string
}

const counted = "each count makes it again"

// Kinds lists all kinds.
var Kinds = []Kind{
	{Table: dynamo.Channels, Name: "channel", States: []string{"rollout.guard"}},
	{Table: dynamo.Releases, Name: "artifact", Is: has("edgeType", "#artifacts"), States: []string{"state"}},
	{Table: dynamo.Releases, Name: "release", Is: without(has("edgeType", "#artifacts"))},
	{Table: dynamo.Rollouts, Name: "freeze", Is: has("id", "freeze")},
	{Table: dynamo.Rollouts, Name: "halt", Is: begins("id", "halt#")},
	{Table: dynamo.Rollouts, Name: "rollout", Is: without(has("id", "freeze"), begins("id", "halt#")), States: []string{"status", "endedBy"}, Free: []string{"health"}},
	{Table: dynamo.Methods, Name: "method", States: []string{"latest.status"}},
	{Table: dynamo.Factories, Name: "factory"},
	{Table: dynamo.Machines, Name: "machine", Free: []string{"classesSince"}},
	{Table: dynamo.Edges, Name: "box", Free: []string{"attributes"}},
	{Table: dynamo.Gateways, Name: "gateway"},
	{Table: dynamo.Enrolments, Name: "enrolment", Is: has("part", "enrolment")},
	{Table: dynamo.Enrolments, Name: "ids", Is: has("part", "ids")},
	{Table: dynamo.Enrolments, Name: "crowd", Is: has("part", "waits")},
	{Table: dynamo.Enrolments, Name: "waiting box", Is: begins("part", "waiting/")},
	{Table: dynamo.Audit, Name: "event", Whole: "events are only added", Parts: eventParts, States: []string{"eventName"},
		Free: []string{"salts", "classesSince", "taken.causes", "attributes", "health"}},
	{Table: dynamo.Idempotency, Name: "record"},
	{Table: dynamo.RateCounters, Name: "box counter", Is: begins("subject", "edges#"), Numbered: "by"},
	{Table: dynamo.RateCounters, Name: "counter", Is: without(begins("subject", "edges#")), Numbered: "x"},
	{Table: dynamo.RateOverrides, Name: "override", States: []string{"kind"}},
	{Table: dynamo.Reports, Name: "trace", Is: begins("edgeId", "trace#"), Free: []string{"attributes"}},
	{Table: dynamo.Reports, Name: "group", Is: begins("edgeId", "group#")},
	{Table: dynamo.Reports, Name: "report", Is: without(begins("edgeId", "trace#"), begins("edgeId", "group#")), States: []string{"offer.state"},
		Free: []string{"attributes", "said", "saidBefore.said", "health.before", "health.now"}},
	{Table: dynamo.Progress, Name: "form", Is: has("subject", "data")},
	{Table: dynamo.Progress, Name: "recall", Is: has("subject", "recalls")},
	{Table: dynamo.Progress, Name: "hour", Is: begins("part", "hour#")},
	{Table: dynamo.Progress, Name: "warnings", Is: has("part", "warnings")},
	{Table: dynamo.Progress, Name: "census of a channel", Whole: counted, Is: begins("subject", "channel#")},
	{Table: dynamo.Progress, Name: "census of an organization", Is: begins("subject", "organization#")},
	{Table: dynamo.Progress, Name: "census of a rollout", Whole: counted, Free: []string{"answer.failures", "answer.guard.taken.causes"},
		Is: without(has("subject", "data"), has("subject", "recalls"), begins("part", "hour#"), has("part", "warnings"), begins("subject", "channel#"), begins("subject", "organization#"))},
	{Table: dynamo.Bells, Name: "bell", Free: []string{"calls", "callers"}},
	{Table: dynamo.MethodVersions, Name: "version", States: []string{"status"}},
	{Table: dynamo.MethodContents, Name: "content"},
	{Table: dynamo.MethodReports, Name: "report of a machine", States: []string{"state"}},
	{Table: dynamo.MethodPlaces, Name: "place"},
}

// eventParts are an event, the states of its resource, which depend on the resource's type, and its cause.
func eventParts(p Plain) map[string][]Plain {
	all, event := map[string][]Plain{}, maps.Clone(p)
	add := func(member, name string) {
		if m, ok := p[member].(Plain); ok {
			all[name] = append(all[name], m)
			delete(event, member)
		}
	}
	resource, _ := p["resource"].(Plain)
	kind := fmt.Sprint(resource["type"])
	add("before", "state of "+kind)
	add("after", "state of "+kind)
	add("cause", "cause")
	all[""] = []Plain{event}
	return all
}

func has(name, value string) func(Plain) bool {
	return func(p Plain) bool { return p[name] == value }
}

func begins(name, prefix string) func(Plain) bool {
	return func(p Plain) bool {
		s, _ := p[name].(string)
		return strings.HasPrefix(s, prefix)
	}
}

func without(others ...func(Plain) bool) func(Plain) bool {
	return func(p Plain) bool {
		return !slices.ContainsFunc(others, func(is func(Plain) bool) bool { return is(p) })
	}
}

func (k Kind) String() string { return string(k.Table) + ": " + k.Name }

// kindNamed returns the kind with a name, which there is.
func kindNamed(id dynamo.TableID, name string) Kind {
	return Kinds[slices.IndexFunc(Kinds, func(k Kind) bool { return k.Table == id && k.Name == name })]
}

// KindOf finds the kind of an item.
func KindOf(id dynamo.TableID, p Plain) (Kind, error) {
	for _, k := range Kinds {
		if k.Table == id && (k.Is == nil || k.Is(p)) {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("the item %s of %s is of no kind", Key(id, p), id)
}

// Forms lists what an item consists of: the path and the type of each value, and its states. Each begins with the kind.
func Forms(id dynamo.TableID, p Plain) ([]string, error) {
	k, err := KindOf(id, p)
	if err != nil {
		return nil, err
	}
	parts := map[string][]Plain{"": {p}}
	if k.Parts != nil {
		parts = k.Parts(p)
	}
	var all []string
	for name, list := range parts {
		found := map[string]bool{}
		for _, part := range list {
			k.walk("", part, found)
		}
		for form := range found {
			all = append(all, strings.TrimSuffix(k.String()+": "+name, ": ")+": "+form)
		}
	}
	for _, path := range k.States {
		if v := at(p, path); v != nil {
			all = append(all, k.String()+": "+path+"="+fmt.Sprint(v))
		}
	}
	return all, nil
}

func (k Kind) walk(path string, v any, found map[string]bool) {
	if path != "" {
		found[path+" "+typeOf(v)] = true
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			k.walk(path+"[]", x, found)
		}
	case Plain:
		for name, x := range v {
			switch {
			case slices.Contains(k.Free, path):
				name = "*"
			case path == "" && k.Numbered != "" && strings.HasPrefix(name, k.Numbered):
				name = k.Numbered + "*"
			}
			k.walk(strings.TrimPrefix(path+"."+name, "."), x, found)
		}
	}
}

// at returns the value at a path; nil if there is none.
func at(p Plain, path string) any {
	var v any = p
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(Plain)
		v = m[name]
	}
	return v
}
