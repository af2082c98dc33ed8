package guard

import (
	"slices"
	"time"

	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// Limits for the values of a policy.
const (
	leastShare, mostShare = 0.001, 0.5
	leastTaken            = 0.01
	// With a smaller difference, a stage needs more than 500 boxes to clear, even if none is bad or silent. The sample
	// for silence has 1,000 boxes. It must hold all boxes of a small stage and of the stages before it.
	leastDifference = 0.006
	mostWindows     = 20
	mostBy          = 1

	rounding = 1e-9 // of a difference of two shares
)

// Rules of the texts in a policy.
var (
	modeRule       = &input.Text{Pattern: `advise|act`, Says: "advise or act"}
	presetRule     = &input.Text{Pattern: fast, Says: fast}
	onHaltRule     = &input.Text{Pattern: `stay|return`, Says: "stay or return"}
	smallFleetRule = &input.Text{Pattern: `allDecided|people|peopleIfFew`, Says: "allDecided, people or peopleIfFew"}
	soakRule       = durationRule(0)
	numberRule     = &input.Text{Pattern: `gauge|counter`, Says: "gauge or counter"}
	expectsRule    = &input.Text{Pattern: better, Says: better}
	worseRule      = &input.Text{Pattern: `higher|lower`, Says: "higher or lower"}
	// NumberName accepts the names of health numbers.
	NumberName = &input.Text{Pattern: `[A-Za-z][A-Za-z0-9._-]{0,31}`, Says: "1 to 32 letters, digits, dots, underscores or hyphens, the first a letter"}
)

// Settings lists the settings that ReadFor reads.
var Settings = []setting.Name{setting.GuardIntervalSeconds, setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds}

// Interval reads how often the guard runs.
func Interval(r *setting.Values) time.Duration {
	return time.Duration(r.Number(setting.GuardIntervalSeconds)) * time.Second
}

// StageRule accepts the stages that a rollout can be raised to.
var StageRule = &input.Integer{OneOf: []int{10, 50, 100}}

// Parse reads a policy, or returns all its faults. interval is the time between two runs of the guard.
func Parse(text []byte, interval time.Duration) (Policy, []problem.Fault) {
	return input.Parse(text, func(o *input.Object) Policy { return Read(o, interval).For(false) })
}

// Open is the default policy of a release that is not known yet; see Policy.For.
func Open() Policy {
	p := Default()
	p.Promote.Soak.open = true
	return p
}

// Read reads a policy, or those of its fields that differ from Open. Use the policy only if the object has no fault.
// interval is the time between two runs of the guard: the least value of silentAfter and decideWithin.
func Read(o *input.Object, interval time.Duration) Policy {
	p := Open()
	if _, given := o.OptionalText("preset", presetRule); given {
		p = p.hurried()
	}
	if mode, given := o.OptionalText("mode", modeRule); given {
		p.Mode = Mode(mode)
	}
	if on, given := o.OptionalText("onHalt", onHaltRule); given && OnHalt(on) == Return {
		p.OnHalt = Return
	}
	o.OptionalObject("health", func(numbers *input.Object) { p.Health = readNumbers(numbers) })
	o.OptionalObject("guard", func(bounds *input.Object) { p.Guard.read(bounds, durationRule(interval)) })
	soaks := p.Promote.Soak
	o.OptionalObject("promote", p.Promote.read)
	if p.Hurries() && (p.Promote.Soak != soaks || p.Guard.DecideWithin.Length() > defaultSilence.Length() || p.Guard.SilentAfter.Length() > defaultSilence.Length()) {
		o.Fault("preset", "exclusive", "must not be fast with soaks, or with times in guard that are longer than PT30M: these make it slower")
	}
	o.OptionalObject("approvals", p.Approvals.read)
	return p
}

// ReadFor is Read by the deployment's settings, with a fault if its boxes poll too rarely.
func ReadFor(o *input.Object, r *setting.Values) Policy {
	p := Read(o, Interval(r))
	if text := p.TooSlow(time.Duration(max(r.Number(setting.PollIntervalSeconds), r.Number(setting.IdlePollIntervalSeconds))) * time.Second); text != "" {
		o.Fault("preset", "range", text)
	}
	return p
}

// readNumbers reads health numbers; nil if there are none.
func readNumbers(o *input.Object) map[string]Number {
	all := map[string]Number{}
	o.NamedObjects(NumberName, MostNumbers, func(name string, number *input.Object) {
		n := Number{Is: number.Text("is", numberRule), Worse: higher, By: 0.01}
		if n.Is == counter {
			n.By = 0.2
		}
		if worse, given := number.OptionalText("worse", worseRule); given {
			if n.Worse = worse; n.Is == counter && worse == lower {
				number.Fault("worse", "exclusive", "of a counter can only be higher")
			}
		}
		if n.Expects, _ = number.OptionalText("expects", expectsRule); n.Expects != "" && n.Is == counter {
			number.Fault("expects", "exclusive", "must only be given for a gauge")
		}
		if by, given, ok := number.OptionalNumber("by"); given && ok {
			if n.By = by; by < 0 || by > mostBy {
				number.Fault("by", "range", "must be a share from 0 to 1; one percent is 0.01")
			}
		}
		all[name] = n
	})
	if len(all) == 0 {
		return nil
	}
	return all
}

func (b *Bounds) read(o *input.Object, wait *input.Text) {
	acceptable, intolerable := share(o, "acceptable", &b.Acceptable), share(o, "intolerable", &b.Intolerable)
	if acceptable && intolerable && (b.Intolerable < 2*b.Acceptable || b.Intolerable-b.Acceptable < leastDifference-rounding) {
		// The closer the two shares, the more boxes it takes to tell them apart.
		o.Fault("intolerable", "range", "must be at least twice what is acceptable, and at least 0.006 more")
	}
	duration(o, "silentAfter", wait, &b.SilentAfter)
	duration(o, "decideWithin", wait, &b.DecideWithin)
	if n, given, ok := o.OptionalNumber("taken"); given && ok {
		if n < leastTaken || n > 1 {
			o.Fault("taken", "range", "must be a share from 0.01 to 1; eighty percent is 0.8")
		} else {
			b.Taken = n
		}
	}
	if small, given := o.OptionalText("smallFleet", smallFleetRule); given {
		b.SmallFleet = SmallFleet(small)
	}
}

// share reads a share of boxes, and reports whether it is valid. A percentage is out of range.
func share(o *input.Object, name string, to *float64) bool {
	n, given, ok := o.OptionalNumber(name)
	if !given || !ok {
		return !given
	}
	if n < leastShare || n > mostShare {
		o.Fault(name, "range", "must be a share from 0.001 to 0.5; one percent is 0.01")
		return false
	}
	*to = n
	return true
}

// duration reads a duration, and reports whether it was given.
func duration(o *input.Object, name string, rule *input.Text, to *Duration) bool {
	text, given := o.OptionalTextBy(name, soakRule, rule)
	if d, ok := ParseDuration(text); given && ok {
		*to = Lasting(d)
	}
	return given
}

func (p *Promotion) read(o *input.Object) {
	if auto, given := o.OptionalBoolean("auto"); given {
		p.Auto = auto
	}
	o.OptionalObject("soak", func(soak *input.Object) {
		duration(soak, "1", soakRule, &p.Soak.At1)
		p.Soak.open = !duration(soak, "10", soakRule, &p.Soak.At10) && p.Soak.open
		duration(soak, "50", soakRule, &p.Soak.At50)
		duration(soak, "100", soakRule, &p.Soak.At100)
	})
	o.OptionalObjects("windows", 0, mostWindows, func(w *input.Object) { p.Windows = append(p.Windows, calendar.ReadWindow(w)) })
}

func (a *Approvals) read(o *input.Object) {
	stages, _ := o.Integers("before", &input.List{Of: StageRule, Most: len(StageRule.OneOf)})
	for _, stage := range stages {
		a.Before = append(a.Before, int(stage))
	}
	slices.Sort(a.Before)
}
