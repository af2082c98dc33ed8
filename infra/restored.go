package main

import (
	"regexp"
	"slices"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
)

var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// checkRestored checks the names of tables that a restore made. The stack makes each table without a name itself, such as
// one that a later release added.
func (s Settings) checkRestored(r *reader) {
	restorable := map[dynamo.TableID]bool{}
	for _, t := range recovery.Together() {
		restorable[t.ID] = true
	}
	for _, id := range keysOf(s.RestoredTables) {
		switch name := s.RestoredTables[id]; {
		case !restorable[id]:
			r.fault("restoredTables: %s cannot be restored", id)
		case !tableName.MatchString(name):
			r.fault("restoredTables: %q is not a valid name for the table %s", name, id)
		}
	}
	for _, id := range keysOf(s.RemadeTables) {
		switch lost := slices.ContainsFunc(dynamo.Tables, func(t dynamo.Table) bool { return t.ID == id && t.Ephemeral }); {
		case !lost:
			r.fault("remadeTables: %s is restored, and not made anew: see infra/recovery.md", id)
		case s.RestoredTables[id] != "":
			r.fault("remadeTables: %s has a name in restoredTables", id)
		case s.RemadeTables[id] < 1 || s.RemadeTables[id] > 99:
			r.fault("remadeTables: %d of %s; give how often it was lost, from 1 to 99", s.RemadeTables[id], id)
		}
	}
}
