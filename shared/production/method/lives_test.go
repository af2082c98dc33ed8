package method_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A lived is a random life of a factory, in the service and in the model.
type lived struct {
	*testing.T
	ctx      context.Context
	random   *rand.Rand
	now      time.Time
	db       *dynamo.DB
	methods  *method.Store
	machines *machine.Store
	polls    *method.MachinePolls
	beliefs  []belief
	ref      method.Ref
	hashes   map[int64]string
	writing  sync.Mutex
	log      []string
	pairs    int // of calls at once
	atOnce   bool
	box      boxed
}

// A life has so many actions, and among them at most so many pairs of calls at once.
const lifeActions, lifePairs = 55, 4

var lifeClasses = []string{"press", "mill"}

func newLived(t *testing.T, store dynamo.API, seed uint64) *lived {
	t.Helper()
	l := &lived{T: t, ctx: admission.Unlimited(context.Background()), random: rand.New(rand.NewPCG(seed, 48)),
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), beliefs: []belief{{model: newModel()}}, hashes: map[int64]string{}}
	// Each call has a container's clock, which may be a minute behind another one's.
	l.db = dynamo.Open(store, func() time.Time { return l.now.Add(-rand.N(time.Minute)).Truncate(time.Millisecond) })
	l.methods = method.NewStore(l.db)
	l.machines = machine.NewStore(l.db).Admitting(l.methods.Waits)
	l.polls = method.NewMachinePolls(l.db, setting.NewValues(setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds), nil)
	l.ref.FactoryID = uuid.NewString()
	_, err := factory.NewStore(l.db).Put(l.ctx, origin, l.ref.FactoryID, factory.Registration{OrganizationID: "acme", Name: "A factory"}, input.Preconditions{})
	expect.OK(t, err)
	l.newBox()
	l.ref.MethodID = expect.Value(l.methods.Create(l.ctx, engineer, origin, l.ref.FactoryID, draft, idempotency.Claim{}))(t)
	for range 3 {
		l.make(l.enter())
	}
	return l
}

func (l *lived) did(format string, args ...any) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.log = append(l.log, fmt.Sprintf("%s %s", l.now.Format("02 15:04"), fmt.Sprintf(format, args...)))
}

func (l *lived) at(version int64) method.Ref {
	r := l.ref
	r.Version = version
	return r
}

func (l *lived) anyClasses() map[string]bool {
	all := map[string]bool{}
	for _, class := range lifeClasses {
		if l.random.IntN(3) > 0 {
			all[class] = true
		}
	}
	return all
}

func (l *lived) anyMachine() string {
	all := slices.Sorted(maps.Keys(l.model().machines))
	return all[l.random.IntN(len(all))]
}

func (l *lived) put(code string, r machine.Registration) bool {
	r.Name = "A machine"
	_, err := l.machines.Put(l.ctx, engineer, origin, l.ref.FactoryID, code, r, input.Preconditions{})
	l.did("machine %s %v %q gone %q, back %v: %v", code, r.Classes, r.Admission, r.Scrapped, r.Returned, err)
	return err == nil
}

// enter enters a new machine.
func (l *lived) enter() action {
	code, classes := fmt.Sprintf("m-%d", len(l.model().machines)+1), l.anyClasses()
	return l.registers(code, machine.Registration{Classes: slices.Sorted(maps.Keys(classes))}, func(m *model) { m.add(code, classes) })
}

func (l *lived) classes() action {
	code, classes := l.anyMachine(), l.anyClasses()
	r := machine.Registration{Classes: append([]string{}, slices.Sorted(maps.Keys(classes))...)}
	return l.registers(code, r, func(m *model) { m.machines[code].classes[m.now()] = classes })
}

func (l *lived) admit() action {
	code := l.anyMachine()
	return l.registers(code, machine.Registration{Admission: "inspected"}, func(m *model) {
		m.machines[code].admitted = append(m.machines[code].admitted, m.now())
	})
}

// registers enters or changes a machine.
func (l *lived) registers(code string, r machine.Registration, then func(m *model)) action {
	entered := false
	return action{
		call: func() { entered = l.put(code, r) },
		then: func(m *model) string {
			if entered {
				then(m)
			}
			return ""
		},
		machine: code,
	}
}

