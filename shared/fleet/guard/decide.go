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
// rollout is held and stops telling, too; see Place.
//
// A box that somebody has pinned, or that keeps a newer release after a move, cannot take the release. If that was so
// before its stage began, it is in no group, and is counted apart. A pin after that changes nothing: what the box did
// stays counted.
//
// Every stage that the release reached is judged until the rollout ends, from its own start. A resumption keeps the
// starts. What a box did stays counted if it is moved, retired or given away. Boxes that were registered after the start
// do not count, so that nobody can make up evidence. Another rollout of the same version on the channel inherits them: a
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
// factories that are switched off. Each attribute gets the same share of the level, and values that are too few to reach it cost
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
func Decide(p Policy, e Evidence, at time.Time) Verdict {
	d := decision{policy: p, evidence: e, at: at, stage: e.present(), test: p.Guard.test()}
	d.told, d.undecided = e.totals()
	d.seen = d.looks()
	d.tiny = d.few()
	d.kinds = d.surveys()
	d.health = d.numbers()
	v := Verdict{Stage: e.Stage, Next: e.next(), Looks: d.seen, Surveys: d.kinds, Health: d.health, Few: d.tiny, Taken: e.Taken}
	v.Action, v.Reasons, v.Organization = d.judge()
	d.blame(&v)
	v.Reason, v.Acts = v.Reasons[0], p.Mode == Act && v.Action != Hold
	v.Stops = p.Mode == Act && v.Action == Hold && v.Suspicion() != "" && e.Active && !e.Stopped
	v.Pages = v.Next == 0 && (v.Action == Halt || slices.Contains(v.Reasons, TooManyBad) || slices.Contains(v.Reasons, Silent) || d.tiny.doubts())
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
	kinds           []Survey   // the last survey of each stage
	health          []NumberLook
	tiny            *Few // the last look at a small fleet
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

// afterwards lists why a completed release seems to go bad. If there is no such reason, or the rollout ended in another
// way, the only reason to hold is NotActive.
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
	if slices.ContainsFunc(d.kinds, Survey.halts) {
		reasons = append(reasons, KindBad)
	}
	if slices.ContainsFunc(d.health, NumberLook.halts) {
		reasons = append(reasons, HealthWorse)
	}
	if d.tiny.halts() {
		reasons = append(reasons, FewBad)
	}
	return reasons
}

// blame names the kind of boxes that is to blame, and says whether to look for one.
func (d decision) blame(v *Verdict) {
	switch {
	case !d.evidence.Active:
	case v.Action == Halt:
		if i := slices.IndexFunc(d.kinds, Survey.halts); i >= 0 {
			v.Culprit = d.kinds[i].Culprit
			return
		}
		v.Culprit, v.Wants = d.culprit(), d.evidence.Kinds == nil && d.counted() && (d.policy.Mode == Act || d.surveyDue(false))
	default:
		if i := slices.IndexFunc(d.kinds, Survey.doubts); i >= 0 {
			v.Culprit = d.kinds[i].Culprit
		}
		v.Wants = d.evidence.Kinds == nil && d.counted() && d.surveyDue(onlyPeople(v.Reasons))
	}
}

// alone returns the organization if a halt rests on the boxes of only one, and the boxes of the others contradict it;
// otherwise an empty id.
func (d decision) alone() string {
	_, bad := d.failures(Organization{})
	if slices.ContainsFunc(d.kinds, Survey.halts) || d.tiny.halts() {
		return "" // they do not rest on one organization
	}
	for _, o := range d.evidence.Organizations {
		if slices.ContainsFunc(d.seen, func(l Look) bool { return l.Halts && l.Only != o.ID }) {
			continue
		}
		if slices.ContainsFunc(d.health, func(l NumberLook) bool { return l.halts() && l.Only != o.ID }) {
			continue
		}
		if _, halts := d.failures(o); !bad || !halts && d.contradicted(o) {
			return o.ID
		}
	}
	return ""
}

// Boxes of other organizations contradict a halt if there are enough of them and their share of bad or silent boxes is
// smaller than chance explains.
const (
	OthersEnough  = 20
	contradiction = 0.01
)

