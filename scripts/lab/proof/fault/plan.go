// Package fault plans faults between the functions and the store. A plan depends only on its
// seed: the n-th call of one kind from one function always gets the same effect. The machine's
// scheduling decides which call that is. So a replayed run has the same faults, but usually not
// at the same moments.
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

// A Kind is a kind of fault.
type Kind string

// The kinds.
const (
	Throttled     Kind = "throttled"
	InternalError Kind = "internal error"
	Reset         Kind = "connection reset"
	Slow          Kind = "delay past the deadline"
	Dead          Kind = "dead endpoint for seconds"

	// These happen only to transactions.
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
	// streak is how many calls in a row get a fault when a fault lasts. It is more than the SDK
	// tries.
	streak = 6
	// These delays are longer than the timeout of the client, and than the limiter's deadline of
	// a tenth of a second.
	beyondClient  = 2100 * time.Millisecond
	beyondLimiter = 150 * time.Millisecond
)

// beforeTheWrite are the faults after which nothing was written.
var beforeTheWrite = []Kind{Throttled, InternalError, Reset, Slow, Conflict, ThrottledReason, InProgress}

// afterTheWrite are the faults in which the store applies a change without the caller's knowledge, or gets the change
// twice. The service then relies on ClientRequestToken.
var afterTheWrite = []Kind{AnswerLost, AnswerCut, Twice, Straggler}

// Everything is all faults of single calls.
var Everything = slices.Concat(beforeTheWrite, afterTheWrite)

// A Plan decides the effects on calls. It is safe for concurrent use.
type Plan struct {
	seed  uint64
	share float64
	kinds []Kind

	mu      sync.Mutex
	streams map[string]*stream
	dead    time.Time // until then no call gets an answer
	met     map[Kind]int
}

// A stream is the calls of one kind from one function, in order.
type stream struct {
	random *rand.Rand
	kind   Kind // the kind of the current streak
	left   int  // how many more calls it lasts
}

// New makes a plan in which about the given share of calls, from 0 to 0.25, gets a fault of one
// of the kinds. For transactions the share is four times as large.
func New(seed uint64, share float64, kinds []Kind) *Plan {
	return &Plan{seed: seed, share: share, kinds: kinds, streams: map[string]*stream{}, met: map[Kind]int{}}
}

// Effect is for storefront.Front.Intercept.
func (p *Plan) Effect(c *storefront.Call) storefront.Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.dead) {
		return storefront.Effect{DropRequest: true}
	}
	name := c.Function + " " + c.Operation
	s := p.streams[name]
	if s == nil {
		s = &stream{random: rand.New(rand.NewPCG(p.seed, number(name)))}
		p.streams[name] = s
	}
	share := p.share
	if c.Operation == transaction || c.Operation == "PutItem" {
		share *= 4 // they are few, and the most important calls
	}
	kind := s.next(p.kinds, share)
	if kind == none || transactional(kind) && c.Operation != transaction {
		return storefront.Effect{}
	}
	p.met[kind]++
	if kind == Dead {
		p.dead = time.Now().Add(time.Second + time.Duration(s.random.IntN(2000))*time.Millisecond)
	}
	return s.effect(kind, c)
}

func number(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// next draws the fault of the stream's next call. Most faults happen once; some last for more
// calls than are retried.
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
	case s.kind == Dead && s.random.IntN(12) > 0: // a fault of the whole service is rare
		s.kind = Reset
	case s.kind == Slow || s.kind == Dead || s.kind == Straggler:
	case s.random.IntN(8) == 0:
		s.left = streak - 1
	}
	return s.kind
}

func transactional(k Kind) bool { return k == Conflict || k == ThrottledReason || k == InProgress }

func (s *stream) effect(kind Kind, c *storefront.Call) storefront.Effect {
	wait := beyondClient
	if c.Operation == "UpdateItem" { // from the limiter, which waits only a tenth of a second
		wait = beyondLimiter
	}
	switch kind {
	case Throttled:
		name := []string{"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}[s.random.IntN(3)]
		return storefront.Effect{Answer: storefront.Failure(400, name, "injected")}
	case InternalError:
		return storefront.Effect{Answer: storefront.Failure([]int{500, 503}[s.random.IntN(2)], "InternalServerError", "injected")}
	case Slow:
		return storefront.Effect{Delay: wait}
	case Straggler:
		return storefront.Effect{Late: wait}
	case Conflict:
		return storefront.Effect{Answer: cancelled(len(c.Uses), s.random.IntN(len(c.Uses)), "TransactionConflict")}
	case ThrottledReason:
		name := []string{"ThrottlingError", "ProvisionedThroughputExceeded"}[s.random.IntN(2)]
		return storefront.Effect{Answer: cancelled(len(c.Uses), s.random.IntN(len(c.Uses)), name)}
	case InProgress:
		return storefront.Effect{Answer: storefront.Failure(400, "TransactionInProgressException", "injected")}
	case AnswerLost:
		return storefront.Effect{DropAnswer: true}
	case AnswerCut:
		return storefront.Effect{CutAnswer: true}
	case Twice:
		return storefront.Effect{Twice: true}
	}
	return storefront.Effect{DropRequest: true} // Reset, Dead
}

// cancelled is DynamoDB's answer to a transaction that was cancelled because of one of its
// parts.
func cancelled(parts, at int, code string) *storefront.Answer {
	reasons := make([]string, parts)
	for i := range reasons {
		reasons[i] = `{"Code":"None"}`
	}
	reasons[at] = fmt.Sprintf(`{"Code":%q,"Message":"injected"}`, code)
	return &storefront.Answer{Status: 400, Body: fmt.Sprintf(
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled","CancellationReasons":[%s]}`,
		strings.Join(reasons, ","))}
}

// Met returns the number of calls with each kind of fault.
func (p *Plan) Met() map[Kind]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.met)
}
