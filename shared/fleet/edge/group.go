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
	of := func(e Edge, change func(report.Group, string) report.Group) error {
		at := [2]string{e.FactoryID, e.Group}
		g, known := groups[at]
		if !known {
			if g, err = r.reports.Group(ctx, e.FactoryID, e.Group); err != nil {
				return err
			}
		}
		groups[at] = change(g, e.EdgeID)
		return nil
	}
	var faults []problem.Fault
	for _, b := range boxes { // leave before others join
		if !b.stays() && b.was.Group != "" && b.was.FactoryID != "" {
			if err := of(b.was, report.Group.Without); err != nil {
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
		if err := of(b.next, report.Group.With); err != nil {
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