// contradicted reports whether the decided boxes of the other organizations contradict that a release is bad.
func (d decision) contradicted(by Organization) bool {
	var all Share
	for _, o := range d.evidence.Organizations {
		sum := o.total()
		all.Bad, all.Decided = all.Bad+sum.Bad, all.Decided+sum.Decided
	}
	return all.unlike(by.total())
}

// unlike reports whether the decided boxes of the other organizations contradict that boxes are bad because of a release.
func (s Share) unlike(own Share) bool {
	bad, decided := s.Bad-own.Bad, s.Decided-own.Decided
	return decided >= OthersEnough && stats.Fisher(own.Bad, own.Decided, bad, decided) <= contradiction
}

// unlike reports whether the boxes of the other organizations contradict that boxes are silent because of a release.
func (g Group) unlike(own Group) bool {
	others := g.minus(own)
	return others.Boxes >= OthersEnough && stats.Fisher(own.Silent, own.Boxes, others.Silent, others.Boxes) <= contradiction
}

// counted reports whether there is a new count of the present stage.
func (d decision) counted() bool {
	e := d.evidence
	return !e.AsOf.IsZero() && e.CountedAt == e.Stage && d.at.Sub(e.AsOf).Abs() <= Oldest
}

func (d decision) soaked() time.Duration { return max(d.at.Sub(d.evidence.Since), 0) }

func (d decision) soakOver() bool { return d.soaked() >= d.policy.SoakAt(d.evidence.Stage) }

// holds lists the reasons not to go on.
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
	_, bad := e.bad()
	add(bad, FactoryBad)
	add(slices.ContainsFunc(d.kinds, Survey.doubts), KindDoubtful)
	add(slices.ContainsFunc(d.health, d.unreported), Unreported)
	add(e.Stopped, TellingStopped)
	add(d.tooSmall(), EvidenceTooSmall)
	if t := e.Taken; t != nil && d.soakOver() {
		add(t.Good < t.Needed && t.Good+t.Young >= t.Needed, Undecided)
		add(t.Good < t.Needed && t.Good+t.Young < t.Needed, TooFewTaken)
		_, _, unexplained := d.away()
		add(unexplained, Silent)
	}
	add(!d.soakOver() && (!d.vacant() || e.reaches()), Soaking)
	add(!promote.Auto || d.toPeople() && !d.vacant(), PeoplePromote)
	if next := e.next(); next != 0 {
		add(!promote.Windows.Open(d.at), WindowClosed)
		add(e.Freeze != nil && d.at.Before(e.Freeze.Until), Frozen)
		add(slices.Contains(d.policy.Approvals.Before, next) && !slices.Contains(e.Approved, next), ApprovalRequired)
		last := d.surveyed(d.kinds)
		add(onlyPeople(reasons) && !d.vacant() && (!d.fresh(last) || last.Early || !d.looked(d.health)), NotSurveyed)
	}
	return reasons
}

// vacant reports whether the stage has no box, although the channel has some. Then nobody need decide about it, and if the
// release reaches no box at all, there is nothing to wait for either.
func (d decision) vacant() bool { return d.evidence.Vacant && d.evidence.fleet() > 0 }

// tooSmall reports whether a small stage is not clear: it is left to people, there are no boxes at all, or more of its
// boxes are bad than chance explains, alone or with the stages before it. In a small fleet, three harmed boxes are enough.
func (d decision) tooSmall() bool {
	switch {
	case d.evidence.fleet() == 0 || d.tiny.doubts():
		return true
	case !d.small():
		return false
	case d.policy.Guard.SmallFleet == People:
		return true
	}
	return d.soakOver() && d.badUnexplained()
}

// measure fills in the numbers of a verdict.
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

// telling is the look that a verdict shows: the one that halts, otherwise that of the present stage.
func (d decision) telling() Look {
	if i := slices.IndexFunc(d.seen, func(l Look) bool { return l.Halts }); i >= 0 {
		return d.seen[i]
	}
	return lookOf(d.seen, d.evidence.Stage)
}

// moreSilent is how many more silent boxes would have caused a halt at a look, or none if no number of them would.
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

// none marks a number of boxes that does not exist.
const none = -1
