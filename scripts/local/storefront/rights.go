package storefront

import (
	"cmp"
	"slices"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
)

// A Right is the permission to do one action on a table, or to query one of its indexes.
type Right struct {
	Function string
	Table    dynamo.TableID
	Action   dynamo.Permission
	Index    string
}

func rightsOf(function string, grants []operations.Grant) []Right {
	var all []Right
	for _, g := range grants {
		for _, action := range g.Actions {
			if action != dynamo.Query {
				all = append(all, Right{function, g.Table, action, ""})
				continue
			}
			if !g.OnlyIndexes {
				all = append(all, Right{function, g.Table, action, ""})
			}
			for _, index := range g.Indexes {
				all = append(all, Right{function, g.Table, action, index})
			}
		}
	}
	return all
}

// Used lists the permissions that functions have used.
func (f *Front) Used() []Right { return f.rights(true) }

// Unused lists the permissions that functions have never used.
func (f *Front) Unused() []Right { return f.rights(false) }

func (f *Front) rights(used bool) []Right {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []Right
	for r, u := range f.granted {
		if u == used {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Right) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Table, b.Table),
			cmp.Compare(a.Action, b.Action), cmp.Compare(a.Index, b.Index))
	})
	return list
}

// exercise checks and records the uses of a call. It returns the first use that is not granted.
func (f *Front) exercise(function string, all []Use) (refused Use, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range all {
		if _, granted := f.granted[f.right(function, u)]; !granted {
			return u, false
		}
	}
	for _, u := range all {
		f.granted[f.right(function, u)] = true
	}
	return Use{}, true
}

// right is the right that a use needs: its own, or Write.
func (f *Front) right(function string, u Use) Right {
	own := Right{function, f.tables[u.Table], u.Action, u.Index}
	if _, granted := f.granted[own]; !granted && slices.Contains(dynamo.Write.Actions(), u.Action) {
		own.Action = dynamo.Write
	}
	return own
}
