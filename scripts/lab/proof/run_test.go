package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/lab/proof/answers"
	"wavegate/scripts/lab/proof/fault"
	"wavegate/scripts/local/service"
	"wavegate/scripts/local/storefront"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// TestRun_UnderFaults_AnswersAndTablesAgree runs random calls of every operation, by people of several
// organizations with every role. The store has faults and processes are killed. Afterwards the
// test compares the tables, the audit trail and the answers.
func TestRun_UnderFaults_AnswersAndTablesAgree(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	total := count(t, "PROOF_CALLS", 500, 80_000)
	o := round{share: 0.015, kinds: append(slices.Clone(fault.Everything), fault.Dead), kills: 60, calls: 1000}
	play(t, o, total)
}

// TestRun_OnTheReference_AnswersAndTablesAgree does this on DynamoDB Local.
func TestRun_OnTheReference_AnswersAndTablesAgree(t *testing.T) {
	expect.Full(t)
	onReference(t, func(s *dynamolocal.Store) {
		total := count(t, "PROOF_CALLS_REFERENCE", 300, 20_000)
		o := round{share: 0.03, kinds: append(slices.Clone(fault.Everything), fault.Dead), kills: 60, calls: 2000, store: s}
		play(t, o, total)
	})
}

// A round is a run on one empty store. Long runs have many rounds, because a new item of the
// embedded store takes longer the more items are stored.
type round struct {
	seed  uint64
	calls int
	share float64 // the share of the store's calls with a fault
	kinds []fault.Kind
	kills int // one of this many transactions has a process of its function killed
	limit int // one user's requests a minute; 0 means unlimited
	store *dynamolocal.Store
	// old is the directory of an old version's functions, which answer beside those of the working tree, and then alone.
	old string
	// alone is set when only the old version answers.
	alone bool
}

func play(t *testing.T, o round, total int) {
	t.Helper()
	first := seed(t)
	sum := &tally{answers: map[int]int{}, faults: map[fault.Kind]int{}}
	for i := 0; total > 0 && !t.Failed(); i++ {
		o.seed, o.calls = first+uint64(i), min(o.calls, total)
		if o.limit = 0; i%4 == 3 {
			o.limit = 30 // so that some requests are rejected
		}
		total -= o.calls
		t.Run(fmt.Sprintf("seed=%d", o.seed), func(t *testing.T) { o.play(t, sum) })
	}
	t.Logf("PROOF_SEED=%d: %d calls, %d changes, %d approvals of methods, %d changes to boxes in factories, answers %v, faults met %v, %d processes killed", first, sum.calls, sum.changes, sum.approvals, sum.placed, sum.answers, sum.faults, sum.killed)
	if !t.Failed() {
		t.Logf("tables, audit trail and answers agree")
	}
}

type tally struct {
	calls, changes, killed int
	approvals              int // trials and releases of versions of methods
	placed                 int // changes to boxes that are then in a factory
	answers                map[int]int
	faults                 map[fault.Kind]int
}

func (o round) play(t *testing.T, sum *tally) {
	if o.store != nil {
		empty(t, o.store)
	}
	w := harness.New(t, func(s *service.Options) {
		s.Store = o.store
		s.Environment = func(string) []string { return o.limits() }
		if o.old != "" {
			s.Beside = &service.Beside{Functions: o.old, Seed: o.seed}
		}
	})
	plan := fault.New(o.seed, o.share, o.kinds)
	callers := &callers{world: newWorld(), people: people(t, w.Target), begin: time.Now(), killing: o.kills > 0}
	callers.warm(t)
	endFaults := w.Front.Intercept(plan.Effect)
	var killed atomic.Int64
	stay := w.Front.Intercept(o.killer(w, &killed))
	if o.old == "" {
		callers.call(o)
	} else {
		o.beside(t, w, callers)
	}
	endFaults()
	stay()
	if slices.Contains(o.kinds, fault.Straggler) {
		time.Sleep(3 * time.Second) // until the last delayed call has arrived
	}

	books, err := ledger.Read(t.Context(), w.DB, dynamolocal.TableName)
	if err != nil {
		t.Fatal(err)
	}
	found := slices.Concat(callers.findings, books.Audit(), answers.Explain(books, callers.calls), counted(t, w, books))
	if o.old != "" && o.limit == 0 { // with a limit it would take half an hour
		found = append(found, verified(t, w, books)...)
	}
	for _, f := range found[:min(len(found), 20)] {
		t.Errorf("PROOF_SEED=%d: %s", o.seed, f)
	}
	if n := len(found); n > 20 {
		t.Errorf("and %d more", n-20)
	}
	changes := len(books[dynamo.Audit])
	if changes < o.calls/10 && o.limit == 0 {
		t.Errorf("%d calls made only %d changes: the run covers too little", o.calls, changes)
	}
	sum.calls += len(callers.calls)
	sum.changes += changes
	sum.killed += int(killed.Load())
	for _, e := range books[dynamo.Audit] {
		if r, ok := e["resource"].(ledger.Item); ok && r["type"] == "production-method-version" &&
			(e["eventName"] == "ProductionMethodVersionTried" || e["eventName"] == "ProductionMethodVersionReleased") {
			sum.approvals++
		}
		if after, ok := e["after"].(ledger.Item); ok && after["edgeId"] != nil && after["factoryId"] != nil {
			sum.placed++
		}
	}
	for _, c := range callers.calls {
		sum.answers[c.Status]++
	}
	for kind, n := range plan.Met() {
		sum.faults[kind] += n
	}
}

