package guard

import (
	"fmt"
	"slices"

	"wavegate/shared/fleet/stats"
)

// failing is the test of failures.
func (d decision) failing(v Verdict) findings {
	if _, halts := d.closest(Organization{}); !halts {
		return nil
	}
	f := finding{reason: TooManyBad, halts: true, sentence: fmt.Sprintf("%s, %d more than allowed", v.Halting.sentence(), v.Distance.FewerBad)}
	var all Share
	for _, o := range d.evidence.Organizations {
		all = all.Plus(o.total())
	}
	for _, o := range d.evidence.Organizations {
		own := o.total()
		others := all.minus(own)
		if _, halts := d.closest(o); !halts && contradicted(own.Bad, own.Decided, others.Bad, others.Decided) {
			f.only = append(f.only, o.ID)
		}
	}
	return findings{f}
}

// The levels of the test at the end of a soak that holds a release of which more boxes fail than the policy accepts. A person
// may accept so many. At stage 50 there are so many boxes that the test can tell.
const (
	acceptHold10 = 0.0005
	acceptHold50 = 0.005
)

// notAcceptable holds a rollout of which more boxes are bad than the policy accepts.
func (d decision) notAcceptable() (list findings) {
	all, acceptable := d.sum(Organization{}), d.policy.Guard.Acceptable
	level := map[int]float64{10: acceptHold10, 50: acceptHold50}[d.evidence.Stage]
	_, halts := d.closest(Organization{})
	list.add(!halts && d.soakOver() && stats.AtLeast(all.Bad, all.Told, acceptable) <= level, NotAcceptable,
		fmt.Sprintf("%d of %s with the release are bad, %.1f percent, and the policy accepts %g", all.Bad, boxes(all.Told), 100*float64(all.Bad)/float64(max(all.Told, 1)), 100*acceptable))
	return list
}

// counts returns the counts that are tested for failures, without the boxes of one organization: one of all boxes that
// were told the release, and one of each stage. Once the soak is over, there is one more: of the present stage, pooled
// with as many earlier stages as the test needs.
func (d decision) counts(without Organization) []Count {
	count := func(percent int, p Share, last bool) Count {
		return Count{Percent: percent, Boxes: p.Told, Bad: p.Bad, Likelihood: d.test.Likelihood(p.Bad, p.Told), Limit: HaltAt, last: last}
	}
	list := []Count{count(0, d.sum(without), false)}
	for i, b := range d.evidence.Stages {
		if p := d.part(i, without); p.Told > 0 {
			list = append(list, count(b.Percent, p, false))
		}
	}
	if p := d.pooled(without); d.soakOver() && p.Told >= d.test.Needs() {
		list = append(list, count(d.evidence.Stage, p, true))
	}
	return list
}

// closest is the count that halts, otherwise the one closest to it.
func (d decision) closest(without Organization) (closest Count, halts bool) {
	for i, c := range d.counts(without) {
		h := d.countHalts(c)
		if i == 0 || h && !halts || h == halts && c.Likelihood > closest.Likelihood {
			closest, halts = c, h
		}
	}
	return closest, halts
}

// countHalts reports whether a count of bad boxes halts.
func (d decision) countHalts(c Count) bool {
	return d.test.Halts(c.Bad, c.Boxes) || c.last && d.policy.Guard.lastHalts(c.Bad, c.Boxes)
}

// part counts the boxes that were told the release at a stage, and the bad ones among them, without the boxes of one
// organization.
func (d decision) part(i int, without Organization) Share {
	b := d.evidence.Stages[i]
	p := Share{Told: b.told(), Bad: b.Bad}
	if i < len(without.Parts) {
		p = p.minus(without.Parts[i])
	}
	return p
}

// sum adds the parts of all stages.
func (d decision) sum(without Organization) (sum Share) {
	for i := range d.evidence.Stages {
		sum = sum.Plus(d.part(i, without))
	}
	return sum
}

// pooled is the present stage, and as many of those before it as the test needs.
func (d decision) pooled(without Organization) (sum Share) {
	for i := d.evidence.at(); i >= 0 && sum.Told < d.test.Needs(); i-- {
		sum = sum.Plus(d.part(i, without))
	}
	return sum
}

// isSmall reports whether the stage has too few boxes for the test, together with those before it.
func (d decision) isSmall() bool { return d.pooled(Organization{}).Told < d.test.Needs() }

// moreBad is how many more bad boxes of the present stage halt the rollout. If the bad boxes would then outnumber those
// that were told the release, the surplus counts as told, too.
func (d decision) moreBad() int {
	more := boundless
	for _, c := range d.counts(Organization{}) {
		if c.Percent != 0 && c.Percent != d.evidence.Stage {
			continue
		}
		more = min(more, least(func(n int) bool {
			of := c
			of.Boxes, of.Bad = max(c.Boxes, c.Bad+n), c.Bad+n
			return d.countHalts(of)
		}))
	}
	return more
}

// fewerBad is how many fewer bad boxes it takes so that no test halts.
func (d decision) fewerBad() int {
	fewer := 0
	for _, c := range d.counts(Organization{}) {
		fewer = max(fewer, least(func(n int) bool {
			of := c
			of.Bad = c.Bad - n
			return !d.countHalts(of)
		}))
	}
	return fewer
}

func (d decision) badUnexplained() bool {
	all, acceptable := d.pooled(Organization{}), d.policy.Guard.Acceptable
	return stats.AtLeast(d.stage.Bad, d.stage.told(), acceptable) <= badByChance || stats.AtLeast(all.Bad, all.Told, acceptable) <= badByChance
}

// retrying are the boxes that failed and may recover. It tests what would be if none does.
func (d decision) retrying() *Retrying {
	var r Retrying
	r.Told, _ = d.evidence.totals()
	d.evidence.Stages = slices.Clone(d.evidence.Stages)
	for i := range d.evidence.Stages {
		b := &d.evidence.Stages[i]
		r.Boxes, b.Bad = r.Boxes+b.Retrying, b.Bad+b.Retrying
		if b.RetryUntil.After(r.Until) {
			r.Until = b.RetryUntil
		}
	}
	if r.Boxes == 0 {
		return nil
	}
	_, r.Halts = d.closest(Organization{})
	return &r
}
