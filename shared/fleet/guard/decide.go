// Package guard decides on evidence whether a staged rollout goes on: it halts a bad release and promotes a good one.
// The rule is pure. It uses no store and no clock. All it needs are counts of boxes, and samples of when boxes were
// last seen.
//
// # Groups
//
// A box is compared in the stage that the hash of its name gives it. It belongs to the stage's group if it was seen
// since that stage began, and to the control if the release never reached its stage. Nothing that happens to a box
// later takes it out of its group: not that it was told the release, failed, or was put off. So the hash alone decides
// which boxes have the release, and whatever a factory does affects both groups alike. Both groups poll at the same
// interval.
//
// One organization must not halt the release for all. If a halt rests on its boxes alone, and the boxes of the others
// contradict it, the rollout is held and tells no more boxes, until a person halts it or goes on, with that organization
// or without it. Then boxes that were bad or silent leave both groups, and the guard judges what is new.
//
// A place, one factory or one organization, may be the only one that a release harms. If most of its boxes are bad, the
// rollout is held and stops telling, too.
//
// A box that somebody has pinned, or that keeps a newer release after a move, cannot take the release. If that was so
// before its stage began, it is in no group, and is counted apart. A pin after that changes nothing: what the box did
// stays counted.
//
// Every stage that the release reached is judged until the rollout ends, from its own start. A resumption keeps the
// starts. What a box did stays counted if it is moved, retired or given away. Boxes that were registered after the start
// are judged apart, so that nobody can make up evidence, and come a stage later if the guard promotes. Another rollout of the same version on the channel inherits them: a
// release that failed once does not start afresh.
//
// # Failures
//
// The evidence is checked every minute. A fixed threshold, checked so often, halts good releases by chance. Wald's
// sequential test does not, as long as boxes fail independently of each other. Each stage is tested, and so are all
// boxes together. Boxes that are undecided count as good, so the order of reports cannot halt a good release.
//
// A box that failed may try again: its failure is bad once it is DecideWithin old. A failure after the box has started
// to run the release is bad immediately, until the box has run it for a soak.
//
// When a soak ends, a stage that could still be good or bad must not wait forever. From Needs boxes on, counted with
// the stages before it, the stage halts if it looks more like an intolerable release than like an acceptable one and
// chance does not explain its bad boxes. Otherwise it goes on. A smaller stage holds if it has more bad boxes than
// chance explains.
//
// # Silence
//
// A bricked box reports nothing. Once every SilentAfter, each stage is compared with the boxes that the release did not
// reach. The comparison uses Fisher's exact test, at a level that falls with each look, and Wald's test against the
// share of the control. Nothing is tested in between: each look is another chance to be wrong.
//
// Dead is not failed: someone must travel to a dead box, while a wrong hold costs a person a look. So silence has a floor of its
// own, below the share of failures that a policy accepts, and from three boxes on it holds the rollout and stops telling at a higher
// level without any floor: at each look at stages 10 and 50, and in each survey, which looks up many more boxes. A release that
// fails on more boxes than the policy accepts, and on too few to halt, holds, too; it stops nothing, since a failed box can be helped.
//
// At 100 percent there is nobody left to compare with. The last controls show whether more boxes are away than chance
// explains. If so, the rollout is held, and people are paged. The guard keeps looking for one more soak after the
// completion, and pages people if the release goes bad. Only people publish a version that sends boxes back.
//
// # Small fleets
//
// No test can tell a bad release in a fleet of fewer than 40 boxes. By default people promote it. The guard counts: three
// bad or silent boxes halt it if they are in two factories, or if others of their factory call, and if three boxes that the
// release did not reach call. Otherwise such boxes hold it, and stop telling, as do those of one organization that the others
// contradict. A stage without a box is passed.
//
// # Clearing
//
// A box clears its stage by living on: it was seen running the release at least a soak after it installed it. The share
// Taken of all boxes of the stage must do so, or all but one, and at least one. So boxes that cannot fetch the release,
// have no room for it, were put off or never polled keep the rollout at its stage. They never halt it. Neither do restless
// boxes, of which nobody can tell what they say; see report.Restless.
//
// # Kinds
//
// A release may harm one kind of boxes that is too rare for the other tests: a hardware revision, a factory, an
// organization. When a stage is otherwise clear, and then once a day, the guard looks at each value of each attribute. Of
// a kind that fails, it counts factories with a bad box, so that nothing that the boxes of a factory have in common is
// evidence. A kind that goes silent is compared with boxes of the same kind that the release did not reach, without
// factories that are switched off. Each attribute gets the same share of the level, and values and attributes that cannot reach it cost
// nothing. Attributes count as they were before a box was told of the rollout, also of a box that is gone. Harm to a kind never
// halts the rollout for all if it rests on one organization: without its boxes the kind is not harmed, and no others of the kind
// are, or those contradict it. It holds, and stops telling.
//
// # Health
//
// A release after which boxes live on and work worse fails no other test. So a policy may name numbers that boxes say about
// their work. With each survey, the guard compares how each box's number changed since before the release: boxes that the
// release reached with others of the same factory, or if they are alone in theirs, with other such boxes. Only ranks count, so
// one wild value is no evidence, and the median of each factory is taken off, so a plant that changes its product is none either.
// A number that boxes with the release say less often holds the rollout, and never halts it.
//
// Simulated fleets and their results are in scripts/benchmarks/guard and scripts/benchmarks/results/guard.md.
package guard

