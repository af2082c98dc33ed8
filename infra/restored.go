package main

import (
	"regexp"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
)

var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// checkRestored checks that all tables that belong together are named: one that is left out would tell another story
// than the audit trail.
func (s Settings) checkRestored(r *reader) {
	if len(s.RestoredTables) == 0 {
		return
	}
	together := map[dynamo.TableID]bool{}
	for _, t := range recovery.Together() {
		together[t.ID] = true
		if !tableName.MatchString(s.RestoredTables[t.ID]) {
			r.fault("restoredTables: %q is no name of a table for %s; all that belong together are restored to one moment", s.RestoredTables[t.ID], t.ID)
		}
	}
	for _, id := range keysOf(s.RestoredTables) {
		if !together[id] {
			r.fault("restoredTables: %s is not restored", id)
		}
	}
	if s.Events.On {
		r.fault("restoredTables, events: a restored audit table has no stream; turn events off, and see infra/recovery.md")
	}
}

// restore has restored tables stand for the stack's own, which stay as they are.
func (h held) restore(restored map[dynamo.TableID]string) {
	for id, name := range restored {
		h.tables[id] = tableRef{name: &name}
	}
}
