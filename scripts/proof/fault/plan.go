// Package fault plans what goes wrong between the functions and the store. A plan is a function of its
// seed: the n-th call of one kind of one function always meets the same fate. Which call that is
// depends on the machine's scheduling, so a replayed run meets the same faults, as a rule not at the
// same moments.
package fault

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/local/storefront"
)

// A Kind is one way to go wrong.
type Kind string

// The kinds.
const (
	Throttled     Kind = "throttled"
	InternalError Kind = "internal error"
	Reset         Kind = "connection reset"
	Slow          Kind = "delay past the deadline"
	Dead          Kind = "dead endpoint for seconds"

	// These befall transactions only.
	Conflict        Kind = "transaction conflict"
	ThrottledReason Kind = "throttling in a cancellation reason"
	InProgress      Kind = "transaction in progress"

	AnswerLost Kind = "answer lost after the write"
	AnswerCut  Kind = "answer cut off"
	Twice      Kind = "request arrives twice"
	Straggler  Kind = "request arrives after its retry"

	none Kind = ""
)

const (
	transaction = "TransactWriteItems"
	// streak is how many calls meet one fault after another when it lasts: more than the SDK tries.
	streak = 6
	// Delays that outlast the client's patience, and the limiter's, which is a tenth of a second.
	patience          = 2100 * time.Millisecond
	patienceOfLimiter = 150 * time.Millisecond
)

// BeforeTheWrite are the faults of one call after which nothing was written.
var BeforeTheWrite = []Kind{Throttled, InternalError, Reset, Slow, Conflict, ThrottledReason, InProgress}

// AfterTheWrite are the faults in which the store applies what the caller does not hear of, or is asked
// twice. The service relies on ClientRequestToken then.
var AfterTheWrite = []Kind{AnswerLost, AnswerCut, Twice, Straggler}

// Everything are all faults of one call.
var Everything = slices.Concat(BeforeTheWrite, AfterTheWrite)

// A Plan decides the fates of calls. It is safe for concurrent use.
type Plan struct {
	seed  uint64
	share float64
	kinds []Kind

	mu      sync.Mutex
	streams map[string]*stream
	dead    time.Time // until then nothing answers
	met     map[Kind]int
}

// A stream is the calls of one kind of one function, in order.
type stream struct {
	random *rand.Rand
	kind   Kind // of the streak under way
	left   int  // calls that it goes on for
}

// New makes a plan in which about the given share of calls, from 0 to 0.25, meets one of the kinds, and
// four times that share of transactions.
func New(seed uint64, share float64, kinds []Kind) *Plan {
	return &Plan{seed: seed, share: share, kinds: kinds, streams: map[string]*stream{}, met: map[Kind]int{}}
}

// Fate is for storefront.Front.Intercept.
func (p *Plan) Fate(c *storefront.Call) storefront.Fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.dead) {
		return storefront.Fate{DropRequest: true}
	}
	name := c.Function + " " + c.Operation
	s := p.streams[name]
	if s == nil {
		s = &stream{random: rand.New(rand.NewPCG(p.seed, number(name)))}
		p.streams[name] = s
	}
	share := p.share
	if c.Operation == transaction || c.Operation == "PutItem" {
		share *= 4 // they are few, and what matters most
	}
	kind := s.next(p.kinds, share)
	if kind == none || transactional(kind) && c.Operation != transaction {
		return storefront.Fate{}
	}
	p.met[kind]++
	if kind == Dead {
		p.dead = time.Now().Add(time.Second + time.Duration(s.random.IntN(2000))*time.Millisecond)
	}
	return s.fate(kind, c)
}

func number(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// next draws what the stream's next call meets. Most faults come alone and pass; some come in a
// streak that outlasts every retry.
func (s *stream) next(kinds []Kind, share float64) Kind {
	if s.left > 0 {
		s.left--
		return s.kind
	}
	if s.random.Float64() >= share || len(kinds) == 0 {
		return none
	}
	s.kind = kinds[s.random.IntN(len(kinds))]
	switch {
	case s.kind == Dead && s.random.IntN(12) > 0: // a whole service's worth of trouble comes seldom
		s.kind = Reset
	case s.kind == Slow || s.kind == Dead || s.kind == Straggler:
	case s.random.IntN(8) == 0:
		s.left = streak - 1
	}
	return s.kind
}

func transactional(k Kind) bool { return k == Conflict || k == ThrottledReason || k == InProgress }

func (s *stream) fate(kind Kind, c *storefront.Call) storefront.Fate {
	wait := patience
	if c.Operation == "UpdateItem" { // the limiter's, which waits for a tenth of a second only
		wait = patienceOfLimiter
	}
	switch kind {
	case Throttled:
		name := []string{"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}[s.random.IntN(3)]
		return storefront.Fate{Answer: storefront.Failure(400, name, "injected")}
	case InternalError:
		return storefront.Fate{Answer: storefront.Failure([]int{500, 503}[s.random.IntN(2)], "InternalServerError", "injected")}
	case Slow:
		return storefront.Fate{Delay: wait}
	case Straggler:
		return storefront.Fate{Late: wait}
	case Conflict:
		return storefront.Fate{Answer: Cancelled(len(c.Uses), s.random.IntN(len(c.Uses)), "TransactionConflict")}
	case ThrottledReason:
		name := []string{"ThrottlingError", "ProvisionedThroughputExceeded"}[s.random.IntN(2)]
		return storefront.Fate{Answer: Cancelled(len(c.Uses), s.random.IntN(len(c.Uses)), name)}
	case InProgress:
		return storefront.Fate{Answer: storefront.Failure(400, "TransactionInProgressException", "injected")}
	case AnswerLost:
		return storefront.Fate{DropAnswer: true}
	case AnswerCut:
		return storefront.Fate{CutAnswer: true}
	case Twice:
		return storefront.Fate{Twice: true}
	}
	return storefront.Fate{DropRequest: true} // Reset, Dead
}

// Cancelled is DynamoDB's answer for a transaction of so many parts that was cancelled for one of
// them.
func Cancelled(parts, at int, code string) *storefront.Answer {
	reasons := make([]string, parts)
	for i := range reasons {
		reasons[i] = `{"Code":"None"}`
	}
	reasons[at] = fmt.Sprintf(`{"Code":%q,"Message":"injected"}`, code)
	return &storefront.Answer{Status: 400, Body: fmt.Sprintf(
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled","CancellationReasons":[%s]}`,
		strings.Join(reasons, ","))}
}

// Met tells how many calls met each kind.
func (p *Plan) Met() map[Kind]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.met)
}