import (
	"fmt"
	"slices"
	"time"

	"wavegate/shared/fleet/stats"
)

// Oldest is the greatest age of a count that can promote.
const Oldest = 2 * time.Minute

// Decide judges a rollout at a moment.
//
// Nothing that people set delays a halt: no window, freeze, approval or soak. Failures halt on an old count, too, since
// a failure does not age. A rollout is promoted or completed if its stage has soaked and is clear, on a new count. It
// is promoted only inside a window, unfrozen and approved.
//
// Each test returns its findings. Kinds and health numbers come last: when they are tested depends on the other findings.
func Decide(p Policy, e Evidence, at time.Time) Verdict {
	d := decision{policy: p, evidence: e, at: at, stage: e.present(), test: p.Guard.test()}
	v := Verdict{Stage: e.Stage, Next: e.next(), Looks: d.looks(), Few: d.few(), Young: d.young(), Taken: e.Taken}
	d.measure(&v)
	var found findings
	if e.Active {
		found = slices.Concat(d.failing(v), silenced(v.Looks), d.small(v.Few), d.places(), d.interferes(), d.newcomers(v.Young), d.notAcceptable(), d.unclear(v), d.notAllowed(v))
	} else {
		found = d.afterwards(v)
	}
	v.Surveys = d.surveys(found.leftToPeople())
	v.Health = d.numbers(v.Surveys)
	if e.Active {
		found = slices.Concat(found, harmedKinds(v.Surveys), d.lacks(v.Surveys), d.worse(v.Health))
		found.add(found.leftToPeople() && d.unsurveyed(v), NotSurveyed, "the kinds of boxes have not been looked at yet")
	}
	if found.has(PlantsDown) {
		v.Plants = &e.Plants
	}
	found = d.judge(&v, found.sorted())
	v.Reasons, v.Culprit = found.reasons(), found.group()
	v.Reason, v.Acts = v.Reasons[0], p.Mode == Act && v.Action != Hold
	d.blame(&v, found)
	v.Stops = p.Mode == Act && v.Action == Hold && v.Suspicion() != "" && e.Active && !e.Stopped
	v.Steps, v.YoungStop = d.steps(found), d.stopped(v.Young)
	v.Pages = v.Next == 0 && (v.Action == Halt || slices.Contains(v.Reasons, TooManyBad) || slices.Contains(v.Reasons, Silent) || v.Few.doubts())
	if !slices.Contains(v.Reasons, WindowClosed) {
		v.Distance.OpensAt = nil
	}
	v.Needs, v.Sentence = d.need(v, found), d.sentence(v, found)
	return v
}

// A decision is the work on one verdict.
type decision struct {
	policy   Policy
	evidence Evidence
	at       time.Time
	stage    StageBoxes // the present one
	test     Wald       // of failures
}

