package method_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
)

// The slow model of "could have had the version": after each action and each pause it looks at every machine and every
// version, and notes what the machine could get right now. It counts actions, and has no numbers and no stored past.

// A notedRuling is a decision for one machine. trial decisions do not end those for all machines.
type notedRuling struct {
	version int64
	trial   bool
	from    time.Time // zero: immediately
	ended   bool
}

// A notedApproval is a signature for the decision of a version: the action, and the action by which it was decided.
type notedApproval struct{ action, made int }

// A notedMachine is what the model knows of a machine.
type notedMachine struct {
	classes  []map[string]bool // after each action
	admitted []int             // actions
	rulings  []notedRuling     // in the order of precedence
	scrapped bool
	spoke    map[int64]bool // versions that it has said it has since then
}

type kind struct {
	version int64
	trial   bool
}

// A model is the slow model.
type model struct {
	times     []time.Time // of each action
	machines  map[string]*notedMachine
	approvals map[kind][]notedApproval
	equipment map[int64]map[string]bool // classes, and machines as "=code"
	must, may map[int64]map[string]bool // the machines that could have a version; may: within a minute of a chosen time
	withdrawn map[int64]bool
	orders    map[int64]map[string]map[string]bool // that run, by machine; nil: the machine has said nothing
	loaded    map[int64]map[string]bool            // machines whose last word was that they have it
	told      map[int64]map[string]bool            // machines that had reported it when its withdrawal was signed
	confirmed map[int64]map[string]bool            // by a person
	crossed   map[int64]map[string]bool            // changed at once with a withdrawal: may be told and keep their box, if steps name them
	others    map[int64]map[string]map[claim]bool  // other bytes that the machine has; false: it may have replaced them
}

// A claim is that a machine has other bytes of a version: for an order, or without one, loaded or running.
type claim struct {
	bytes, order string
	loaded       bool
}

func newModel() *model {
	return &model{machines: map[string]*notedMachine{}, approvals: map[kind][]notedApproval{}, equipment: map[int64]map[string]bool{},
		must: map[int64]map[string]bool{}, may: map[int64]map[string]bool{}, withdrawn: map[int64]bool{},
		orders: map[int64]map[string]map[string]bool{}, loaded: map[int64]map[string]bool{}, told: map[int64]map[string]bool{},
		confirmed: map[int64]map[string]bool{}, crossed: map[int64]map[string]bool{}, others: map[int64]map[string]map[claim]bool{}}
}

// begin notes that an action begins: each machine keeps its classes, until the action changes them.
func (m *model) begin(now time.Time) int {
	m.times = append(m.times, now)
	for _, x := range m.machines {
		x.classes = append(x.classes, x.classes[len(x.classes)-1])
	}
	return len(m.times) - 1
}

func (m *model) now() int { return len(m.times) - 1 }

// keeps: the machine has the class, had it after an action, and lost it only for short times since.
func (m *model) keeps(x *notedMachine, class string, action int) bool {
	if !x.classes[action][class] || !x.classes[m.now()][class] {
		return false
	}
	var lost time.Time
	for i := action; i <= m.now(); i++ {
		switch has := x.classes[i][class]; {
		case !has && lost.IsZero():
			lost = m.times[i]
		case has && !lost.IsZero():
			if m.times[i].Sub(lost) > machine.Correction {
				return false
			}
			lost = time.Time{}
		}
	}
	return true
}

func (m *model) covered(x *notedMachine, code string, k kind) bool {
	if m.equipment[k.version]["="+code] {
		return true
	}
	for class := range m.equipment[k.version] {
		for _, a := range m.approvals[k] {
			if m.keeps(x, class, a.action) {
				return true
			}
			for _, admitted := range x.admitted {
				if admitted > a.made && m.keeps(x, class, admitted) {
					return true
				}
			}
		}
	}
	return false
}

