package method

import (
	"context"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/machine"
)

// A place is an entry in the index of methods by the machines and classes that their versions name. An entry is made
// when a version with the name is first approved, or when a machine says that it has a version which does not name it, and
// is never removed.
type place struct {
	Place    string `json:"place"`
	MethodID string `json:"methodId"`
}

func machinePlace(factoryID, code string) string { return factoryID + "#machine#" + code }

func classPlace(factoryID, class string) string { return factoryID + "#class#" + class }

// places returns the entries of a method.
func (m Method) places() map[string]bool {
	all := map[string]bool{}
	for _, e := range m.Equipment {
		for _, code := range e.Machines {
			all[machinePlace(m.FactoryID, code)] = true
		}
		for _, class := range e.Classes {
			all[classPlace(m.FactoryID, class)] = true
		}
	}
	return all
}

// newPlaces returns the writes of a method's new entries.
func newPlaces(was, next Method) []dynamo.TransactItem {
	var parts []dynamo.TransactItem
	known := was.places()
	for name := range next.places() {
		if !known[name] {
			parts = append(parts, placed(name, next.MethodID))
		}
	}
	return parts
}

// Waits reports whether a version that holds now or later waits for a signature for a machine.
func (s *Store) Waits(ctx context.Context, x machine.Machine) (bool, error) {
	waits := false
	for _, class := range x.Classes {
		err := dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.MethodPlaces, Partition: classPlace(x.FactoryID, class)}, nil, 0, func(p place) error {
			m, err := s.find(ctx, x.FactoryID, p.MethodID)
			for _, d := range m.Effectivity.Prune(s.db.Now()) {
				waits = waits || d.covers(x.Code) && m.equipmentOf(d.Version).names(x) && !m.covers(x, d)
			}
			return err
		})
		if err != nil {
			return false, err
		}
	}
	return waits, nil
}

func placed(name, methodID string) dynamo.TransactItem {
	return dynamo.TransactPut("place", dynamo.MethodPlaces, nil, place{name, methodID}, dynamo.Condition{})
}