// judge sets the action that follows from all findings, and returns those that it follows from.
func (d decision) judge(v *Verdict, found findings) findings {
	if halting := found.halting(); len(halting) > 0 {
		organization, alone := d.alone(halting)
		if !alone {
			v.Action = Halt
			return halting
		}
		v.Organization = organization
		found = found.holding()
		found.add(true, OneOrganization, d.aloneSentence(organization, halting))
		found = found.sorted()
	}
	switch {
	case len(found) > 0:
		v.Action = Hold
		return found
	case v.Next == 0:
		v.Action = Complete
	default:
		v.Action = Promote
	}
	found.add(true, Clear, d.clearSentence(*v))
	return found
}

// afterwards says why a completed release seems to go bad. If there is no such reason, or the rollout ended in another way, the
// only reason to hold is NotActive.
func (d decision) afterwards(v Verdict) (list findings) {
	if d.evidence.Completed && d.counted() {
		_, bad := d.closest(Organization{})
		list.add(bad, TooManyBad, v.Halting.sentence())
		_, _, unexplained := d.away()
		list.add(unexplained, Silent, awaySentence(v))
	}
	list.add(list == nil, NotActive, "the rollout is not active")
	return list
}

// blame names the kind of boxes that is to blame for a halt, and says whether to look for one.
func (d decision) blame(v *Verdict, found findings) {
	e, wants := d.evidence, d.evidence.Kinds == nil && d.counted()
	switch {
	case !e.Active || v.Action == Halt && v.Culprit != nil:
	case v.Action == Halt:
		v.Culprit, v.Wants = d.culprit(), wants && (d.policy.Mode == Act || d.surveyDue(false))
	default:
		v.Wants = wants && d.surveyDue(found.leftToPeople())
	}
	if v.Culprit.isNoise(*v, d.surveyedBoxes(v.Surveys)) {
		v.Culprit = nil
	}
}

// alone returns the organization, if a halt rests on the boxes of only one and the boxes of the others contradict it.
func (d decision) alone(halting findings) (organization string, alone bool) {
	for _, o := range d.evidence.Organizations {
		if !slices.ContainsFunc(halting, func(f finding) bool { return !slices.Contains(f.only, o.ID) }) {
			return o.ID, o.ID != "" // boxes without an organization are nobody's
		}
	}
	return "", false
}

// aloneSentence names the organization on which a halt rests, and what its boxes and those of the others say.
func (d decision) aloneSentence(organization string, halting findings) string {
	text := fmt.Sprintf("without the boxes of organization %s there would be no halt, and those of the others contradict it", organization)
	var own, all Share
	for _, o := range d.evidence.Organizations {
		if all = all.Plus(o.total()); o.ID == organization {
			own = o.total()
		}
	}
	if worse := halting.of(HealthWorse).sentence(); worse != "" {
		text += ": " + worse
	}
	if others := all.minus(own); own.Bad > 0 {
		text += fmt.Sprintf(": %d of its %s are bad, and %d of %d others", own.Bad, boxes(own.Decided), others.Bad, others.Decided)
	}
	return text
}

// Boxes of other organizations contradict a halt if there are enough of them and their share of bad or silent boxes is
// smaller than chance explains.
const (
	OthersEnough  = 20
	contradiction = 0.01
)

// contradicted reports whether other boxes contradict that so many of an organization's are bad or silent because of a release.
func contradicted(harmed, of, othersHarmed, others int) bool {
	return others >= OthersEnough && stats.Fisher(harmed, of, othersHarmed, others) <= contradiction
}

// counted reports whether there is a new count of the present stage.
func (d decision) counted() bool {
	e := d.evidence
	return !e.AsOf.IsZero() && e.CountedAt == e.Stage && d.at.Sub(e.AsOf).Abs() <= Oldest
}

func (d decision) soaked() time.Duration { return max(d.at.Sub(d.evidence.Since), 0) }

func (d decision) soakOver() bool { return d.soaked() >= d.policy.SoakAt(d.evidence.Stage) }

