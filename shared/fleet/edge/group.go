package edge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/change"
)

// A regrouping is a box before and after a change, and the JSON pointer of its assignment.
type regrouping struct {
	pointer   string
	was, next Edge
}

// stays reports whether the box stays in its group, or in none.
func (b regrouping) stays() bool {
	return b.was.FactoryID == b.next.FactoryID && b.was.Group == b.next.Group
}

// regroup is the parts of a transaction that write the groups of some boxes. It returns VALIDATION_FAILED with a fault for
// each box whose group is full or has no factory.
func (r *Registry) regroup(ctx context.Context, boxes []regrouping) (parts []dynamo.TransactItem, err error) {
	groups := map[[2]string]report.Group{}
	of := func(e Edge, change func(report.Group, string) (report.Group, error)) error {
		at := [2]string{e.FactoryID, e.Group}
		g, known := groups[at]
		if !known {
			if g, err = r.reports.Group(ctx, e.FactoryID, e.Group); err != nil {
				return err
			}
		}
		groups[at], err = change(g, e.EdgeID)
		return err
	}
	without := func(g report.Group, id string) (report.Group, error) { return g.Without(id), nil }
	with := func(g report.Group, id string) (report.Group, error) { return r.joined(ctx, g, id) }
	var faults []problem.Fault
	for _, b := range boxes { // leave before others join
		if !b.stays() && b.was.Group != "" && b.was.FactoryID != "" {
			if err := of(b.was, without); err != nil {
				return nil, err
			}
		}
	}
	for _, b := range boxes {
		if b.stays() || b.next.Group == "" {
			continue
		}
		if b.next.FactoryID == "" {
			faults = append(faults, problem.Fault{Pointer: b.pointer + "/group", Code: "exclusive", Detail: "is only allowed for a box in a factory"})
			continue
		}
		if err := of(b.next, with); err != nil {
			return nil, err
		}
		if len(groups[[2]string{b.next.FactoryID, b.next.Group}].Members) > report.MostInGroup {
			faults = append(faults, problem.Fault{Pointer: b.pointer + "/group", Code: "range",
				Detail: fmt.Sprintf("must have at most %d boxes", report.MostInGroup)})
		}
	}
	if len(faults) > 0 {
		return nil, problem.Invalid(faults)
	}
	for _, at := range slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		parts = append(parts, r.reports.GroupPart(groups[at]))
	}
	return parts, nil
}

// joined is a group with another box. An installer may open a group, and fill it while all its boxes are its own and none of
// them runs, so that a stolen flash station keeps no group waiting. joined returns FORBIDDEN for another group.
func (r *Registry) joined(ctx context.Context, g report.Group, id string) (report.Group, error) {
	by := string(RegistrarOf(r.caller))
	if len(g.Members) == 0 {
		g.OpenedBy = by
	}
	runs := false
	if by != "" && by == g.OpenedBy {
		for _, member := range g.Members {
			row, err := r.reports.Get(ctx, member)
			if err != nil {
				return g, err
			}
			runs = runs || begun(row)
		}
	}
	if by != "" && (by != g.OpenedBy || runs) && !slices.Contains(g.Members, id) {
		return g, problem.New(problem.Forbidden, "Your roles only allow you to register boxes into a group of your own in which no box runs. Let an admin add this one.")
	}
	if by != g.OpenedBy {
		g.OpenedBy = ""
	}
	return g.With(id), nil
}

// regroupAll adds the groups of a batch to a set, and returns how many they are.
func (r *Registry) regroupAll(ctx context.Context, set *change.Set, batch []BatchItem, was []Stored) (added int, err error) {
	var boxes []regrouping
	for i, m := range batch {
		next, _, _ := was[i].Edge.assign(m.EdgeID, m.Assignment, was[i].Row.Tokens, set.After(time.Time{}))
		boxes = append(boxes, regrouping{fmt.Sprintf("/edges/%d", i), was[i].Edge, next})
	}
	parts, err := r.regroup(ctx, boxes)
	set.With(parts...)
	return len(parts), err
}
