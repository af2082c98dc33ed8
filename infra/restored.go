package main

import (
	"regexp"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
)

var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// checkRestored checks the names of tables that a restore made. A table without a name is the stack's own: one that a
// release after the restore added, for example.
func (s Settings) checkRestored(r *reader) {
	restorable := map[dynamo.TableID]bool{}
	for _, t := range recovery.Together() {
		restorable[t.ID] = true
	}
	for _, id := range keysOf(s.RestoredTables) {
		switch name := s.RestoredTables[id]; {
		case !restorable[id]:
			r.fault("restoredTables: %s is not restored", id)
		case !tableName.MatchString(name):
			r.fault("restoredTables: %q is not a name of a table, for %s", name, id)
		}
	}
}