// unclear says why the stage is not clear.
func (d decision) unclear(v Verdict) (list findings) {
	e, t, over := d.evidence, d.evidence.Taken, d.soakOver()
	list.add(!d.counted() || over && t == nil, NotCounted, d.notCounted())
	if n, of := e.Mislabelled, e.installed(); n > 0 && 2*n >= of {
		list.add(true, LabelsUnknown, fmt.Sprintf("%d of %s that run the release say so in other words", n, boxes(of)))
	}
	list.add(e.Stopped, TellingStopped, "no more boxes are told until a person halts the rollout or goes on with it")
	if t != nil && over {
		list.add(t.Good < t.Needed && t.Good+t.Young >= t.Needed, Undecided,
			fmt.Sprintf("%s, %d more are needed and %d may still come", t.sentence(), t.Needed-t.Good, t.Young))
		list.add(t.Good < t.Needed && t.Good+t.Young < t.Needed, TooFewTaken, t.tooFew())
		_, _, unexplained := d.away()
		list.add(unexplained, Silent, awaySentence(v))
	}
	list.add(!over && (!d.vacant() || e.reaches()), Soaking, v.Distance.soaked())
	return list
}

func (d decision) notCounted() string {
	e := d.evidence
	switch {
	case e.AsOf.IsZero():
		return "the boxes have not been counted yet"
	case e.CountedAt != e.Stage:
		return fmt.Sprintf("the last count is of stage %d", e.CountedAt)
	case d.counted():
		return "how the boxes took the release has not been looked up yet"
	}
	return "the last count is from " + e.AsOf.UTC().Format(time.RFC3339)
}

// notAllowed says which of what people set keeps the rollout at its stage.
func (d decision) notAllowed(v Verdict) (list findings) {
	e, promote := d.evidence, d.policy.Promote
	list.add(!promote.Auto, PeoplePromote, "the policy leaves promoting to people")
	list.add(promote.Auto && d.toPeople() && !d.vacant(), PeoplePromote, "people decide in a fleet of "+boxes(e.fleet()))
	if v.Next == 0 {
		return list
	}
	opens := "no window opens within two weeks"
	if at := v.Distance.OpensAt; at != nil {
		opens = "the next window opens at " + at.UTC().Format(time.RFC3339)
	}
	list.add(!promote.Windows.Open(d.at), WindowClosed, opens)
	if e.Freeze != nil {
		list.add(d.at.Before(e.Freeze.Until), Frozen, "rollouts are frozen until "+e.Freeze.Until.UTC().Format(time.RFC3339))
	}
	list.add(slices.Contains(d.policy.Approvals.Before, v.Next) && !slices.Contains(e.Approved, v.Next), ApprovalRequired, fmt.Sprintf("stage %d is not approved", v.Next))
	return list
}

// vacant reports whether the stage has no box, although the channel has some. Then nobody need decide about it, and if the
// release reaches no box at all, there is nothing to wait for either.
func (d decision) vacant() bool { return d.evidence.Vacant && d.evidence.fleet() > 0 }

// measure fills in the numbers of a verdict.
func (d decision) measure(v *Verdict) {
	v.Halting, _ = d.closest(Organization{})
	v.Treated, v.Control = d.stage.Treated, d.control(d.evidence.at())
	l := telling(v.Looks, d.evidence.Stage)
	if l.Number > 0 {
		v.Treated, v.Control = l.Treated, l.Control
	}
	if treated, control, unexplained := d.away(); unexplained {
		v.Treated, v.Control = treated, control
	}
	if d.evidence.Active && d.counted() {
		v.Retrying = d.retrying()
	}
	_, undecided := d.evidence.totals()
	v.Distance = Distance{
		MoreBad: d.moreBad(), FewerBad: d.fewerBad(), Undecided: undecided,
		MoreGood: none, MoreSilent: none,
		Soaked: int64(d.soaked() / time.Second),
		Soak:   int64(d.policy.SoakAt(v.Stage) / time.Second),
	}
	if t := v.Taken; t != nil {
		v.Distance.MoreGood, v.Distance.Spare = max(t.Needed-t.Good, 0), max(t.Good-t.Needed, 0)
	}
	if l.Number > 0 && v.Next != 0 {
		v.Distance.MoreSilent = d.moreSilent(l)
	}
	if windows := d.policy.Promote.Windows; !windows.Open(d.at) {
		if at, ok := windows.Opens(d.at); ok {
			v.Distance.OpensAt = &at
		}
	}
}

// none marks a number of boxes that does not exist.
const none = -1
