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
	Resources map[string]struct {
		Type       string
		Properties struct {
			KeySchema              any
			LocalSecondaryIndexes  any
			GlobalSecondaryIndexes []map[string]any
		}
	}
}

// refused says what of a change DynamoDB refuses, or what would replace a table: a deploy adds or removes one global
// index of a table at the most, and an index or a key that is there does not change. Tables that come or go are fine.
func refused(was, next template) []string {
	var faults []string
	for _, id := range slices.Sorted(maps.Keys(was.Resources)) {
		old, table := was.Resources[id], next.Resources[id]
		if old.Type != "AWS::DynamoDB::Table" || table.Type != old.Type {
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
		b, err := json.Marshal([]any{index["KeySchema"], index["Projection"]})
		if err != nil {
			panic(err) // it was JSON a moment ago
		}
		all[name] = string(b)
	}
	return all
}
