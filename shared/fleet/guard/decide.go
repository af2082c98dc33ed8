// Package guard decides on evidence whether a staged rollout goes on: it halts a bad release and promotes a
// good one. The rule is pure. It knows neither a store nor a clock, and it never asks for more than a count
// of boxes and two samples of when boxes were last seen.
//
// # Failures
//
// The evidence is looked at every minute. A fixed threshold, looked at so often, halts good releases by
// chance. Wald's sequential test does not: however often it is looked at, it halts a release of acceptable
// quality at most Alpha/(1-Beta) of the time, as long as boxes fail independently of each other. Where all
// failures are in a twentieth of the plants, the simulation finds 1.4 percent.
//
// Boxes report success before failure. So halts look at all boxes that were told the release, and count
// those that are undecided as good. What has been reported is then never more than what is true, and the
// order of reports cannot halt a good release. Clearing looks at the decided boxes of the present stage and
// counts overdue ones as bad, and no stage is cleared before its first boxes could be overdue.
//
// # Silence
//
// A bricked box reports nothing. Which boxes a stage reaches is a matter of a hash, so the boxes that it does
// not reach are a control group: whatever silences plants silences both groups alike.
//
// Wald's limits do not hold here. Each look takes a new sample of a state that comes and goes, as plants are
// switched off and on, and every look is another chance to be wrong. Simulated with plants that go dark
// together, the test against the control's upper bound alone halts far more good releases than Alpha. So a
// halt also takes Fisher's exact test of the two groups, at a level that falls with each look; see Level. The
// levels of all looks sum up to Alpha, so the bound holds whatever plants do: given which boxes are silent,
// only the hash decided which of them have the release.
//
// At 100 percent there is nothing to compare with. The last control tells when a stage is clear, and halts
// nothing: the first night would. For clearing, a stage is tested against the least share of silent boxes
// that the control allows for, by a bound that is wrong in a quarter of a percent: it is looked at each minute,
// and with a usual bound one lucky look at a large outage clears a bad release in ten. In such an outage the
// rule holds.
//
// The simulation and its figures are in scripts/lab/benchmarks/guard and scripts/lab/benchmarks/results/guard.md.
package guard

import (
	"slices"
	"time"
)

// Oldest is how old a count may be to promote by, and to judge silence by.
const Oldest = 2 * time.Minute

// Decide judges a rollout at a moment.
//
// Nothing that people set holds up a halt: no window, freeze, approval or soak. Failures halt by an old count,
// too, since a failure does not age. A rollout is promoted or completed if its stage is clear of failures and
// silence and soaked, by a new count; and promoted only inside a window, unfrozen and approved.
func Decide(p Policy, e Evidence, at time.Time) Verdict {
	d := decision{
		policy: p, evidence: e, at: at, stage: e.present(), test: p.Guard.test(),
		level: Level(e.look()), comparison: p.Guard.Compare(e.Silence.Control),
	}
	d.told, d.bad, d.undecided = e.totals()
	v := Verdict{Stage: e.Stage, Next: e.next(), Treated: e.Silence.Treated, Control: e.Silence.Control}
	v.Action, v.Reasons, v.Organization = d.judge()
	v.Reason, v.Acts = v.Reasons[0], p.Mode == Act && v.Action != Hold
	d.measure(&v)
	v.Sentence = d.sentence(v)
	return v
}

// A decision is the work on one verdict.
type decision struct {
	policy               Policy
	evidence             Evidence
	at                   time.Time
	stage                Boxes   // the present one
	told, bad, undecided int     // of all stages
	test                 Wald    // of failures
	level                float64 // of this look at silence
	comparison           Comparison
}

