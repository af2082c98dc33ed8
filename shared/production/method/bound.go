package method

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
)

// Leaves refuses with CONFLICT that a box leaves a factory while it speaks for machines that have versions: these would
// hear of no recall. The refusal says what they have. It returns the condition that no machine of the factory has
// changed since.
func (s *Store) Leaves(ctx context.Context, factoryID, box string) (dynamo.TransactItem, error) {
	var owner factory.Factory
	var bound []machine.Machine
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) { owner, err = s.factories.Find(ctx, factoryID); return err },
		func(ctx context.Context) (err error) {
			bound, err = machine.OfBox(ctx, s.db, factoryID, box)
			return err
		})
	if err != nil {
		return dynamo.TransactItem{}, err
	}
	var has []string
	for _, x := range bound {
		versions, err := s.versionsOn(ctx, x)
		if err != nil {
			return dynamo.TransactItem{}, err
		}
		for _, v := range versions {
			has = append(has, "machine "+x.Code+" has "+v)
		}
	}
	if len(has) > 0 {
		return dynamo.TransactItem{}, problem.New(problem.Conflict, "Box %s speaks for machines of factory %s: %s. Set another box for them first, or none, or sign the move with departure.",
			box, factoryID, strings.Join(has[:min(len(has), mostMissing)], "; "))
	}
	return owner.Check(owner.Unchanged()), nil
}

// versionsOn names the versions that a machine has or may have: those that hold on it, those that it has reported, and
// withdrawn ones that it has not confirmed.
func (s *Store) versionsOn(ctx context.Context, x machine.Machine) (all []string, err error) {
	polls := MachinePolls{store: s}
	for after := ""; ; {
		methods, last, err := polls.all(ctx, PollRequest{FactoryID: x.FactoryID, Limit: maxPolled, After: after}, x)
		if err != nil {
			return nil, err
		}
		for _, m := range methods {
			var said OnMachine
			if _, err := s.db.Get(ctx, dynamo.MethodReports, dynamo.Key{"methodId": m.MethodID, "machine": x.Code}, &said); err != nil {
				return nil, err
			}
			for _, version := range m.versionsOn(x, said, s) {
				all = append(all, fmt.Sprintf("version %d of %s", version, m.MethodID))
			}
		}
		if after = last; last == "" {
			return all, nil
		}
	}
}

func (m Method) versionsOn(x machine.Machine, said OnMachine, s *Store) []int64 {
	var all []int64
	if d, holds := m.Effectivity.At(x.Code, s.db.Now()); holds && m.covers(x, d) && !said.clear(d.Version) {
		all = append(all, d.Version)
	}
	for _, one := range said.Versions {
		if said.reports(one.Version) {
			all = append(all, one.Version)
		}
	}
	for _, one := range slices.Concat(said.Deviations, said.OtherBytes) {
		if said.reports(one.Version) {
			all = append(all, one.Version)
		}
	}
	for _, w := range m.Withdrawals {
		if m.concerns(w.Version, x) && !said.clear(w.Version) {
			all = append(all, w.Version)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
