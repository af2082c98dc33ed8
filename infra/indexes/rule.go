package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A template is what of a stack's template is compared.
type template struct {
	Resources map[string]resource
}

type resource struct {
	Type       string
	Properties struct {
		// Of a table.
		TableName any
		table
		// Of a parameter. The data's stack publishes the name of each table in one.
		Value json.RawMessage
	}
}

// A table is what a deploy cannot change of one, or only in part.
type table struct {
	KeySchema              any
	LocalSecondaryIndexes  []map[string]any
	GlobalSecondaryIndexes []map[string]any
}

// publishes is the logical id of the table whose name a parameter has; empty if it has none.
func (r resource) publishes() string {
	var value struct{ Ref string }
	if r.Type != "AWS::SSM::Parameter" || json.Unmarshal(r.Properties.Value, &value) != nil {
		return ""
	}
	return value.Ref
}

// taken finds the tables that a deploy takes in place of others, by the names that they have: by parameter. It says which
// deploys would begin with an empty table in place of one that is in use.
func taken(was, next template) (names map[string]string, faults []string) {
	names = map[string]string{}
	for _, parameter := range slices.Sorted(maps.Keys(was.Resources)) {
		old, now := was.Resources[parameter].publishes(), next.Resources[parameter].publishes()
		if old == "" || now == "" || old == now || next.Resources[now].Type != tableType {
			continue
		}
		name, _ := next.Resources[now].Properties.TableName.(string)
		if name == "" {
			faults = append(faults, fmt.Sprintf("%s: a new, empty table takes the place of %s; name the table in restoredTables", now, old))
			continue
		}
		names[now] = name
	}
	return names, faults
}

// differs says how a table that exists differs from the one that the template would take it for. CloudFormation imports it
// all the same, and never looks again.
func differs(id string, live, want table) []string {
	if live.KeySchema == nil {
		return []string{id + ": there is no such table; the deploy would make an empty one"}
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // it was JSON a moment ago
		}
		return string(b)
	}
	if text(live.KeySchema) != text(want.KeySchema) {
		return []string{id + ": its keys are not those of the template"}
	}
	var faults []string
	for _, lists := range [][2][]map[string]any{{live.LocalSecondaryIndexes, want.LocalSecondaryIndexes}, {live.GlobalSecondaryIndexes, want.GlobalSecondaryIndexes}} {
		there, wanted := byName(lists[0]), byName(lists[1])
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if there[name] != wanted[name] {
				faults = append(faults, fmt.Sprintf("%s: it does not have the index %s as the template has it", id, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(there)) {
			if wanted[name] == "" {
				faults = append(faults, fmt.Sprintf("%s: it has an index %s, which the template does not have", id, name))
			}
		}
	}
	return faults
}

const tableType = "AWS::DynamoDB::Table"

// refused says what of a change DynamoDB refuses, or what would replace a table: a deploy adds or removes one global
// index of a table at the most, and an index or a key that is there does not change. Tables that come or go are fine.
func refused(was, next template) []string {
	var faults []string
	for _, id := range slices.Sorted(maps.Keys(was.Resources)) {
		old, table := was.Resources[id], next.Resources[id]
		if old.Type != tableType || table.Type != old.Type {
			continue
		}
		if !reflect.DeepEqual(old.Properties.KeySchema, table.Properties.KeySchema) || !reflect.DeepEqual(old.Properties.LocalSecondaryIndexes, table.Properties.LocalSecondaryIndexes) {
			faults = append(faults, id+": its keys or local indexes change, which makes a new, empty table")
		}
		before, after := byName(old.Properties.GlobalSecondaryIndexes), byName(table.Properties.GlobalSecondaryIndexes)
		var changed []string
		for _, name := range slices.Sorted(maps.Keys(before)) {
			switch now, there := after[name]; {
			case !there:
				changed = append(changed, "-"+name)
			case now != before[name]:
				faults = append(faults, fmt.Sprintf("%s: the index %s changes; add another beside it, and remove this one later", id, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if _, there := before[name]; !there {
				changed = append(changed, "+"+name)
			}
		}
		if len(changed) > 1 {
			faults = append(faults, fmt.Sprintf("%s: %s in one deploy; DynamoDB takes one index of a table at a time", id, strings.Join(changed, ", ")))
		}
	}
	return faults
}

// byName writes the keys and the projection of each index as text.
func byName(indexes []map[string]any) map[string]string {
	all := map[string]string{}
	for _, index := range indexes {
		name, _ := index["IndexName"].(string)
		projection, _ := index["Projection"].(map[string]any)
		projection = maps.Clone(projection)
		if list, ok := projection["NonKeyAttributes"].([]any); ok {
			list = slices.Clone(list)
			slices.SortFunc(list, func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
			projection["NonKeyAttributes"] = list
		}
		b, err := json.Marshal([]any{index["KeySchema"], projection})
		if err != nil {
			panic(err) // it was JSON a moment ago
		}
		all[name] = string(b)
	}
	return all
}