// counted compares the service's counts for the rollouts in the channels' rows with the rows of
// the boxes. No call is running at that time.
func counted(t *testing.T, w *harness.World, books ledger.Books) (findings []string) {
	t.Helper()
	began, viewer := time.Now(), w.As(t, "vera", "", auth.FleetViewer)
	for _, r := range answers.Carried(books) {
		var p census.Progress
		id := samples.Values{"id": fmt.Sprint(r["id"])}
		progress := samples.Of("get-rollout-progress").Call(samples.Fixed(), samples.Case{With: id})
		for !p.AsOf.After(began) && time.Since(began) < time.Minute {
			a := viewer.Get(t, progress.Path)
			if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
				time.Sleep(time.Second)
				continue
			}
			if a.Status != http.StatusOK {
				findings = append(findings, fmt.Sprintf("the rollout %s cannot be counted: %d %s", r["id"], a.Status, a.Body))
				break
			}
			if a.Into(t, &p); !p.AsOf.After(began) {
				time.Sleep(time.Second) // the last count is less than ten seconds old
			}
		}
		n := census.Total(p.Stages)
		got := map[string]int{"offered": n.Offered, "working": n.Working, "deferred": n.Deferred, "installed": n.Installed, "failed": n.Failed, "reverted": n.Reverted}
		maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 })
		if want := answers.CountBoxes(books, r); !maps.Equal(got, want) {
			findings = append(findings, fmt.Sprintf("the rollout %s has the counts %v, but the rows give %v", r["id"], got, want))
		}
	}
	return findings
}

// limits are the limits of a round. The limiter waits for its store as long as on AWS, so that some calls go unchecked.
func (o round) limits() []string {
	aws := setting.LimitDeadlineMS.Assign(setting.Ranges[setting.LimitDeadlineMS].Default)
	if o.limit > 0 {
		return []string{aws, fmt.Sprintf("LIMIT_USER=%d", o.limit), fmt.Sprintf("LIMIT_COPILOT_USER=%d", o.limit)}
	}
	return []string{aws, "LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000"}
}

// killer sometimes kills a process of the function whose transaction is on its way. Usually it
// is the process that made the transaction, because few run at once.
func (o round) killer(w *harness.World, killed *atomic.Int64) func(*storefront.Call) storefront.Effect {
	var n atomic.Int64
	return func(c *storefront.Call) storefront.Effect {
		if o.kills == 0 || c.Operation != "TransactWriteItems" || n.Add(1)%int64(o.kills) != 0 {
			return storefront.Effect{}
		}
		pids := w.PIDs(c.Function)
		if len(pids) > 0 && kill(pids[rand.IntN(len(pids))]) {
			killed.Add(1)
		}
		return storefront.Effect{}
	}
}

// kill ends a process that the service started, immediately.
func kill(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Kill() == nil
}

// callers are the people of a round and what they recorded.
type callers struct {
	world   *world
	people  []person
	begin   time.Time
	killing bool

	mu       sync.Mutex
	left     int
	calls    []answers.Call
	findings []string
}

// warm makes a call of everyone, so that the gateway has cached all tokens, and registers every
// factory, before the faults begin.
func (c *callers) warm(t *testing.T) {
	t.Helper()
	for _, o := range organizations {
		for n := range 2 {
			works := samples.Values{"factoryId": fmt.Sprintf("%s-%d", o, n), "organization": o, "name": "Works, " + secret(o)}
			c.make(c.people[0], samples.Of("put-factory").Call(works, samples.Case{}))
		}
	}
	for _, p := range c.people {
		p.caller.Get(t, "/api/factories/nowhere-0")
	}
}

const atOnce = 12

func (c *callers) call(o round) {
	c.left = o.calls
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			d := &drawer{rand.New(rand.NewPCG(o.seed, uint64(i))), c.world}
			for c.take() {
				op := d.operation()
				if o.alone && !o.oldHas(op.ID) {
					continue
				}
				p := d.person(op, c.people)
				if op.ID == "redeem-edge-enrolment" && d.IntN(8) > 0 {
					p = d.newcomer(p)
				}
				r := d.request(op, p)
				again := keyOf(r) != "" || op.Method != operations.Any && d.IntN(2) == 0
				for c.make(p, r) >= 500 && again && c.take() {
					time.Sleep(20 * time.Millisecond)
				}
				// A caller without an answer repeats the call.
				if keyOf(r) != "" && d.IntN(3) == 0 && c.take() {
					c.make(p, r)
				}
			}
		})
	}
	all.Wait()
}

func (c *callers) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
	return c.left >= 0
}

// make makes a call, records it and the faults of its answer, and returns its status.
func (c *callers) make(p person, r samples.Call) int {
	began := time.Now()
	a, err := p.caller.Try(r.Method, r.Path, r.Body, r.Header[:]...)
	call := answers.Call{
		Operation: r.Operation, Parameter: r.Parameters, Path: r.Path, Body: []byte(r.Body), Key: keyOf(r),
		Issuer: p.Issuer, User: p.UserID, Organization: p.OrganizationID,
		ReadsAll: p.readsAll(table.Get(r.Operation)), Member: p.Has(auth.Member),
		Began: began, Ended: time.Now(),
		Status: a.Status, RequestID: a.Header.Get("X-Amzn-Requestid"), Location: a.Header.Get("Location"), Answer: a.Body,
	}
	var wrong []string
	if err != nil {
		wrong = []string{"no answer: " + err.Error()}
	} else {
		wrong = judge(p, r, a, c.killing)
	}
	if call.Status/100 == 2 {
		c.world.learn(r, call.Location, a.Header.Get("ETag"), a.Body)
	}
	if call.Status == http.StatusCreated && r.Operation == "put-artifact" {
		if err := samples.Upload(a.Body, "test"); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
	for _, w := range wrong {
		c.findings = append(c.findings, fmt.Sprintf("%s: %s: %s", call, w, strings.TrimSpace(string(a.Body))))
	}
	return call.Status
}
