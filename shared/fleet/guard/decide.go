// Package guard decides on evidence whether a staged rollout goes on: it halts a bad release and promotes a
// good one. The rule is pure. It knows neither a store nor a clock, and it never asks for more than a count
// of boxes and samples of when boxes were last seen.
//
// # Groups
//
// A box is compared in the stage that the hash of its name gives it. It belongs to the stage's group if it was seen since
// that stage began, and to the control if the release never reached its stage. Nothing that happens to a box later takes
// it out of its group: whether it was told the release, failed, or was put off. So only the hash decided which boxes have
// the release, and whatever plants do, they do it to both groups alike. Both groups poll at the same interval.
//
// Every stage that the release reached is judged until the rollout ends, by its own start. A resumption keeps the
// starts. Another rollout of the same version on the channel inherits them: what failed once does not start unknown.
//
// # Failures
//
// The evidence is looked at every minute. A fixed threshold, looked at so often, halts good releases by chance. Wald's
// sequential test does not, as long as boxes fail independently of each other. Each stage is tested, and all boxes
// together. Boxes that are undecided count as good, so the order of reports cannot halt a good release.
//
// A box that failed may try again: its failure is bad once it is DecideWithin old. What goes wrong after a box ran the
// release is bad at once, until the box has run it for a soak.
//
// When a soak ends, a stage that could still be good or bad must not wait for ever. From Needs boxes on, counted with the
// stages before it, the stage halts if it looks more like an intolerable release than like an acceptable one and
// chance does not explain its bad boxes. Otherwise it goes on. A smaller stage holds if it has more bad boxes than chance
// explains.
//
// # Silence
//
// A bricked box reports nothing. Once every SilentAfter, each stage is compared with the boxes that the release did not
// reach. It takes Fisher's exact test, at a level that falls with each look, and Wald's test against the share of the
// control. In between, nothing is tested: each look is another chance to be wrong.
//
// At 100 percent there is nobody left to compare with. The last controls report whether more boxes are away than chance
// explains. Then the rollout is held, and people are paged. For one more soak after the completion the guard goes on
// looking, and pages people if the release goes bad. A publication that sends boxes back is theirs.
//
// # Clearing
//
// A box clears its stage by living on: it was seen running the release at least a soak after it installed it. Of all boxes
// of the stage, the share Taken must do so, or all but one, but always one of them. So boxes that cannot fetch the
// release, have no room for it, were put off or never polled keep the rollout where it is. They never halt it.
//
// Simulated fleets and what became of them are in scripts/benchmarks/guard and scripts/benchmarks/results/guard.md.
package guard

import (
	"slices"
	"time"
)

// Oldest is how old a count may be to promote by.
const Oldest = 2 * time.Minute

// Decide judges a rollout at a moment.
//
// Nothing that people set holds up a halt: no window, freeze, approval or soak. Failures halt by an old count,
// too, since a failure does not age. A rollout is promoted or completed if its stage has soaked and is clear, by a new
// count; and promoted only inside a window, unfrozen and approved.
func Decide(p Policy, e Evidence, at time.Time) Verdict {
	d := decision{policy: p, evidence: e, at: at, stage: e.present(), test: p.Guard.test()}
	d.told, d.undecided = e.totals()
	d.seen = d.looks()
	v := Verdict{Stage: e.Stage, Next: e.next(), Looks: d.seen, Taken: e.Taken}
	v.Action, v.Reasons, v.Organization = d.judge()
	v.Reason, v.Acts = v.Reasons[0], p.Mode == Act && v.Action != Hold
	v.Pages = v.Next == 0 && (v.Action == Halt || slices.Contains(v.Reasons, TooManyBad) || slices.Contains(v.Reasons, Silent))
	d.measure(&v)
	v.Sentence = d.sentence(v)
	return v
}

// A decision is the work on one verdict.
type decision struct {
	policy          Policy
	evidence        Evidence
	at              time.Time
	stage           StageBoxes // the present one
	told, undecided int        // of all stages
	test            Wald       // of failures
	seen            []Look     // the last look at each stage
}

func (d decision) judge() (action Action, reasons []Reason, organization string) {
	if !d.evidence.Active {
		return Hold, d.afterwards(), ""
	}
	halts := d.halts()
	if len(halts) > 0 {
		if organization = d.alone(); organization == "" {
			return Halt, halts, ""
		}
	}
	reasons = d.holds(organization)
	switch {
	case len(reasons) > 0:
		return Hold, reasons, organization
	case d.evidence.next() == 0:
		return Complete, []Reason{Clear}, ""
	}
	return Promote, []Reason{Clear}, ""
}

// afterwards lists why a completed release seems to go bad. Without that, or for a rollout that ended otherwise, the only
// reason to hold is that it is not active.
func (d decision) afterwards() []Reason {
	var reasons []Reason
	if d.evidence.Completed && d.counted() {
		if _, bad := d.failures(Organization{}); bad {
			reasons = append(reasons, TooManyBad)
		}
		if _, _, unexplained := d.away(); unexplained {
			reasons = append(reasons, Silent)
		}
	}
	if len(reasons) == 0 {
		return []Reason{NotActive}
	}
	return reasons
}

// halts lists the reasons to halt.
func (d decision) halts() []Reason {
	var reasons []Reason
	if _, halts := d.failures(Organization{}); halts {
		reasons = append(reasons, TooManyBad)
	}
	if slices.ContainsFunc(d.seen, func(l Look) bool { return l.Halts }) {
		reasons = append(reasons, TooManySilent)
	}
	return reasons
}

