package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A template is the part of a stack's template that is compared.
type template struct {
	Resources map[string]resource
}

type resource struct {
	Type       string
	Properties struct {
		// Of a table.
		TableName any
		table
		// Of a parameter. The data stack publishes the name of each table in one.
		Value json.RawMessage
	}
}

// A table is the part of a table that a deploy can change only in part, or not at all.
type table struct {
	KeySchema              any
	LocalSecondaryIndexes  []map[string]any
	GlobalSecondaryIndexes []map[string]any
}

// publishes is the logical id of the table whose name a parameter contains; empty if there is none.
func (r resource) publishes() string {
	var value struct{ Ref string }
	if r.Type != "AWS::SSM::Parameter" || json.Unmarshal(r.Properties.Value, &value) != nil {
		return ""
	}
	return value.Ref
}

// taken finds the tables that replace others in a deploy: their names by parameter. It reports deploys that would replace a
// table in use with an empty one.
func taken(was, next template) (names map[string]string, faults []string) {
	names = map[string]string{}
	for _, parameter := range slices.Sorted(maps.Keys(was.Resources)) {
		old, now := was.Resources[parameter].publishes(), next.Resources[parameter].publishes()
		if old == "" || now == "" || old == now || next.Resources[now].Type != tableType {
			continue
		}
		name, _ := next.Resources[now].Properties.TableName.(string)
		if name == "" {
			faults = append(faults, fmt.Sprintf("%s: a new, empty table would replace %s; name the table in restoredTables", now, old))
			continue
		}
		names[now] = name
	}
	return names, faults
}

// differs lists how an existing table differs from its definition in the template. CloudFormation would import it without
// looking.
func differs(id string, live, want table) []string {
	if live.KeySchema == nil {
		return []string{id + ": this table does not exist; the deploy would make an empty one"}
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // it was JSON a moment ago
		}
		return string(b)
	}
	if text(live.KeySchema) != text(want.KeySchema) {
		return []string{id + ": its keys differ from the template's"}
	}
	var faults []string
	for _, lists := range [][2][]map[string]any{{live.LocalSecondaryIndexes, want.LocalSecondaryIndexes}, {live.GlobalSecondaryIndexes, want.GlobalSecondaryIndexes}} {
		there, wanted := byName(lists[0]), byName(lists[1])
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if there[name] != wanted[name] {
				faults = append(faults, fmt.Sprintf("%s: its index %s is missing or differs from the template's", id, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(there)) {
			if wanted[name] == "" {
				faults = append(faults, fmt.Sprintf("%s: it has an index %s that is not in the template", id, name))
			}
		}
	}
	return faults
}

const tableType = "AWS::DynamoDB::Table"

// refused lists the changes that DynamoDB would refuse or that would replace a table: a deploy may add or remove one global
// index of a table, but not change an existing index or key. New and removed tables are fine.
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
				faults = append(faults, fmt.Sprintf("%s: the index %s changes; add another one, and remove this one later", id, name))
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
