package content

import (
	"slices"

	"wavegate/shared/platform/input"
)

// limits holds the numbers of a parameter or a check. They are absolute; no tolerance is added.
type limits struct {
	target, least, most number
	faulty              bool // they have a fault
}

type number struct {
	n     float64
	given bool
}

// limitsOf reads target, min and max, and their unit.
func limitsOf(o *input.Object) limits {
	var l limits
	read := func(name string) number {
		n, given, ok := o.OptionalNumber(name)
		l.faulty = l.faulty || given && !ok
		return number{n, given}
	}
	l.target, l.least, l.most = read("target"), read("min"), read("max")
	unit, given := o.OptionalTextBy("unit", unitRule, unitText)
	checkUnit(o, unit)
	if given != l.given() {
		if l.given() {
			o.Missing("unit")
		} else {
			o.Fault("unit", "exclusive", "is only allowed with target, min or max")
		}
	}
	switch {
	case l.faulty:
	case l.least.given && l.most.given && l.least.n > l.most.n:
		o.Fault("max", "range", "must not be less than min")
		l.faulty = true
	case l.target.given && !l.contain(l.target.n):
		o.Fault("target", "range", "must be within min and max")
	}
	return l
}

func (l limits) given() bool { return l.target.given || l.least.given || l.most.given }

func (l limits) contain(n float64) bool {
	return (!l.least.given || n >= l.least.n) && (!l.most.given || n <= l.most.n)
}

// parameter reads a parameter: numbers with a unit, or a text, and overrides for some machines. It
// returns the machines of the overrides.
func parameter(o *input.Object, ids distinct, machines []string) (overridden []string) {
	ids.check(o, "id", o.Text("id", input.Name))
	o.OptionalText("name", nameRule)
	l := limitsOf(o)
	_, isText := o.OptionalText("text", nameRule)
	if isText == l.given() {
		o.Fault("", "required", "must have either text, or one of target, min and max")
	}
	o.Boolean("critical")
	seen := distinct{}
	o.OptionalObjects("overrides", 1, maxMachines, func(v *input.Object) {
		overridden = append(overridden, override(v, l, isText, seen, machines))
	})
	return overridden
}

// override reads the values of a parameter for one machine, and returns the machine.
func override(o *input.Object, l limits, isText bool, seen distinct, machines []string) (machine string) {
	machine = o.Text("machine", input.Name)
	seen.check(o, "machine", machine)
	if notInStep(machine, machines) {
		o.Fault("machine", "reference", foreignSays)
	}
	target, hasTarget, ok := o.OptionalNumber("target")
	_, hasText := o.OptionalText("text", nameRule)
	switch {
	case isText && hasTarget:
		o.Fault("target", "exclusive", "is only allowed for a parameter with numbers")
	case !isText && hasText:
		o.Fault("text", "exclusive", "is only allowed for a parameter with a text")
	case isText && !hasText:
		o.Missing("text")
	case !isText && !hasTarget:
		o.Missing("target")
	case ok && !l.faulty && !l.contain(target):
		o.Fault("target", "range", "must be within the parameter's min and max")
	}
	return machine
}

// notInStep reports whether a machine is not in a step's list. A step with a class can run on any
// machine.
func notInStep(machine string, machines []string) bool {
	return machine != "" && len(machines) > 0 && !slices.Contains(machines, machine)
}

const foreignSays = "must be one of the step's machines"

// check reads a check: limits with a unit, or acceptance criteria in words.
func check(o *input.Object, ids distinct) {
	ids.check(o, "id", o.Text("id", input.Name))
	o.Text("name", nameRule)
	l := limitsOf(o)
	_, inWords := o.OptionalText("accept", nameRule)
	switch {
	case inWords == l.given():
		o.Fault("", "required", "must have either accept, or min or max")
	case l.given() && !l.least.given && !l.most.given:
		o.Fault("", "required", "must have min or max together with target")
	}
	o.OptionalObject("every", quantity)
	o.OptionalText("standard", wordRule)
	o.Boolean("critical")
}
