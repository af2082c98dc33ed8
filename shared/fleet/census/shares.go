package census

import (
	"cmp"
	"maps"
	"slices"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
)

// shares are what the boxes of each organization and factory contribute: to each stage, and to all together. The key is the name
// of the attribute and its value.
type shares map[[2]string][]guard.Share

// together is the index of what boxes contribute to all stages together.
var together = len(cohort.Stages)

func (s shares) of(key [2]string) []guard.Share {
	if s[key] == nil {
		s[key] = make([]guard.Share, together+1)
	}
	return s[key]
}

// add adds a share to what the organization and the factory of a box contribute.
func (s shares) add(e report.IndexEntry, share guard.Share, to ...int) {
	for _, key := range [][2]string{{guard.OfOrganization, e.OrganizationID}, {guard.OfFactory, e.FactoryID}} {
		of := s.of(key)
		for _, i := range to {
			of[i] = of[i].Plus(share)
		}
	}
}

// merge adds what other boxes contribute.
func (s shares) merge(other shares) {
	for key, list := range other {
		of := s.of(key)
		for i, share := range list {
			of[i] = of[i].Plus(share)
		}
	}
}

// stage is what all boxes contribute to a stage.
func (s shares) stage(i int) (sum guard.Share) {
	for key, list := range s {
		if key[0] == guard.OfOrganization {
			sum = sum.Plus(list[i])
		}
	}
	return sum
}

// organizations returns what each contributes to each stage, those with the most bad and silent boxes first.
func (s shares) organizations() (list []guard.Organization) {
	for key, of := range s {
		if key[0] == guard.OfOrganization {
			list = append(list, guard.Organization{ID: key[1], Parts: of[:together]})
		}
	}
	weight := func(o guard.Organization) (n int) {
		for _, p := range o.Parts {
			n += p.Bad + p.Treated.Silent
		}
		return n
	}
	slices.SortFunc(list, func(a, b guard.Organization) int { return cmp.Or(weight(b)-weight(a), cmp.Compare(a.ID, b.ID)) })
	return list
}

// places returns the factories and organizations of which boxes are decided or were looked up, in a fixed order. If there is only
// one factory, it is left out, since it is the whole fleet; so is an only organization.
func (s shares) places() (list []guard.Kind) {
	names := map[string]int{}
	for _, key := range slices.SortedFunc(maps.Keys(s), byName) {
		of := s[key][together]
		if key[1] != "" && of.Decided+of.Treated.Boxes+of.Control.Boxes > 0 {
			list = append(list, guard.Kind{Name: key[0], Value: key[1], Share: of})
			names[key[0]]++
		}
	}
	return slices.DeleteFunc(list, func(k guard.Kind) bool { return names[k.Name] == 1 })
}

func byName(a, b [2]string) int { return slices.Compare(a[:], b[:]) }

// single is a group of one box.
func single(silent bool) guard.Group {
	if silent {
		return guard.Group{Boxes: 1, Silent: 1}
	}
	return guard.Group{Boxes: 1}
}
