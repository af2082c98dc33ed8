package content

import (
	"slices"

	"wavegate/shared/platform/input"
)

// A curve is a list of points with x and y, such as the temperatures of a kiln by time. Between two points, the machine follows a
// straight line. Each point has its own min and max for y, which make a band.

// curveOf reads the curve of a parameter, and the unit of its x; the unit of y is that of limits. It is nil if there is none.
func (r *reader) curveOf(o *input.Object) []limits {
	points, given := pointsOf(o, true)
	if hasUnit := r.inUnit(o, "xUnit", "xQuantity"); given && !hasUnit {
		o.Missing("xUnit")
	} else if !given && hasUnit {
		o.Fault("xUnit", "exclusive", "is only allowed with points")
	}
	if given && points == nil {
		points = []limits{}
	}
	return points
}

// pointsOf reads the points of a curve, as limits of y, with x as the number at. Those of one machine have no limits of their own.
func pointsOf(o *input.Object, banded bool) (list []limits, given bool) {
	given = o.OptionalObjects("points", 2, maxPoints, func(p *input.Object) {
		x, ok := p.Number("x")
		l := limits{at: x, faulty: !ok}
		read := func(name string) number {
			n, given, ok := p.OptionalNumber(name)
			l.faulty = l.faulty || given && !ok
			return number{n, given}
		}
		y, ok := p.Number("y")
		l.target, l.faulty = number{y, ok}, l.faulty || !ok
		if banded {
			l.least, l.most = read("min"), read("max")
		}
		if n := len(list); n > 0 && !l.faulty && !list[n-1].faulty && x <= list[n-1].at {
			p.Fault("x", "range", "must be more than the x before")
			l.faulty = true
		}
		list = append(list, l.checked(p, "y"))
	})
	return list, given
}

// follows finds what is wrong with the points of one machine: they have the same x as the parameter's, and each is within its band.
func (is value) follows(o *input.Object, points []limits) {
	sameX := func(a, b limits) bool { return a.at == b.at }
	faulty := func(l limits) bool { return l.faulty }
	switch {
	case len(is.curve) < 2 || len(points) < 2 || slices.ContainsFunc(is.curve, faulty) || slices.ContainsFunc(points, faulty):
	case !slices.EqualFunc(is.curve, points, sameX):
		o.Fault("points", "reference", "must have the same x as the points of the parameter")
	default:
		for i, p := range points {
			if !is.curve[i].contain(p.target.n) {
				o.FaultIn("points", i, "range", "must be within min and max of the parameter's point")
			}
		}
	}
}