// write saves and submits a new version, if none is open.
func (l *lived) write() action {
	next := int64(len(l.hashes) + 1)
	equipment := map[string]bool{}
	var steps []string
	for i := range 1 + l.random.IntN(2) {
		does := `{"class":"` + lifeClasses[i] + `"}`
		if l.random.IntN(5) == 0 {
			code := l.anyMachine()
			does = `{"machines":["` + code + `"]}`
			equipment["="+code] = true
		} else {
			equipment[lifeClasses[i]] = true
		}
		steps = append(steps, fmt.Sprintf(`{"id":"%d","name":"Step of %d","equipment":%s,"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}},`+
			`"outputs":[{"material":"P","quantity":1,"unit":"{piece}"}]}`, i, next, does))
	}
	c, faults := content.Parse([]byte(`{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"steps":[` + strings.Join(steps, ",") + `]}`))
	if len(faults) > 0 {
		l.Fatal(faults)
	}
	saved := false
	return action{
		call: func() {
			if _, err := l.methods.Save(l.ctx, engineer, origin, l.at(next), c, input.Preconditions{}); err != nil {
				return
			}
			l.did("version %d for %v", next, slices.Sorted(maps.Keys(equipment)))
			saved, l.hashes[next] = true, c.SHA256()
			l.move(next, "eric", method.Move{Status: method.InReview})
		},
		then: func(m *model) string {
			if saved {
				m.equipment[next] = equipment
			}
			return ""
		},
	}
}

func (l *lived) move(version int64, user string, m method.Move) (method.Moved, bool) {
	m.Reason = fmt.Sprint("for ", len(l.model().times))
	if m.Status == method.Trial || m.Status == method.Released {
		m.ContentSHA256 = l.hashes[version]
	}
	if m.Status == method.Released {
		m.FirstArticle = &method.FirstArticle{Reference: "FAI-1"}
	}
	moved, err := l.methods.Move(l.ctx, person(user), origin, l.at(version), m, input.Preconditions{})
	l.did("%d %s %v from %s reinstate %d: %v", version, m.Status, m.Machines, m.EffectiveFrom, m.Reinstate, err)
	return moved, err == nil
}

func (l *lived) anyVersion() int64 {
	return int64(len(l.hashes)) - int64(l.random.IntN(min(len(l.hashes), 4)))
}

func (l *lived) approve() action {
	if len(l.hashes) == 0 {
		return nothing
	}
	version := l.anyVersion()
	m := method.Move{Status: method.Released}
	if l.random.IntN(3) == 0 {
		m.Status = method.Trial
		for _, code := range slices.Sorted(maps.Keys(l.model().machines)) {
			if l.random.IntN(2) == 0 {
				m.Machines = append(m.Machines, code)
			}
		}
		if len(m.Machines) == 0 {
			return nothing
		}
	}
	if l.random.IntN(4) == 0 {
		m.EffectiveFrom = l.now.Add(time.Duration(1+l.random.IntN(50)) * time.Hour)
	}
	before := expect.Value(l.methods.Get(l.ctx, engineer, l.ref.FactoryID, l.ref.MethodID))(l)
	var after method.Method
	var moved method.Moved
	var ok bool
	return action{
		call: func() {
			if moved, ok = l.move(version, "anna", m); ok && moved.Changed {
				after, _ = l.methods.Get(l.ctx, engineer, l.ref.FactoryID, l.ref.MethodID)
			}
		},
		then: func(x *model) string {
			if ok && moved.Changed {
				x.decide(kind{version, m.Status == method.Trial}, m.Machines, m.EffectiveFrom, decisions(before) == decisions(after))
			}
			return ""
		},
	}
}

func (l *lived) withdraw() action {
	if len(l.hashes) == 0 {
		return nothing
	}
	version := l.anyVersion()
	if l.random.IntN(3) == 0 {
		version = 1 + l.random.Int64N(int64(len(l.hashes)))
	}
	m := method.Move{Status: method.Withdrawn, Orders: method.Stop}
	if version > 1 && l.random.IntN(4) == 0 {
		m.Reinstate = 1 + l.random.Int64N(version-1)
	}
	var moved method.Moved
	var ok bool
	return action{
		withdraws: version,
		call:      func() { moved, ok = l.move(version, "otto", m) },
		then: func(x *model) string {
			if !ok || !moved.Changed {
				return ""
			}
			holds := int64(0)
			for _, h := range moved.Holds {
				if len(h.Machines) == 0 && h.Version == m.Reinstate {
					holds = m.Reinstate
				}
			}
			x.tell(version)
			if !x.withdrawn[version] || holds > 0 { // otherwise a further signature
				x.withdraw(version, holds)
			}
			return ""
		},
	}
}

