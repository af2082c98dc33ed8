package method

import (
	"context"
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/machine"
)

// A survey is what says which machines could have the versions of a method: all of its versions, the machines of the
// factory, and what they have said, by their codes.
type survey struct {
	versions []Version
	park     []machine.Machine
	said     map[string]onMachineItem
	// method and number are the method, and the number of changes of the factory's machines, when the survey began.
	method Method
	number int64
}

// holds reports whether no decision was made on the method since the survey.
func (s survey) holds(m Method) bool {
	return s.versions != nil && slices.EqualFunc(s.method.Effectivity, m.Effectivity, func(a, b Decision) bool {
		return a.kind() == b.kind() && a.From.Equal(b.From) && a.ApprovedAt.Equal(b.ApprovedAt) && slices.Equal(a.Machines, b.Machines)
	}) && slices.Equal(s.method.Withdrawals, m.Withdrawals)
}

func (s *Store) survey(ctx context.Context, r Ref) (survey, error) {
	var seen survey
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) { seen.versions, err = s.versions(ctx, r.MethodID); return err },
		func(ctx context.Context) error {
			return dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.Machines, Partition: r.FactoryID}, nil, 0, func(m machine.Machine) error {
				seen.park = append(seen.park, m)
				return nil
			})
		},
		func(ctx context.Context) (err error) { seen.said, err = s.saidBy(ctx, r.MethodID, "", ""); return err })
	return seen, err
}

// versions are all versions of a method.
func (s *Store) versions(ctx context.Context, methodID string) (all []Version, err error) {
	err = dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.MethodVersions, Partition: methodID}, nil, 0, func(v Version) error {
		all = append(all, v)
		return nil
	})
	return all, err
}

// saidBy is what machines have said about a method, by their codes: those from one code to another, or all.
func (s *Store) saidBy(ctx context.Context, methodID, least, most string) (map[string]onMachineItem, error) {
	said := map[string]onMachineItem{}
	of := dynamo.Selection{Table: dynamo.MethodReports, Partition: methodID, Least: least, Most: most}
	return said, dynamo.Walk(ctx, s.db, of, nil, 0, func(m onMachineItem) error {
		said[m.Machine] = m
		return nil
	})
}

// surveyed returns the survey for a withdrawal. It takes longer than the writes of others, so one is enough unless they
// decide on the method.
func (s *Store) surveyed(ctx context.Context, r Ref, st state, seen survey) (survey, error) {
	if seen.holds(st.method) {
		return seen, nil
	}
	seen, err := s.survey(ctx, r)
	seen.method, seen.number = st.method, st.owner.Changes()
	return seen, err
}

// waiting are the machines that wait for a version that holds.
func (s survey) waiting(m Method, version int64, at time.Time) (codes []string) {
	for _, x := range s.park {
		if m.waits(x, version, at) {
			codes = append(codes, x.Code)
		}
	}
	return codes
}

// recalls returns the method after a withdrawal of a version: with the machines that it concerns by now, since more may
// have reported it since an earlier withdrawal, and without older withdrawals that all of their machines have confirmed.
func (m Method) recalls(v Version, seen survey, number int64, at time.Time) Method {
	codes := couldHave(v, seen.versions, seen.park, at)
	for _, x := range seen.park {
		if seen.said[x.Code].reports(v.Version) && !slices.Contains(codes, x.Code) {
			codes = append(codes, x.Code)
		}
	}
	m.Recalled = slices.DeleteFunc(slices.Clone(m.Recalled), func(c Concern) bool { return c.Version == v.Version })
	m.Recalled = append(m.Recalled, concern(v, seen.number, number, codes, seen.park))
	m.Recalled = m.equipped(v).fitted(seen.park)
	return m.pruned(seen)
}

// pruned returns the method without older withdrawals that all of their machines have confirmed.
func (m Method) pruned(seen survey) Method {
	var kept []Withdrawal
	for i, w := range m.Withdrawals {
		if i < keptWithdrawals || !m.confirmed(w.Version, seen) {
			kept = append(kept, w)
		}
	}
	m.Withdrawals = kept
	return m.equipped()
}

// confirmed reports whether all machines that a withdrawn version concerns, or that have reported it, have confirmed that
// they do not have it.
func (m Method) confirmed(version int64, seen survey) bool {
	return !slices.ContainsFunc(seen.park, func(x machine.Machine) bool {
		said := seen.said[x.Code]
		return said.reports(version) || m.concerns(version, x) && !said.clear(version)
	})
}
