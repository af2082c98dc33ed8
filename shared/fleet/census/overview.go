package census

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
)

// A Trouble is a reason for an operator to look at a rollout.
type Trouble string

// Troubles, the worst first.
const (
	Halting Trouble = "halting" // the guard would halt it
	Bad     Trouble = "bad"     // it is going bad, but the guard does not halt it: all boxes get it, or it is bad only for one organization
	Near    Trouble = "near"    // a few more bad or silent boxes would halt it
	Stale   Trouble = "stale"   // it was not counted recently, so its state is unknown
	Stuck   Trouble = "stuck"   // too few boxes take the release
	Waiting Trouble = "waiting" // for people: to approve the next stage, or to promote
	None    Trouble = "none"
)

// Troubles lists all of them in this order.
var Troubles = []Trouble{Halting, Bad, Near, Stale, Stuck, Waiting, None}

// nearHalt is how many more boxes count as a few.
const nearHalt = 3

// A Row is an active rollout in an overview.
type Row struct {
	Trouble Trouble         `json:"trouble"`
	Rollout rollout.Rollout `json:"rollout"`
	// Progress is the last count of a tick with the guard's judgement; nil: it was never counted.
	Progress *Progress `json:"progress,omitempty"`
	// Age is how old the count is, in seconds; without one, how long the rollout has been active.
	Age int64 `json:"ageSeconds"`
}

// NewRow makes a row from the guard's last judgement. It judges nothing itself.
func NewRow(r rollout.Rollout, last *Progress, now time.Time) Row {
	counted := r.StartedAt
	if last != nil {
		counted = last.AsOf
	}
	age := max(now.Sub(counted), 0)
	row := Row{Rollout: r, Progress: last, Age: int64(age / time.Second), Trouble: None}
	var v *guard.Verdict
	if last != nil && last.Guard != nil && last.Guard.Revision == r.Revision { // otherwise the rollout has changed since
		v = &last.Guard.Verdict
	}
	switch {
	case v != nil && v.Action == guard.Halt:
		row.Trouble = Halting
	case v != nil && (v.Pages || v.Reason == guard.OneOrganization):
		row.Trouble = Bad
	case v != nil && near(*v):
		row.Trouble = Near
	case age > guard.Oldest:
		row.Trouble = Stale
	case v == nil:
	case v.Reason == guard.TooFewTaken:
		row.Trouble = Stuck
	case v.Reason == guard.PeoplePromote || v.Reason == guard.ApprovalRequired:
		row.Trouble = Waiting
	}
	return row
}

// near reports whether some boxes are bad or silent, and a few more would halt the rollout. If no box is, the rollout
// is not near a halt, even if few boxes would halt a small stage.
func near(v guard.Verdict) bool {
	d := v.Distance
	bad := v.Halting.Bad > 0 && d.MoreBad <= min(nearHalt, d.Undecided)
	more := v.Treated.Silent*v.Control.Boxes > v.Control.Silent*v.Treated.Boxes // than among the boxes without the release
	return bad || more && d.MoreSilent > 0 && d.MoreSilent <= nearHalt
}

// bad is how many boxes failed or reverted.
func (r Row) bad() int {
	if r.Progress == nil {
		return 0
	}
	sum := Total(r.Progress.Stages)
	return sum.Failed + sum.Reverted
}

// Compare orders rows by their trouble, then by their bad boxes, and then by their start, the latest first.
func (r Row) Compare(other Row) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Troubles, r.Trouble), slices.Index(Troubles, other.Trouble)),
		cmp.Compare(other.bad(), r.bad()),
		other.Rollout.StartedAt.Compare(r.Rollout.StartedAt),
		cmp.Compare(other.Rollout.ID, r.Rollout.ID))
}

// An Overview is a page of the active rollouts, those with trouble first, and totals of all of them.
type Overview struct {
	AsOf time.Time `json:"asOf"`
	// Freeze is the freeze in force, or nil.
	Freeze *freeze.Freeze `json:"freeze,omitempty"`
	// Active is how many active rollouts match the filter. If More is set, there are more that were not checked.
	Active int  `json:"active"`
	More   bool `json:"more,omitempty"`
	// Troubles counts them by trouble.
	Troubles map[Trouble]int `json:"troubles"`
	// Boxes is how many boxes are on their channels, and Silent how many of these are silent, according to their last
	// counts.
	Boxes  int   `json:"boxes"`
	Silent int   `json:"silent"`
	Items  []Row `json:"items"`
	Limit  int   `json:"limit"`
	Skip   int   `json:"skip"`
}

// NewOverview orders rows and takes a page of them.
func NewOverview(rows []Row, limit, skip int) Overview {
	o := Overview{Active: len(rows), Troubles: map[Trouble]int{}, Limit: limit, Skip: skip}
	for _, r := range rows {
		o.Troubles[r.Trouble]++
		if r.Progress != nil {
			o.Boxes += Total(r.Progress.Stages).Expected
			o.Silent += r.Progress.Silent.Boxes
		}
	}
	sorted := slices.SortedFunc(slices.Values(rows), Row.Compare)
	from := min(skip, len(sorted))
	o.Items = append([]Row{}, sorted[from:min(from+limit, len(sorted))]...)
	return o
}
