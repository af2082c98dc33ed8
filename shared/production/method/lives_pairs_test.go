package method_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"wavegate/shared/production/method"
)

// An action is a call and what it means in the model, by its answer. then returns what the model says against the answer.
type action struct {
	call      func()
	then      func(m *model) string
	machine   string // that it changes
	withdraws int64  // the version
}

var nothing = action{call: func() {}, then: func(*model) string { return "" }}

// A belief is a model, and how it came to be. Two calls at once may have come in either order, so a life has a belief for each
// order that the service has not contradicted yet.
type belief struct {
	model *model
	past  []func(m *model) string
}

// with is a belief after further actions; fault is what it says against their answers.
func (b belief) with(steps ...func(m *model) string) (after belief, fault string) {
	after = belief{newModel(), slices.Concat(b.past, steps)}
	for _, step := range after.past {
		fault = cmp.Or(fault, step(after.model))
	}
	return after, fault
}

func (l *lived) model() *model { return l.beliefs[0].model }

// looked is a step that looks at what each machine could get now.
func (l *lived) looked() func(m *model) string {
	now := l.now
	return func(m *model) string { m.look(now); return "" }
}

// made is a step that makes an action in a model.
func (l *lived) made(a action) func(m *model) string {
	now, look := l.now, l.looked()
	return func(m *model) string {
		m.begin(now)
		defer look(m)
		return a.then(m)
	}
}

// goOn takes a step in each belief, and keeps those that say nothing against it.
func (l *lived) goOn(step func(m *model) string) {
	l.keep(func(b belief) (after []belief, fault string) {
		fault = step(b.model)
		return []belief{{b.model, append(b.past, step)}}, fault
	})
}

// keep replaces each belief by those that follow from it.
func (l *lived) keep(follow func(b belief) ([]belief, string)) {
	var kept []belief
	fault := ""
	for _, b := range l.beliefs {
		after, found := follow(b)
		if found != "" {
			fault = found
			continue
		}
		kept = append(kept, after...)
	}
	if l.beliefs = kept; len(kept) == 0 {
		l.Fatalf("%s\n%s", fault, strings.Join(l.log, "\n"))
	}
}

func (l *lived) look() { l.goOn(l.looked()) }

// make makes an action.
func (l *lived) make(a action) {
	a.call()
	l.goOn(l.made(a))
}

// ofVersion approves or withdraws a version.
func (l *lived) ofVersion() action {
	if l.random.IntN(3) == 0 {
		return l.withdraw()
	}
	return l.approve()
}

// ofMachine changes a machine or its box, or one of them or a person says something about a version.
func (l *lived) ofMachine() action {
	switch n := l.random.IntN(14); {
	case n < 4:
		return l.classes()
	case n < 6:
		return l.admit()
	case n < 8:
		return l.report()
	case n < 9:
		return l.confirm()
	case n < 12:
		return l.boxes()
	default:
		return l.scrap()
	}
}

// pair makes a move of a version and an action of a machine at once. Everything must be as if one came first.
func (l *lived) pair() {
	one, other := l.ofMachine(), l.ofVersion()
	l.did("at once:")
	l.pairs++
	l.atOnce = true
	defer func() { l.atOnce = false }()
	var both sync.WaitGroup
	both.Go(one.call)
	other.call()
	both.Wait()
	first, second := l.made(one), l.made(other)
	crossing := func(m *model) string {
		if one.machine != "" && other.withdraws > 0 {
			note(m.crossed, other.withdraws, one.machine)
		}
		return ""
	}
	l.keep(func(b belief) (after []belief, fault string) {
		for _, order := range [][]func(*model) string{{first, second, crossing}, {second, first, crossing}} {
			next, found := b.with(order...)
			if found == "" {
				after = append(after, next)
			} else {
				fault = found
			}
		}
		if len(after) > 0 {
			return after, ""
		}
		return nil, fault
	})
	l.check()
}

// A sight is what the service says about the recalls: the machines that are told, on the list, and shown without a box.
type sight struct{ told, listed map[int64][]string }

// check compares the polls and the lists of all withdrawn versions with each belief. It returns how many machines are told.
func (l *lived) check() (told int) {
	s := sight{map[int64][]string{}, map[int64][]string{}}
	for _, code := range slices.Sorted(maps.Keys(l.model().machines)) {
		poll, err := l.polls.Poll(l.ctx, engineer, method.PollRequest{FactoryID: l.ref.FactoryID, Machine: code, Limit: 100}, func(path string) string { return path })
		if err != nil {
			l.Fatal(err)
		}
		for _, item := range poll.Items {
			for _, w := range item.Withdrawn {
				s.told[w.Version] = append(s.told[w.Version], code)
				told++
			}
		}
	}
	for version := range l.model().withdrawn {
		s.listed[version] = l.list(version)
		l.withoutBox(version)
	}
	l.keep(func(b belief) ([]belief, string) { return []belief{b}, b.model.contradicts(s) })
	return told
}