// pause lets time pass, in steps that are short enough to see every decision begin.
func (l *lived) pause() {
	for range 1 + l.random.IntN(6) {
		l.now = l.now.Add(time.Duration(5+l.random.IntN(300)) * time.Minute)
		l.look()
	}
	if l.random.IntN(8) == 0 {
		l.now = l.now.Add(time.Duration(1+l.random.IntN(12)) * 24 * time.Hour)
		l.look()
	}
}

// step makes a random action, or two at once.
func (l *lived) step() {
	l.pause()
	if l.pairs < lifePairs && l.random.IntN(lifeActions/lifePairs) == 0 {
		l.pair()
		return
	}
	switch n := l.random.IntN(28); {
	case n < 14:
		l.make(l.ofMachine())
	case n < 20:
		l.make(l.ofVersion())
	case n < 22:
		l.make(l.tidy())
	case n < 23:
		l.elsewhere()
	case n < 24 && len(l.model().machines) < 6:
		l.make(l.enter())
	default:
		l.make(l.write())
	}
}

func (l *lived) list(version int64) (codes []string) {
	page, err := l.methods.Machines(l.ctx, engineer, l.at(version), true, nobodyHeard, dynamo.Span{Limit: 100})
	if err != nil {
		l.Fatal(err)
	}
	for _, x := range page.Items {
		codes = append(codes, x.Machine)
	}
	return codes
}

func nobodyHeard(context.Context, string) (time.Time, error) { return time.Time{}, nil }

// alarm compares the warning of each recall with the list at that moment.
func (l *lived) alarm() {
	left := map[int64][]string{}
	for version := range l.model().withdrawn {
		left[version] = l.list(version)
	}
	l.now = l.now.Add(method.ConfirmWithin + time.Minute)
	if _, err := l.methods.TellUnconfirmed(l.ctx, watcher); err != nil {
		l.Fatal(err)
	}
	page, err := audit.NewLog(l.db).List(l.ctx, audit.Factory(l.ref.FactoryID), audit.Filter{}, "", 500)
	if err != nil {
		l.Fatal(err)
	}
	warned := map[string]string{}
	for _, e := range page.Items {
		if e.EventName == method.RecallUnconfirmed {
			cause, _ := e.Cause.(map[string]any)
			warned[e.Resource.ID[strings.LastIndex(e.Resource.ID, "/")+1:]] = fmt.Sprint(cause["machines"])
		}
	}
	for version, codes := range left {
		if got, want := warned[strconv.FormatInt(version, 10)], fmt.Sprint(codes); got != want && (len(codes) > 0 || got != "") {
			l.Fatalf("version %d: the alarm names %s, and the list %s\n%s", version, got, want, strings.Join(l.log, "\n"))
		}
	}
}

// TestRecall_LivesOfAFactory_MissNobody plays random lives, and compares whom a recall concerns with the slow model.
// LIVES is their number, 1,000 if LONG is set. LIFE is the first one.
func TestRecall_LivesOfAFactory_MissNobody(t *testing.T) {
	lives := expect.Long(20, 1000)
	if n, err := strconv.Atoi(os.Getenv("LIVES")); err == nil {
		lives = n
	}
	first, _ := strconv.ParseUint(os.Getenv("LIFE"), 10, 64) // otherwise 0
	recalls, told, pairs := 0, 0, 0
	var store dynamo.API
	for seed := first; seed < first+uint64(lives); seed++ {
		if (seed-first)%20 == 0 { // the embedded store becomes slow as it grows
			store = dynamotest.Embedded(t)
		}
		l := newLived(t, store, seed)
		l.did("life %d", seed)
		for range lifeActions {
			l.step()
		}
		told += l.check()
		l.alarm()
		recalls, pairs = recalls+len(l.model().withdrawn), pairs+l.pairs
	}
	t.Logf("%d lives, %d recalls, %d machines told, %d pairs of calls at once", lives, recalls, told, pairs)
}
