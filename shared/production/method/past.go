package method

import (
	"maps"
	"math"
	"slices"
	"time"

	"wavegate/shared/production/machine"
)

const maxNumber = math.MaxInt64

// skew is by how much the clocks of two containers may differ. A time that somebody chose for a decision counts a little
// longer, in both directions. Everything else has the order of its number.
const skew = time.Minute

// A scene is a method between two decisions.
type scene struct {
	number int64
	at     time.Time
	method Method
	chosen map[kindOf]bool // the decisions that begin at a time that somebody chose
}

// A kindOf names a decision of a method: a version has at most one trial and one release.
type kindOf struct {
	version int64
	trial   bool
}

func (d Decision) kind() kindOf { return kindOf{d.Version, !d.everywhere()} }

// past plays all decisions on a method again. The versions are all of the method.
func past(versions []Version) []scene {
	type step struct {
		Decided
		of Version
	}
	var steps []step
	byNumber := map[int64]Version{}
	for _, v := range versions {
		byNumber[v.Version] = v
		for _, d := range v.Decisions {
			steps = append(steps, step{d, v})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.At.Compare(b.At) }) // the times of a method only grow
	var m Method
	var scenes []scene
	chosen := map[kindOf]bool{}
	for _, s := range steps {
		v := s.of
		switch {
		case s.Status != Withdrawn:
			d := Decision{Version: v.Version, ContentSHA256: v.ContentSHA256, From: *s.From, Machines: s.Machines, ApprovedAt: s.At}
			if was, found := m.Effectivity.of(v.Version, s.Status); !found || !was.From.Equal(d.From) || !sameMachines(was.Machines, d.Machines) {
				m.Effectivity = m.Effectivity.with(d, s.At)
				chosen = with(chosen, d.kind(), d.From.After(s.At))
			}
		case s.Reinstates > 0:
			o := byNumber[s.Reinstates].before(s.At)
			m.Effectivity = m.Effectivity.without(v.Version, s.At)
			m.Effectivity = append(Effectivity{{Version: o.Version, ContentSHA256: o.ContentSHA256, From: s.At, ApprovedAt: o.approvedAt()}}, m.Effectivity...)
			chosen = with(chosen, kindOf{version: o.Version}, false)
		default:
			m.Effectivity = m.Effectivity.without(v.Version, s.At)
		}
		m = m.after(s.Decided, v, byNumber[s.Reinstates].before(s.At)).equipped(versions...)
		scenes = append(scenes, scene{s.Number, s.At, m, chosen})
	}
	return scenes
}

// before is the version with the decisions that were made before a time.
func (v Version) before(at time.Time) Version {
	v.Decisions = slices.DeleteFunc(slices.Clone(v.Decisions), func(d Decided) bool { return !d.At.Before(at) })
	return v
}

func with(all map[kindOf]bool, k kindOf, chosen bool) map[kindOf]bool {
	all = maps.Clone(all)
	all[k] = chosen
	return all
}

// couldHave lists the machines of a factory that could have a version at some moment until now: it held there, and
// they were covered. The versions are all of the method.
func couldHave(v Version, versions []Version, park []machine.Machine, now time.Time) []string {
	if !v.approvedOnce() {
		return nil
	}
	scenes := past(versions)
	var codes []string
	for _, x := range park {
		if couldEver(v.Version, scenes, x, now) {
			codes = append(codes, x.Code)
		}
	}
	return codes
}

func couldEver(version int64, scenes []scene, x machine.Machine, now time.Time) bool {
	changes := x.Changes()
	for i, s := range scenes {
		if !slices.ContainsFunc(s.method.Effectivity, func(d Decision) bool { return d.Version == version && d.covers(x.Code) }) {
			continue
		}
		until, last := now, int64(maxNumber)
		if i+1 < len(scenes) {
			until, last = scenes[i+1].at, scenes[i+1].number
		}
		begin, number := s.at, s.number
		for _, c := range changes {
			if c.Number <= number || c.Number > last {
				continue
			}
			if s.could(version, x.AsOf(c.Number-1), begin, c.At) {
				return true
			}
			begin, number = c.At, c.Number
		}
		if s.could(version, x.AsOf(last), begin, until) {
			return true
		}
	}
	return false
}

// could reports whether a version held on a machine at some moment between two times, in which nothing but the time
// changed.
func (s scene) could(version int64, x machine.Machine, begin, end time.Time) bool {
	for i, d := range s.method.Effectivity {
		if d.Version != version || !d.covers(x.Code) || !s.method.covers(x, d) {
			continue
		}
		from, to := begin, end
		if d.From.After(begin) {
			from = d.From.Add(-skew)
		}
		for _, later := range s.method.Effectivity[i+1:] {
			switch {
			case !later.covers(x.Code):
			case !s.chosen[later.kind()]:
				to = from.Add(-1) // it took over with its decision, which came before
			case later.From.Add(skew).Before(to):
				to = later.From.Add(skew)
			}
		}
		if !from.After(to) {
			return true
		}
	}
	return false
}
