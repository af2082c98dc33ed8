package census

import (
	"cmp"
	"maps"
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
	Halting Trouble = "halting"     // the guard would halt it
	Bad     Trouble = "bad"         // it is going bad, but the guard does not halt it: all boxes get it, or it is bad only for one organization
	Halted  Trouble = "halted"      // it was halted, and nothing has followed on its channel
	Failing Trouble = "failing"     // so many boxes failed that the guard halts it, unless they recover
	Held    Trouble = "held"        // it tells no more boxes until a person decides
	Needs   Trouble = "needs"       // it waits for a person, and people may not know
	Near    Trouble = "near"        // a few more bad or silent boxes would halt it
	Stale   Trouble = "stale"       // it was not counted recently, so its state is unknown
	Labels  Trouble = "mislabelled" // boxes run the release and say so in other words, so it waits for a person
	Stuck   Trouble = "stuck"       // too few boxes take the release
	Waiting Trouble = "waiting"     // for people: to approve the next stage, or to promote
	Seen    Trouble = "seen"        // it was halted or is held, and somebody has marked that as seen
	None    Trouble = "none"
)

// Troubles lists all of them in this order.
var Troubles = []Trouble{Halting, Bad, Halted, Failing, Held, Needs, Near, Stale, Labels, Stuck, Waiting, Seen, None}

// nearHalt is how many more boxes count as a few.
const nearHalt = 3

// A Row is a rollout in an overview: an active one, or one that was halted.
type Row struct {
	Trouble Trouble         `json:"trouble"`
	Rollout rollout.Rollout `json:"rollout"`
	// Progress is the last count of a tick with the guard's judgement; nil: it was never counted.
	Progress *Progress `json:"progress,omitempty"`
	// Age is how old the count is, in seconds; without one, how long the rollout has been active, or ago it was halted.
	Age int64 `json:"ageSeconds"`
}

// newRow makes a row from the guard's last judgement. It judges nothing itself.
func newRow(r rollout.Rollout, last *Progress, now time.Time) Row {
	counted := r.StartedAt
	switch {
	case r.EndedAt != nil:
		counted = *r.EndedAt
	case last != nil:
		counted = last.AsOf
	}
	age := max(now.Sub(counted), 0)
	row := Row{Rollout: r, Progress: last, Age: int64(age / time.Second), Trouble: None}
	var v *guard.Verdict
	if last != nil && last.Guard != nil && last.Guard.Revision == r.Revision { // otherwise the rollout has changed since
		v = &last.Guard.Verdict
	}
	seen, mislabelled := r.Marked(), last != nil && last.Mislabelled > 0
	switch {
	case r.Status == rollout.Halted && !seen:
		row.Trouble = Halted
	case r.Status == rollout.Halted:
		row.Trouble = Seen
	case v != nil && v.Action == guard.Halt:
		row.Trouble = Halting
	case v != nil && (v.Pages || v.Reason == guard.OneOrganization && !seen):
		row.Trouble = Bad
	case v != nil && v.Retrying != nil && v.Retrying.Halts:
		row.Trouble = Failing
	case r.Stopped() && !seen:
		row.Trouble = Held
	case v != nil && v.Needs.Alarms() && v.Needs.Reason != guard.LabelsUnknown && !seen:
		row.Trouble = Needs
	case v != nil && near(*v):
		row.Trouble = Near
	case age > guard.Oldest:
		row.Trouble = Stale
	case seen:
		row.Trouble = Seen
	case mislabelled && (v == nil || v.Reason == guard.LabelsUnknown || v.Reason == guard.TooFewTaken):
		row.Trouble = Labels
	case v == nil:
	case v.Reason == guard.TooFewTaken:
		row.Trouble = Stuck
	case v.Reason == guard.PeoplePromote || v.Reason == guard.ApprovalRequired:
		row.Trouble = Waiting
	case mislabelled:
		row.Trouble = Labels
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

// halted is when the rollout was halted; zero for an active one.
func (r Row) halted() (at time.Time) {
	if r.Rollout.Status == rollout.Halted && r.Rollout.EndedAt != nil {
		at = *r.Rollout.EndedAt
	}
	return at
}

// Compare orders rows by their trouble, then by their bad boxes, and then by their start or halt, the latest first.
func (r Row) Compare(other Row) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Troubles, r.Trouble), slices.Index(Troubles, other.Trouble)),
		cmp.Compare(other.bad(), r.bad()),
		other.halted().Compare(r.halted()),
		other.Rollout.StartedAt.Compare(r.Rollout.StartedAt),
		cmp.Compare(other.Rollout.ID, r.Rollout.ID))
}

// An Overview is a page of the active rollouts, those with trouble first, totals of all of them, and the halted ones.
type Overview struct {
	AsOf time.Time `json:"asOf"`
	// Freeze is the freeze in force, or nil.
	Freeze *freeze.Freeze `json:"freeze,omitempty"`
	// Active is how many active rollouts match the filter. If More is set, there are more that were not checked.
	Active int  `json:"active"`
	More   bool `json:"more,omitempty"`
	// Troubles counts them and the halted ones by trouble.
	Troubles map[Trouble]int `json:"troubles"`
	// Boxes is how many boxes are on their channels, and Silent how many of these are silent, according to their last
	// counts.
	Boxes  int `json:"boxes"`
	Silent int `json:"silent"`
	// Restless is how many of these are restless, Frequent how many call too often, and Dark are the plants with most of their boxes silent.
	Restless int         `json:"restless,omitempty"`
	Frequent int         `json:"frequent,omitempty"`
	Dark     []DarkPlant `json:"dark,omitempty"`
	// Halted are the halted rollouts that nothing has followed on their channels, the last first and those that were marked
	// as seen at the end; at most mostHalted. Troubles counts all of them.
	Halted []Row `json:"halted,omitempty"`
	Items  []Row `json:"items"`
	Limit  int   `json:"limit"`
	Skip   int   `json:"skip"`
}

// mostHalted limits the halted rollouts of an answer.
const mostHalted = 20

// NewOverview orders rows and takes a page of the active ones.
func NewOverview(rows, halted []Row, limit, skip int) Overview {
	o := Overview{Active: len(rows), Troubles: map[Trouble]int{}, Limit: limit, Skip: skip}
	dark := map[string]DarkPlant{}
	for _, r := range slices.Concat(rows, halted) {
		o.Troubles[r.Trouble]++
		if r.Progress != nil {
			o.Restless, o.Frequent = o.Restless+r.Progress.Restless, o.Frequent+r.Progress.Frequent
			for _, p := range r.Progress.Silent.Dark {
				p.Of, p.Silent = p.Of+dark[p.FactoryID].Of, p.Silent+dark[p.FactoryID].Silent
				dark[p.FactoryID] = p
			}
			o.Boxes += Total(r.Progress.Stages).Expected
			o.Silent += r.Progress.Silent.Boxes
		}
	}
	sorted := slices.SortedFunc(slices.Values(rows), Row.Compare)
	from := min(skip, len(sorted))
	o.Items = append([]Row{}, sorted[from:min(from+limit, len(sorted))]...)
	o.Dark = darkest(slices.Collect(maps.Values(dark)))
	o.Halted = slices.SortedFunc(slices.Values(halted), Row.Compare)
	o.Halted = o.Halted[:min(len(o.Halted), mostHalted)]
	return o
}