// look notes what each machine could get at a time. By a clock that is wrong by a minute, more may hold.
func (m *model) look(now time.Time) {
	for code, x := range m.machines {
		for _, d := range []time.Duration{0, -2 * time.Minute, 2 * time.Minute} {
			top := notedRuling{}
			for _, r := range x.rulings {
				if !r.ended && !r.from.After(now.Add(d)) {
					top = r
				}
			}
			if top.version == 0 || !m.covered(x, code, kind{top.version, top.trial}) {
				continue
			}
			note(m.may, top.version, code)
			if d == 0 && !x.scrapped { // once it is back, nobody knows any more that it was gone: rather one machine too many
				note(m.must, top.version, code)
			}
		}
	}
}

func note(all map[int64]map[string]bool, version int64, code string) {
	if all[version] == nil {
		all[version] = map[string]bool{}
	}
	all[version][code] = true
}

// supersede ends for good what a later decision that has begun replaces.
func (m *model) supersede(now time.Time) {
	for _, x := range m.machines {
		for i := range x.rulings {
			for _, later := range x.rulings[i+1:] {
				if !later.ended && !later.from.After(now) && (!later.trial || x.rulings[i].trial) {
					// A later one that begins first replaces a scheduled one when that begins.
					x.rulings[i].ended = x.rulings[i].ended || !x.rulings[i].from.After(now) || !later.from.After(x.rulings[i].from)
				}
			}
		}
	}
}

// decide notes an accepted approval. present is whether the version's decision of the kind stays as it is.
func (m *model) decide(k kind, codes []string, from time.Time, present bool) {
	now := m.times[m.now()]
	made := m.now()
	if list := m.approvals[k]; present && len(list) > 0 {
		made = list[0].made
	}
	m.approvals[k] = append(m.approvals[k], notedApproval{m.now(), made})
	if present {
		return
	}
	m.supersede(now)
	for code, x := range m.machines {
		for i, r := range x.rulings {
			if r.version == k.version && r.trial == k.trial {
				x.rulings[i].ended = true
			}
		}
		if !k.trial || slices.Contains(codes, code) {
			x.rulings = append(x.rulings, notedRuling{version: k.version, trial: k.trial, from: from})
		}
	}
	m.supersede(now)
}

// tell notes that a withdrawal was signed: it tells the machines that have said by now that they have the version.
func (m *model) tell(version int64) {
	delete(m.crossed, version)
	for code := range m.machines {
		if has, may := m.has(version, code); (has || may) && !m.confirmed[version][code] {
			note(m.told, version, code)
		}
	}
}

// has says whether a machine has, or may have, a version by what it said, with whatever bytes.
func (m *model) has(version int64, code string) (must, may bool) {
	must = len(m.orders[version][code]) > 0 || m.loaded[version][code]
	for _, sure := range m.others[version][code] {
		must, may = must || sure, true
	}
	return must, may || must
}

func (m *model) withdraw(version, reinstated int64) {
	m.withdrawn[version] = true
	m.supersede(m.times[m.now()])
	if reinstated > 0 {
		list := m.approvals[kind{reinstated, false}]
		for i := range list {
			list[i].made = m.now()
		}
	}
	for _, x := range m.machines {
		for i, r := range x.rulings {
			x.rulings[i].ended = r.ended || r.version == version
		}
		if reinstated > 0 {
			x.rulings = append([]notedRuling{{version: reinstated}}, x.rulings...)
		}
	}
}

// everywhere is the version that a machine without a trial has: newcomers get the same rulings.
func (m *model) add(code string, classes map[string]bool) {
	x := &notedMachine{spoke: map[int64]bool{}}
	for range m.times {
		x.classes = append(x.classes, map[string]bool{})
	}
	x.classes[m.now()] = classes
	for _, other := range m.machines {
		for _, r := range other.rulings {
			if !r.trial {
				x.rulings = append(x.rulings, r)
			}
		}
		break
	}
	m.machines[code] = x
}

