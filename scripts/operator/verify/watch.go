package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"wavegate/shared/production/method"
)

// watched looks for the warning of a recall that was not confirmed in time: a machine has been left for long.
func (c *comparison) watched(ctx context.Context, v version, left []method.Reached) error {
	late := slices.ContainsFunc(left, func(x method.Reached) bool {
		return c.now.Sub(c.said[x.Machine].leftSince(v)) > 2*method.ConfirmWithin
	})
	if v.Orders != method.Stop || !late || len(v.Decisions) == 0 {
		return nil
	}
	id := fmt.Sprintf("%s/%s/%d", v.FactoryID, c.method, v.Version)
	c.loaded = nil
	events, err := c.events(ctx, method.RecallResourceType, id)
	if err == nil && len(events) == 0 {
		c.add("version %d: nobody was warned that its recall is not confirmed", v.Version)
	}
	for _, e := range events {
		if e.OrganizationID != c.organization || e.Resource.Revision != 1 {
			c.add("version %d: the warning of its recall was changed: revision %d, for people of %q", v.Version, e.Resource.Revision, e.OrganizationID)
		}
	}
	return err
}

// leftSince returns since when the machine, which is not clear of a version, has been on the list of its recall: since the
// withdrawal, or since it reported the version again, or first, if no step names the machine.
func (r report) leftSince(v version) time.Time {
	since, said, left := v.UpdatedAt, false, true
	for _, m := range r.past {
		switch x := m.Shown(v.Version); {
		case x.Clear:
			said, left = true, false
		case !m.SaysAbout(v.Version):
		case !left, !said && !names(v, r.on):
			since, said, left = m.UpdatedAt, true, true
		}
	}
	if v.UpdatedAt.After(since) {
		return v.UpdatedAt
	}
	return since
}
