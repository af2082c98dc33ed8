package method

import "wavegate/shared/platform/dynamo"

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

func placed(name, methodID string) dynamo.TransactItem {
	return dynamo.TransactPut("place", dynamo.MethodPlaces, nil, place{name, methodID}, dynamo.Condition{})
}