// alone returns the organization without whose boxes there would be no halt, or an empty id. The halt waits for the other
// organizations' boxes if there are enough of them, and not for longer than a box may take to decide.
func (d decision) alone() string {
	if d.at.Sub(d.evidence.Since) >= d.policy.Guard.DecideWithin.Length() {
		return ""
	}
	for _, o := range d.evidence.Organizations {
		if _, halts := d.failures(o); d.others(o) && !halts && !slices.ContainsFunc(d.seen, func(l Look) bool { return l.Halts && l.Only != o.ID }) {
			return o.ID
		}
	}
	return ""
}

// How many boxes of others it takes to wait for them: a number, or a share of the told boxes.
const (
	othersEnough = 20
	othersShare  = 0.1
)

// others reports whether the boxes of the other organizations are enough to wait for.
func (d decision) others(than Organization) bool {
	others := d.told - than.told()
	return others >= othersEnough || others > 0 && float64(others) >= othersShare*float64(d.told)
}

// counted reports whether there is a new count of the present stage.
func (d decision) counted() bool {
	e := d.evidence
	return !e.AsOf.IsZero() && e.CountedAt == e.Stage && d.at.Sub(e.AsOf).Abs() <= Oldest
}

func (d decision) soaked() time.Duration { return max(d.at.Sub(d.evidence.Since), 0) }

func (d decision) soakOver() bool { return d.soaked() >= d.policy.SoakAt(d.evidence.Stage) }

// holds lists what keeps the rollout from going on.
func (d decision) holds(organization string) []Reason {
	var reasons []Reason
	add := func(applies bool, r Reason) {
		if applies {
			reasons = append(reasons, r)
		}
	}
	e, promote := d.evidence, d.policy.Promote
	add(!d.counted() || d.soakOver() && e.Taken == nil, NotCounted)
	add(organization != "", OneOrganization)
	add(d.tooSmall(), EvidenceTooSmall)
	if t := e.Taken; t != nil && d.soakOver() {
		add(t.Good < t.Needed && t.Good+t.Young >= t.Needed, Undecided)
		add(t.Good < t.Needed && t.Good+t.Young < t.Needed, TooFewTaken)
		_, _, unexplained := d.away()
		add(unexplained, Silent)
	}
	add(!d.soakOver(), Soaking)
	add(!promote.Auto, PeoplePromote)
	if next := e.next(); next != 0 {
		add(!promote.Windows.Open(d.at), WindowClosed)
		add(e.Freeze != nil && d.at.Before(e.Freeze.Until), Frozen)
		add(slices.Contains(d.policy.Approvals.Before, next) && !slices.Contains(e.Approved, next), ApprovalRequired)
	}
	return reasons
}

// tooSmall reports whether a small stage is not clear: it is left to people, there are no boxes at all, or more of its
// boxes are bad than chance explains, by itself or with the stages before it.
func (d decision) tooSmall() bool {
	switch {
	case d.fleet() == 0:
		return true
	case !d.small():
		return false
	case d.policy.Guard.SmallFleet == People:
		return true
	}
	return d.soakOver() && d.badUnexplained()
}

// fleet is how many boxes the channel has.
func (d decision) fleet() int {
	boxes := 0
	for _, b := range d.evidence.Stages {
		boxes += b.Expected
	}
	return boxes
}

// measure finds the numbers of a verdict.
func (d decision) measure(v *Verdict) {
	c, _ := d.failures(Organization{})
	v.Halting, v.Treated, v.Control = c, d.stage.Treated, d.control(d.evidence.at())
	l := d.telling()
	if l.Number > 0 {
		v.Treated, v.Control = l.Treated, l.Control
	}
	if treated, control, unexplained := d.away(); unexplained {
		v.Treated, v.Control = treated, control
	}
	v.Distance = Distance{
		MoreBad: d.moreBad(), FewerBad: d.fewerBad(), Undecided: d.undecided,
		MoreGood: none, MoreSilent: none,
		Soaked: int64(d.soaked() / time.Second),
		Soak:   int64(d.policy.SoakAt(v.Stage) / time.Second),
	}
	if t := v.Taken; t != nil {
		v.Distance.MoreGood, v.Distance.Spare = max(t.Needed-t.Good, 0), max(t.Good-t.Needed, 0)
	}
	if l.Number > 0 && d.evidence.next() != 0 {
		v.Distance.MoreSilent = d.moreSilent(l)
	}
	if slices.Contains(v.Reasons, WindowClosed) {
		if at, ok := d.policy.Promote.Windows.Opens(d.at); ok {
			v.Distance.OpensAt = &at
		}
	}
}

// telling is the look that a verdict shows: the one that halts, and otherwise that of the present stage.
func (d decision) telling() Look {
	if i := slices.IndexFunc(d.seen, func(l Look) bool { return l.Halts }); i >= 0 {
		return d.seen[i]
	}
	return lookOf(d.seen, d.evidence.Stage)
}

// moreSilent is how many more silent boxes would have halted at a look; none if not even all would.
func (d decision) moreSilent(l Look) int {
	rest := l.Treated.Boxes - l.Treated.Silent
	more := least(func(more int) bool {
		more = min(more, rest+1)
		return more > rest || d.policy.Guard.tellsApart(Group{Boxes: l.Treated.Boxes, Silent: l.Treated.Silent + more}, l.Control, Level(l.Number))
	})
	if more > rest {
		return none
	}
	return more
}

// none stands for a number of boxes that does not exist.
const none = -1
