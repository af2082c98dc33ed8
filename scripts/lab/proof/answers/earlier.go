package answers

import (
	"maps"

	"wavegate/infra/recovery/ledger"
	"wavegate/shared/trail/audit"
)

// trailOf is the trail with whole states. The events of an earlier release lack fields that it keeps in the items: a field
// that an event has neither before nor after it is as in the next event, or as it is stored.
func trailOf(b ledger.Books) map[ledger.Resource][]ledger.Event {
	trail, things := b.Trail(), b.Things()
	for r, events := range trail {
		next := things[r]
		for i := len(events) - 1; i >= 0; i-- {
			e := &events[i]
			e.Before, e.After = maps.Clone(e.Before), maps.Clone(e.After)
			for _, name := range audit.Grown(r.Type) {
				if e.Before != nil && e.Before[name] == nil && e.After != nil && e.After[name] == nil && next[name] != nil {
					e.Before[name], e.After[name] = next[name], next[name]
				}
			}
			next = e.Before
		}
	}
	return trail
}
