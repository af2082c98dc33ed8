package main

import (
	"regexp"

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
}
