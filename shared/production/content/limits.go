package content

import (
	"slices"

	"wavegate/shared/platform/input"
)

// limits holds the numbers of a parameter or a check. They are absolute; no tolerance is added.
type limits struct {
	target, least, most number
	at                  float64 // the x of a point
	faulty              bool    // they have a fault
}

type number struct {
	n     float64
	given bool
}

// limitsOf reads target, min and max, and their unit. other is set if something else has that unit.
func (r *reader) limitsOf(o *input.Object, other bool) limits {
	var l limits
	read := func(name string) number {
		n, given, ok := o.OptionalNumber(name)
		l.faulty = l.faulty || given && !ok
		return number{n, given}
	}
	l.target, l.least, l.most = read("target"), read("min"), read("max")
	switch given := r.inUnit(o, "unit", "quantity"); {
	case !given && (other || l.given()):
		o.Missing("unit")
	case given && !other && !l.given():
		o.Fault("unit", "exclusive", "is only allowed with target, min or max")
	}
	return l.checked(o, "target")
}

// checked finds what is wrong with limits that an object has, and with the value within them, which is in a field.
func (l limits) checked(o *input.Object, value string) limits {
	switch {
	case l.faulty:
	case l.least.given && l.most.given && l.least.n > l.most.n:
		o.Fault("max", "range", "must not be less than min")
		l.faulty = true
	case l.target.given && !l.contain(l.target.n):
		o.Fault(value, "range", "must be within min and max")
	}
	return l
}

func (l limits) given() bool { return l.target.given || l.least.given || l.most.given }

func (l limits) contain(n float64) bool {
	return (!l.least.given || n >= l.least.n) && (!l.most.given || n <= l.most.n)
}

// parameter reads a parameter: numbers with a unit, a curve, or a text, and overrides for some machines. It
// returns the machines of the overrides.
func (r *reader) parameter(o *input.Object, ids distinct, machines []string) (overridden []string) {
	ids.check(o, "id", o.Text("id", input.Name))
	o.OptionalText("name", nameRule)
	is := value{curve: r.curveOf(o)}
	is.limits = r.limitsOf(o, is.curve != nil)
	_, is.text = o.OptionalText("text", nameRule)
	kinds := 0
	for _, given := range []bool{is.text, is.given(), is.curve != nil} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		o.Fault("", "required", "must have either text, points, or one of target, min and max")
	}
	o.Boolean("critical")
	seen := distinct{}
	o.OptionalObjects("overrides", 1, maxMachines, func(v *input.Object) {
		overridden = append(overridden, is.override(v, seen, machines))
	})
	return overridden
}

// A value is what a parameter has: a text, a curve, or limits.
type value struct {
	limits
	text  bool
	curve []limits // nil: none
}

// override reads the values of a parameter for one machine, and returns the machine.
func (is value) override(o *input.Object, seen distinct, machines []string) (machine string) {
	machine = o.Text("machine", input.Name)
	seen.check(o, "machine", machine)
	if notInStep(machine, machines) {
		o.Fault("machine", "reference", foreignSays)
	}
	target, hasTarget, ok := o.OptionalNumber("target")
	_, hasText := o.OptionalText("text", nameRule)
	points, hasPoints := pointsOf(o, false)
	right := "target"
	switch {
	case is.curve != nil:
		right = "points"
	case is.text:
		right = "text"
	}
	given, wrong := map[string]bool{"target": hasTarget, "text": hasText, "points": hasPoints}, false
	for _, kind := range []struct{ name, of string }{{"target", "numbers"}, {"text", "a text"}, {"points", "points"}} {
		if given[kind.name] && kind.name != right {
			o.Fault(kind.name, "exclusive", "is only allowed for a parameter with "+kind.of)
			wrong = true
		}
	}
	if !wrong && !given[right] {
		o.Missing(right)
	}
	switch {
	case right == "points" && hasPoints:
		is.follows(o, points)
	case right == "target" && ok && !is.faulty && !is.contain(target):
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
func (r *reader) check(o *input.Object, ids distinct) {
	ids.check(o, "id", o.Text("id", input.Name))
	o.Text("name", nameRule)
	l := r.limitsOf(o, false)
	_, inWords := o.OptionalText("accept", nameRule)
	switch {
	case inWords == l.given():
		o.Fault("", "required", "must have either accept, or min or max")
	case l.given() && !l.least.given && !l.most.given:
		o.Fault("", "required", "must have min or max together with target")
	}
	o.OptionalObject("every", r.quantity)
	o.OptionalText("standard", wordRule)
	o.Boolean("critical")
}
