package guard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"wavegate/shared/fleet/stats"
)

// A Kind is what the boxes with one value of an attribute, or without it, contribute to all stages together. Factory and
// organization are attributes of boxes, too. Its treated and untreated boxes are without those of factories in which most are silent.
type Kind struct {
	Name, Value string
	Share
	// The told boxes are in Factories, and the bad ones in BadFactories; boxes without a factory count as one.
	Factories, BadFactories int
	// By is what the boxes of each organization contribute; nil if the channel has only one.
	By map[string]Kind
}

// without are the kinds without the boxes of an organization.
func without(kinds []Kind, organization string) (list []Kind) {
	for _, k := range kinds {
		rest := Kind{Name: k.Name, Value: k.Value}
		for id, p := range k.By {
			if id != organization {
				rest.Share = rest.Plus(p.Share)
				rest.Factories, rest.BadFactories = rest.Factories+p.Factories, rest.BadFactories+p.BadFactories
			}
		}
		list = append(list, rest)
	}
	return list
}

// A Survey is the guard's last look at the kinds of a stage's boxes. It is taken when the stage has soaked, once a day while the
// stage stays, and when the stage is otherwise clear.
type Survey struct {
	Percent int       `json:"percent"`
	Number  int       `json:"number"` // of the stage's surveys, from 1
	At      time.Time `json:"at"`
	// Halts is set if the release harms a kind, and Doubts if a person must judge that.
	Halts  bool `json:"halts,omitempty"`
	Doubts bool `json:"doubts,omitempty"`
	// Early is set if the stage was not clear otherwise.
	Early bool `json:"early,omitempty"`
	// Silent is set if a person must judge why so many boxes of all kinds are silent: those that the release reached, and
	// those that it did not reach.
	Silent  bool  `json:"silent,omitempty"`
	Treated Group `json:"treated,omitzero"`
	Control Group `json:"control,omitzero"`
	// Culprit is that kind.
	Culprit *Culprit `json:"culprit,omitempty"`
	// Absent are kinds of which the release reached no box that lives, the largest first, mostAbsent at most; More is how many
	// others there are.
	Absent []Absent `json:"absent,omitempty"`
	More   int      `json:"moreAbsent,omitempty"`
}

// The probability that the surveys of a rollout halt a good release because of failures is at most kindsHalt, and as much
// because of silence; that they hold one is at most kindsHold, twice.
const (
	kindsHalt = 0.0025
	kindsHold = 0.0125
)

// A kind is harmed if at least so many of its boxes are, and at least this share.
const (
	fewestHalting = 3
	fewestHolding = 2
	kindShare     = 0.05
)

// surveyAgain is the time between two surveys of a stage.
const surveyAgain = 24 * time.Hour

// surveyLevel is the part of a budget that a survey of a stage may use: a half at stage 10, a quarter at each of the two
// beside it, and there in shares of 1/(1·2), 1/(2·3) and so on, which add up to 1.
func surveyLevel(budget float64, percent, number int) float64 {
	part := 0.25
	if percent == 10 {
		part = 0.5
	}
	return budget * part / float64(number*(number+1))
}

// Each box has these attributes. OfAll names the kind of all boxes.
const (
	OfAll          = ""
	OfFactory      = "factory"
	OfOrganization = "organization"
)

// A kindTest is a test of one kind: the probability of so many harmed boxes or more if the release does not harm the kind.
type kindTest struct {
	culprit Culprit
	of      Kind
	hits    int
	most    int // hits that are possible
	chance  func(hits int) float64
}

// fewest is the number of hits from which a kind counts as harmed.
func (t kindTest) fewest(least int) int {
	return max(least, int(math.Ceil(kindShare*float64(t.culprit.Boxes))))
}

// reach is the probability that the test gives p or less by chance. Only some values of the probability are possible, so
// a kind that is too small to reach p costs nothing (Tarone 1990).
func (t kindTest) reach(p float64, least int) float64 {
	for hits := t.fewest(least); hits <= t.most; hits++ {
		if c := t.chance(hits); c <= p {
			return c
		}
	}
	return 0
}

// harmed finds the kind that chance explains least, if it does not explain it: each attribute of which a value can reach the level has
// the same share of it, so serial numbers cost nothing, and the sum of the chances of its values to be as unlikely as that one must be below it. If counts is set, only tests
// for which it is true count.
func harmed(tests []kindTest, level float64, least int, counts func(kindTest) bool) *Culprit {
	byName := map[string][]kindTest{}
	for _, t := range tests {
		byName[t.culprit.Name] = append(byName[t.culprit.Name], t)
	}
	var worst *Culprit
	smallest, attributes := 1.0, 0
	for _, values := range byName {
		if slices.ContainsFunc(values, func(t kindTest) bool { return t.reach(level, least) > 0 }) {
			attributes++
		}
	}
	for _, values := range byName {
		for _, t := range values {
			if t.hits < t.fewest(least) {
				continue
			}
			p, sum := t.chance(t.hits), 0.0
			if p > level {
				continue // so is the sum
			}
			for _, other := range values {
				sum += other.reach(p, least)
			}
			if sum > level/float64(attributes) || counts != nil && !counts(t) {
				continue
			}
			if worst == nil || cmp.Or(cmp.Compare(p, smallest), cmp.Compare(t.culprit.Name, worst.Name), cmp.Compare(t.culprit.Value, worst.Value)) < 0 {
				worst, smallest = &t.culprit, p
			}
		}
	}
	return worst
}