// says notes a report: a machine has a version as long as an order runs, or its last word was that it has it. What it says of
// other bytes is a word of its own, which only their end takes back; a load replaces what was loaded, and whether the right
// bytes replace others is the machine's own business.
func (m *model) says(version int64, code string, r method.Report, right bool) {
	has := r.State == method.Loaded || r.State == method.Running
	if has {
		delete(m.confirmed[version], code)
		m.machines[code].spoke[version] = true
	}
	m.saysOthers(version, code, r, right)
	if !right {
		return
	}
	if m.orders[version] == nil {
		m.orders[version], m.loaded[version] = map[string]map[string]bool{}, map[string]bool{}
	}
	if m.orders[version][code] == nil {
		m.orders[version][code] = map[string]bool{}
	}
	m.loaded[version][code] = has
	switch {
	case r.State == method.Running:
		m.orders[version][code][r.Order] = true
	case has:
	case r.Order == "":
		m.orders[version][code] = map[string]bool{}
	default:
		delete(m.orders[version][code], r.Order)
	}
}

func (m *model) saysOthers(version int64, code string, r method.Report, right bool) {
	if m.others[version] == nil {
		m.others[version] = map[string]map[claim]bool{}
	}
	if m.others[version][code] == nil {
		m.others[version][code] = map[claim]bool{}
	}
	all := m.others[version][code]
	running, loaded := r.State == method.Running, r.State == method.Loaded
	for c := range all {
		ends := !running && !loaded && c.bytes == r.ContentSHA256 && (r.Order == "" || c.loaded || c.order == r.Order)
		switch {
		case ends:
			delete(all, c)
		case loaded && c.loaded, right && running && (c.loaded || c.order == r.Order):
			all[c] = false
		}
	}
	if !right && (running || loaded) {
		all[claim{r.ContentSHA256, r.Order, loaded}] = true
	}
}

// listed says who must and who may be on the list of a recall: nobody asks for a machine that is gone, unless it has spoken.
func (m *model) listed(version int64) (must, may map[string]bool) {
	must, may = m.left(version)
	for code, x := range m.machines {
		if x.scrapped {
			delete(must, code)
		}
		if x.scrapped && !x.spoke[version] {
			delete(may, code)
		}
	}
	return must, may
}

// left says who must and who may be on the list of a recall.
func (m *model) left(version int64) (must, may map[string]bool) {
	must, may = set(m.must[version]), set(m.may[version])
	for code := range m.machines {
		switch has, perhaps := m.has(version, code); {
		case has:
			must[code], may[code] = true, true
		case perhaps:
			may[code] = true
		case m.orders[version][code] != nil:
			delete(must, code)
			delete(may, code)
		}
	}
	for code := range m.confirmed[version] {
		delete(must, code)
		delete(may, code)
	}
	return must, may
}

// decisions writes the decisions as a text, without the times of their approvals.
func decisions(m method.Method) string {
	var b strings.Builder
	for _, d := range m.Effectivity {
		fmt.Fprintln(&b, d.Version, d.Machines, d.From)
	}
	return b.String()
}

// contradicts says what the model has against what the service says.
func (m *model) contradicts(s sight) string {
	for version := range m.withdrawn {
		must, may := set(m.must[version]), set(m.may[version])
		maps.Copy(may, m.told[version])
		maps.Copy(may, m.crossed[version])
		left, _ := m.left(version)
		for code := range m.told[version] {
			if left[code] {
				must[code] = true
			}
		}
		if fault := within(version, "told", s.told[version], must, may); fault != "" {
			return fault
		}
		must, may = m.listed(version)
		if fault := within(version, "on the list", s.listed[version], must, may); fault != "" {
			return fault
		}
	}
	return ""
}

// set is a copy to which can be added.
func set(codes map[string]bool) map[string]bool {
	if codes == nil {
		return map[string]bool{}
	}
	return maps.Clone(codes)
}

func within(version int64, what string, got []string, must, may map[string]bool) string {
	for _, code := range slices.Sorted(maps.Keys(must)) {
		if !slices.Contains(got, code) {
			return fmt.Sprintf("version %d: %s is not %s: %v", version, code, what, got)
		}
	}
	for _, code := range got {
		if !may[code] && !must[code] {
			return fmt.Sprintf("version %d: %s is %s, and could not have it", version, code, what)
		}
	}
	return ""
}