func (d decision) judge() (action Action, reasons []Reason, organization string) {
	if !d.evidence.Active {
		return Hold, []Reason{NotActive}, ""
	}
	halts := d.halts(Organization{})
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

// halts lists the reasons to halt, without the boxes of one organization.
func (d decision) halts(without Organization) []Reason {
	var reasons []Reason
	if d.test.Halts(d.bad-without.Bad, d.told-without.Told) {
		reasons = append(reasons, TooManyBad)
	}
	if d.silenceHalts(without) {
		reasons = append(reasons, TooManySilent)
	}
	return reasons
}

// silenceHalts tells whether boxes are silent because of the release. It takes a new count, and a control that
// is as new.
func (d decision) silenceHalts(without Organization) bool {
	s, comparison := d.evidence.Silence, d.comparison
	if s.Kept || !d.counted() {
		return false
	}
	if without.ID != "" {
		comparison = d.policy.Guard.Compare(s.Control.minus(without.Control))
	}
	return comparison.Halts(s.Treated.minus(without.Treated), d.level)
}

// alone returns the organization whose boxes alone cause the halt, or an empty id. The other organizations' boxes must
// show that the release is good, or still have time to do so. If they had their time and do not show it, the rollout
// halts: a release that fails on nearly all boxes must not wait for one box that is switched off.
func (d decision) alone() string {
	for _, o := range d.evidence.Organizations {
		if o.Told < d.told && len(d.halts(o)) == 0 && d.othersMayDoWell(o) {
			return o.ID
		}
	}
	return ""
}

// othersMayDoWell tells whether boxes of the other organizations have time left to decide, or clear the release. They
// clear it of failures and, if that can be judged, of silence.
func (d decision) othersMayDoWell(than Organization) bool {
	decided, waiting := 0, 0
	for _, o := range d.evidence.Organizations {
		if o.ID != than.ID {
			decided, waiting = decided+o.Decided, waiting+o.Waiting
		}
	}
	if waiting > 0 {
		return true
	}
	if !d.test.Clears(d.bad-than.Bad, decided) {
		return false
	}
	s := d.evidence.Silence
	return s.Kept || !d.counted() || s.Treated.Boxes == 0 ||
		d.policy.Guard.Compare(s.Control.minus(than.Control)).Clears(s.Treated.minus(than.Treated))
}

// counted tells whether there is a new count of the present stage.
func (d decision) counted() bool {
	e := d.evidence
	return !e.AsOf.IsZero() && e.CountedAt == e.Stage && d.at.Sub(e.AsOf).Abs() <= Oldest
}

// holds lists what keeps the rollout from going on.
func (d decision) holds(organization string) []Reason {
	var reasons []Reason
	add := func(applies bool, r Reason) {
		if applies {
			reasons = append(reasons, r)
		}
	}
	e, promote := d.evidence, d.policy.Promote
	add(!d.counted(), NotCounted)
	add(organization != "", OneOrganization)
	add(d.small() && !d.allInstalled(), EvidenceTooSmall)
	add(!d.small() && !d.test.Clears(d.clearing()), Undecided)
	add(!d.heardOf(), Silent)
	add(d.soaked() < d.policy.SoakAt(e.Stage), Soaking)
	add(!promote.Auto, PeoplePromote)
	if next := e.next(); next != 0 {
		add(!promote.Windows.Open(d.at), WindowClosed)
		add(e.Freeze != nil && d.at.Before(e.Freeze.Until), Frozen)
		add(slices.Contains(d.policy.Approvals.Before, next) && !slices.Contains(e.Approved, next), ApprovalRequired)
	}
	return reasons
}

// clearing is what clears the stage: its bad and overdue boxes, and those together with the good ones.
func (d decision) clearing() (bad, n int) {
	bad = d.stage.bad() + d.stage.Overdue
	return bad, bad + d.stage.Installed
}

// small tells whether the stage has too few boxes for the test.
func (d decision) small() bool { return d.stage.Expected < d.test.Needs() }

// allInstalled tells whether each box of a small stage runs the release. A stage without boxes is clear if the channel
// has boxes. Otherwise a small fleet would stay at its first stage.
func (d decision) allInstalled() bool {
	fleet := 0
	for _, b := range d.evidence.Stages {
		fleet += b.Expected
	}
	return d.policy.Guard.SmallFleet == AllDecided && fleet > 0 && d.stage.Installed == d.stage.Expected
}

// heardOf tells whether boxes with the release still poll. In a small stage, each of them must.
func (d decision) heardOf() bool {
	s := d.evidence.Silence
	if d.small() {
		return s.Treated.Silent == 0 && s.Present.Boxes >= d.stage.Installed
	}
	return d.comparison.Clears(s.Treated)
}

func (d decision) soaked() time.Duration { return max(d.at.Sub(d.evidence.Since), 0) }

// measure finds the numbers of a verdict.
func (d decision) measure(v *Verdict) {
	bad, n := d.clearing()
	v.Halting = Count{d.told, d.bad, d.test.Likelihood(d.bad, d.told), HaltAt}
	v.Clearing = Count{n, bad, d.test.Likelihood(bad, n), ClearAt}
	v.Distance = Distance{
		// More bad boxes than were told the release are told it first.
		MoreBad:     least(func(more int) bool { return d.test.Halts(d.bad+more, max(d.told, d.bad+more)) }),
		Undecided:   d.undecided,
		FewerBad:    least(func(fewer int) bool { return !d.test.Halts(d.bad-fewer, d.told) }),
		MoreGood:    least(func(more int) bool { return d.test.Clears(bad, n+more) }),
		MoreSilent:  none,
		FewerSilent: d.comparison.fewerClear(v.Treated),
		Soaked:      int64(d.soaked() / time.Second),
		Soak:        int64(d.policy.SoakAt(v.Stage) / time.Second),
	}
	if !d.evidence.Silence.Kept && d.counted() {
		v.Distance.MoreSilent = d.comparison.moreHalt(v.Treated, d.level)
	}
	if d.test.Clears(bad, n) {
		v.Distance.Spare = least(func(more int) bool { return !d.test.Clears(bad+more+1, n+more+1) })
	}
	if d.small() {
		v.Distance.MoreGood, v.Distance.Spare = d.stage.Expected-d.stage.Installed, 0
		v.Distance.FewerSilent = v.Treated.Silent
	}
	if slices.Contains(v.Reasons, WindowClosed) {
		if at, ok := d.policy.Promote.Windows.Opens(d.at); ok {
			v.Distance.OpensAt = &at
		}
	}
}