// rests reports whether the harm to a kind rests on the boxes of one organization: only they are harmed, or those of the others
// contradict it.
func (t kindTest) rests(own Kind) bool {
	k := t.of
	others := k.minus(own.Share)
	if t.culprit.Silent {
		return others.Treated.Silent == 0 || contradicted(own.Treated.Silent, own.Treated.Boxes, others.Treated.Silent, others.Treated.Boxes)
	}
	return others.Bad == 0 || contradicted(own.Bad, own.Decided, others.Bad, others.Decided)
}

// stands reports whether the harm to a kind halts the rollout for all. It does not if it rests on one organization, without
// which the kind is not harmed.
func (b Bounds) stands(t kindTest, kinds []Kind, level float64) bool {
	same := func(o kindTest) bool { return o.culprit.Name == t.culprit.Name && o.culprit.Value == t.culprit.Value }
	still := func(tests []kindTest) bool { return harmed(tests, level, fewestHalting, same) != nil }
	for id, own := range t.of.By {
		if t.rests(own) && !slices.ContainsFunc(b.tests(without(kinds, id)), still) {
			return false
		}
	}
	return true
}

// failures are the tests of kinds that fail. One count a factory makes them valid whatever the boxes of a factory have in
// common (Hoeffding 1956).
func (b Bounds) failures(kinds []Kind) (tests []kindTest) {
	told, bad := map[string]int{}, map[string]int{}
	for _, k := range kinds {
		told[k.Name], bad[k.Name] = told[k.Name]+k.Told, bad[k.Name]+k.Bad
	}
	for _, k := range kinds {
		others, badOthers := told[k.Name]-k.Told, bad[k.Name]-k.Bad
		share := b.Acceptable
		if others > 0 {
			share = max(share, float64(badOthers)/float64(others))
		}
		if k.Told == 0 || share >= 1 {
			continue
		}
		tests = append(tests, kindTest{
			culprit: Culprit{Name: k.Name, Value: k.Value, Harmed: k.Bad, Boxes: k.Told, Factories: k.BadFactories, OtherHarmed: badOthers, OtherBoxes: others},
			of:      k, hits: k.BadFactories, most: min(k.Told, k.Factories),
			chance: func(hits int) float64 { return stats.AtLeast(hits, k.Told, share) },
		})
	}
	return tests
}

// silences are the tests of kinds that go silent: those that the release reached against those that it did not reach.
func silences(kinds []Kind) (tests []kindTest) {
	for _, k := range kinds {
		t, c := k.Treated, k.Control
		silent := t.Silent + c.Silent
		if t.Boxes == 0 || c.Boxes == 0 {
			continue
		}
		tests = append(tests, kindTest{
			culprit: Culprit{Name: k.Name, Value: k.Value, Silent: true, Harmed: t.Silent, Boxes: t.Boxes, OtherHarmed: c.Silent, OtherBoxes: c.Boxes},
			of:      k, hits: t.Silent, most: min(t.Boxes, silent),
			chance: func(hits int) float64 { return stats.Fisher(hits, t.Boxes, silent-hits, c.Boxes) },
		})
	}
	return tests
}

// tests are those of kinds that fail, and of kinds that go silent.
func (b Bounds) tests(kinds []Kind) [][]kindTest {
	return [][]kindTest{b.failures(kinds), silences(kinds)}
}

// surveyAll tests all kinds together for silence: a survey looks up many more boxes than a look.
func (s *Survey) surveyAll(kinds []Kind, before bool) []Kind {
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == OfAll }); i >= 0 {
		s.Treated, s.Control = kinds[i].Treated, kinds[i].Control
		s.Silent = silenceHolds(s.Treated, s.Control, surveyHold(s.Percent, s.Number), before)
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k.Name == OfAll })
}

// survey tests kinds at a part of the budgets, given the last survey of the stage.
func (b Bounds) survey(kinds []Kind, percent int, last Survey, before bool, at time.Time) Survey {
	number := last.Number + 1
	s, level := Survey{Percent: percent, Number: number, At: at}, surveyLevel(kindsHalt, percent, number)
	kinds = s.surveyAll(kinds, before)
	s.absent(kinds)
	stands := func(t kindTest) bool { return b.stands(t, kinds, level) }
	for _, tests := range b.tests(kinds) {
		if c := harmed(tests, level, fewestHalting, stands); c != nil {
			s.Halts, s.Doubts, s.Culprit = true, false, c
			return s
		}
		if c := harmed(tests, surveyLevel(kindsHold, percent, number), fewestHolding, nil); c != nil && s.Culprit == nil {
			s.Doubts, s.Culprit = true, c
		}
	}
	return s
}

