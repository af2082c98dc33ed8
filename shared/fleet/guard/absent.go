package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Absent is a kind of at least absentNamed boxes that a stage does not contain. By the preset fast, stage 10 does not end without
// one of an attribute that has absentHolds boxes.
type Absent struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Boxes int    `json:"boxes"`
}

const (
	absentNamed = 20
	absentHolds = 30
	mostAbsent  = 10
)

// absent finds the kinds that the stage does not contain.
func (s *Survey) absent(kinds []Kind) {
	for _, k := range kinds {
		if n := k.Treated.Boxes + k.Control.Boxes; n >= absentNamed && k.Treated.Boxes == k.Treated.Silent {
			s.Absent = append(s.Absent, Absent{k.Name, k.Value, n})
		}
	}
	slices.SortStableFunc(s.Absent, func(a, b Absent) int {
		place := func(a Absent) int { return max(slices.Index([]string{OfOrganization, OfFactory}, a.Name), -1) }
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(b.Boxes, a.Boxes))
	})
	s.More = max(len(s.Absent)-mostAbsent, 0)
	s.Absent = s.Absent[:len(s.Absent)-s.More]
}

// missing says which kinds the stage does not contain; empty if there are none.
func (s Survey) missing() string {
	if len(s.Absent) == 0 || s.Percent > 10 {
		return ""
	}
	var names []string
	for _, a := range s.Absent {
		names = append(names, fmt.Sprintf("%s %s (%s)", a.Name, cmp.Or(a.Value, "missing"), boxes(a.Boxes)))
	}
	if s.More > 0 {
		names = append(names, fmt.Sprintf("%d more", s.More))
	}
	return "no box has lived with it of " + strings.Join(names, ", ")
}

// lacks says that a fast rollout waits for boxes of a kind.
func (d decision) lacks(all []Survey) (list findings) {
	s := d.surveyed(all)
	is := func(a Absent) bool { return a.Boxes >= absentHolds && a.Name != OfFactory && a.Name != OfOrganization }
	list.add(d.policy.Hurries() && d.evidence.Stage == 10 && slices.ContainsFunc(s.Absent, is), KindAbsent, s.missing())
	return list
}

// A Culprit is a kind of boxes that a release harms, and the boxes that it was compared with: the others, or if boxes are
// silent, those of the kind that the release did not reach.
type Culprit struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Silent bool   `json:"silent,omitempty"` // otherwise they are bad
	Harmed int    `json:"harmed"`
	Boxes  int    `json:"boxes"`
	// Factories is in how many factories there are bad ones.
	Factories   int `json:"factories,omitempty"`
	OtherHarmed int `json:"otherHarmed"`
	OtherBoxes  int `json:"otherBoxes"`
}
