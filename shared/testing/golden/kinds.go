package golden

import (
	"fmt"
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
	// Copies are attributes with copies of other things.
	Copies []string
	// Free are the paths of maps whose names are data.
	Free []string
	// Numbered is how the names of numbered attributes begin, which count as one.
	Numbered string
	// Whole is set if a write keeps nothing inside an item of the kind, and says why.
	Whole string
	// Shown is how many times an event has an item of the kind; 0: it has little of it, or there is none.
	Shown int
}

const counted = "each count makes it again"

// Kinds lists all kinds.
var Kinds = []Kind{
	{Table: dynamo.Channels, Name: "channel"},
	{Table: dynamo.Releases, Name: "artifact", Shown: 2, Is: has("edgeType", "#artifacts")},
	{Table: dynamo.Releases, Name: "edge type", Shown: 2, Is: has("edgeType", "#types")},
	{Table: dynamo.Releases, Name: "said of a release", Shown: 2, Is: has("edgeType", "#said")},
	{Table: dynamo.Releases, Name: "components", Whole: "each piece makes it again", Is: begins("edgeType", "#components-")},
	{Table: dynamo.Releases, Name: "release", Is: without(has("edgeType", "#artifacts"), has("edgeType", "#types"), has("edgeType", "#said"), begins("edgeType", "#components-"))},
	{Table: dynamo.Rollouts, Name: "freeze", Shown: 2, Is: has("id", "freeze")},
	{Table: dynamo.Rollouts, Name: "halt", Is: begins("id", "halt#")},
	{Table: dynamo.Rollouts, Name: "rollout", Shown: 2, Is: without(has("id", "freeze"), begins("id", "halt#")), Free: []string{"terms.policy.health"}},
	{Table: dynamo.Methods, Name: "method", Shown: 2},
	{Table: dynamo.Factories, Name: "factory", Shown: 2},
	{Table: dynamo.Machines, Name: "machine", Shown: 2, Free: []string{"classesSince"}},
	{Table: dynamo.Products, Name: "product", Shown: 2},
	{Table: dynamo.Edges, Name: "box", Shown: 2, Free: []string{"attributes"}},
	{Table: dynamo.Gateways, Name: "gateway", Shown: 2},
	{Table: dynamo.Enrolments, Name: "enrolment", Shown: 2, Is: has("part", "enrolment")},
	{Table: dynamo.Enrolments, Name: "ids", Is: has("part", "ids")},
	{Table: dynamo.Enrolments, Name: "crowd", Is: has("part", "waits")},
	{Table: dynamo.Enrolments, Name: "waiting box", Is: begins("part", "waiting/")},
	{Table: dynamo.Audit, Name: "event", Whole: "events are only added", Copies: []string{"before", "after", "cause"}, Free: []string{"salts"}},
	{Table: dynamo.Idempotency, Name: "record"},
	{Table: dynamo.RateCounters, Name: "box counter", Is: begins("subject", "edges#"), Numbered: "by"},
	{Table: dynamo.RateCounters, Name: "uploads", Is: begins("subject", "uploads#")},
	{Table: dynamo.RateCounters, Name: "counter", Is: without(begins("subject", "edges#"), begins("subject", "uploads#")), Numbered: "x"},
	{Table: dynamo.RateOverrides, Name: "override", Shown: 2},
	{Table: dynamo.Reports, Name: "trace", Is: begins("edgeId", "trace#"), Free: []string{"attributes"}},
	{Table: dynamo.Reports, Name: "group", Is: begins("edgeId", "group#")},
	{Table: dynamo.Reports, Name: "report", Is: without(begins("edgeId", "trace#"), begins("edgeId", "group#")),
		Free: []string{"attributes", "said", "saidBefore.said", "health.before", "health.now"}},
	{Table: dynamo.Stays, Name: "stay", Whole: "stays are only added"},
	{Table: dynamo.Progress, Name: "form", Is: has("subject", "data")},
	{Table: dynamo.Progress, Name: "recall", Is: has("subject", "recalls")},
	{Table: dynamo.Progress, Name: "hour", Is: begins("part", "hour#")},
	{Table: dynamo.Progress, Name: "warnings", Shown: 2, Is: has("part", "warnings")},
	{Table: dynamo.Progress, Name: "census of a channel", Whole: counted, Is: begins("subject", "channel#")},
	{Table: dynamo.Progress, Name: "census of an organization", Is: begins("subject", "organization#")},
	{Table: dynamo.Progress, Name: "census of a release", Whole: counted, Is: begins("subject", "release#")},
	{Table: dynamo.Progress, Name: "census of a rollout", Whole: counted, Free: []string{"answer.failures", "answer.guard.taken.causes"},
		Is: without(has("subject", "data"), has("subject", "recalls"), begins("part", "hour#"), has("part", "warnings"), begins("subject", "channel#"), begins("subject", "organization#"),
			begins("subject", "release#"))},
	{Table: dynamo.Bells, Name: "bell", Free: []string{"calls", "callers"}},
	{Table: dynamo.MethodVersions, Name: "version", Shown: 2},
	{Table: dynamo.MethodContents, Name: "content"},
	{Table: dynamo.MethodReports, Name: "report of a machine", Shown: 1},
	{Table: dynamo.MethodPlaces, Name: "place"},
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

// named returns the kind with a name, which there is.
func named(id dynamo.TableID, name string) Kind {
	return Kinds[slices.IndexFunc(Kinds, func(k Kind) bool { return k.Table == id && k.Name == name })]
}

// kindOf finds the kind of an item.
func kindOf(i Item) (Kind, error) {
	for _, k := range Kinds {
		if k.Table == i.Table && (k.Is == nil || k.Is(i.Plain)) {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("the item %s of %s is of no kind", i.Key(), i.Table)
}

// walk adds the forms of a value: the path and the type of each value in it, after the kind.
func (k Kind) walk(path string, v any, found map[string]bool) {
	if path != "" {
		found[k.String()+": "+path+" "+typeOf(v)] = true
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
			case path == "" && slices.Contains(k.Copies, name):
				continue
			}
			k.walk(strings.TrimPrefix(path+"."+name, "."), x, found)
		}
	}
}