// surveys takes the survey of the present stage if its boxes were looked up for one, and keeps the last ones of the others. clear is
// set if the stage is clear apart from it. What was known when a person let the rollout go on does not halt or hold it again.
func (d decision) surveys(clear bool) []Survey {
	e := d.evidence
	list := slices.Clone(e.Surveys)
	if e.Kinds != nil && d.counted() && d.surveyDue(clear) {
		last := d.surveyed(list)
		taken := d.policy.Guard.survey(e.Kinds, e.Stage, last, last.Silent && last.At.After(e.Resumed), e.AsOf)
		taken.Early = !clear
		list = append(slices.DeleteFunc(list, func(s Survey) bool { return s.Percent == e.Stage }), taken)
	}
	for i, s := range list {
		after := s.At.After(e.Resumed)
		list[i].Halts, list[i].Doubts, list[i].Silent = s.Halts && after, s.Doubts && after, s.Silent && after
	}
	return list
}

// harmedKinds are the findings of surveys.
func harmedKinds(surveys []Survey) (list findings) {
	for _, s := range surveys {
		switch {
		case s.Halts:
			return findings{{reason: KindBad, halts: true, group: s.Culprit}}
		case s.Doubts && !list.has(KindDoubtful):
			list = append(list, finding{reason: KindDoubtful, group: s.Culprit, sentence: s.Culprit.sentence()})
		}
		list.add(s.Silent && !list.has(Silent), Silent, silentSentence(" with the release", s.Treated, s.Control))
	}
	return list
}

// unsurveyed reports whether a survey is missing that the next stage needs.
func (d decision) unsurveyed(v Verdict) bool {
	last := d.surveyed(v.Surveys)
	return v.Next != 0 && !d.vacant() && (!d.fresh(last) || last.Early || !d.compared(v.Health))
}

// surveyed is the last survey of the present stage; its number is 0 if there was none.
func (d decision) surveyed(all []Survey) (last Survey) {
	for _, s := range all {
		if s.Percent == d.evidence.Stage {
			last = s
		}
	}
	return last
}

// fresh reports whether a survey was taken since the rollout got to its stage, or was resumed.
func (d decision) fresh(s Survey) bool { return s.Number > 0 && !s.At.Before(d.evidence.Since) }

// surveyDue reports whether the present stage needs a survey: it has no fresh one, or is clear only now, or the last was a day
// ago and the rollout still tells boxes. At the last stage there is nobody left to keep from the release.
func (d decision) surveyDue(clear bool) bool {
	last, e := d.surveyed(d.evidence.Surveys), d.evidence
	again := surveyAgain
	if d.policy.Hurries() {
		again = time.Hour
	}
	return e.next() != 0 && d.soakOver() && (!d.fresh(last) || clear && (last.Early || !d.compared(e.Numbers)) || !e.Stopped && e.AsOf.Sub(last.At) >= again)
}

// culprit names the kind that chance explains least, for a halt that rests on all boxes.
func (d decision) culprit() *Culprit {
	kinds := slices.DeleteFunc(slices.Clone(d.evidence.Kinds), func(k Kind) bool { return k.Name == OfAll })
	for _, tests := range d.policy.Guard.tests(kinds) {
		if c := harmed(tests, kindsHold, fewestHolding, nil); c != nil {
			return c
		}
	}
	return nil
}

// isNoise reports whether a silent kind is not to blame for a halt because of silence: chance explains that the others of all boxes
// that the release reached are less silent.
func (c *Culprit) isNoise(v Verdict, all Group) bool {
	if c == nil || !c.Silent || !slices.Contains(v.Reasons, TooManySilent) || all.Boxes == 0 {
		return false
	}
	boxes := max(all.Boxes-c.Boxes, 0)
	return stats.Fisher(c.Harmed, c.Boxes, min(max(all.Silent-c.Harmed, 0), boxes), boxes) > badByChance
}

// surveyedBoxes are all boxes that the release reached, as the last survey saw them.
func (d decision) surveyedBoxes(surveys []Survey) Group {
	for _, k := range d.evidence.Kinds {
		if k.Name == OfAll {
			return k.Treated
		}
	}
	return d.surveyed(surveys).Treated
}

func (c Culprit) sentence() string {
	of := fmt.Sprintf("with %s=%s", c.Name, c.Value)
	switch {
	case c.Value == "":
		of = "without " + c.Name
	case c.Name == OfFactory || c.Name == OfOrganization:
		of = fmt.Sprintf("of %s %s", c.Name, c.Value)
	}
	if c.Silent {
		return fmt.Sprintf("%d of %s %s that the release reached are silent, and %d of %d that it did not reach",
			c.Harmed, boxes(c.Boxes), of, c.OtherHarmed, c.OtherBoxes)
	}
	return fmt.Sprintf("%d of %s %s are bad, in %s, and %d of %d others", c.Harmed, boxes(c.Boxes), of, factories(c.Factories), c.OtherHarmed, c.OtherBoxes)
}

func factories(n int) string {
	if n == 1 {
		return "one factory"
	}
	return fmt.Sprintf("%d factories", n)
}
