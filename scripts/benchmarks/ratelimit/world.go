package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/ratelimit"
)

// A world is one subject and the containers that get its requests.
type world struct {
	ctx        context.Context
	pattern    pattern
	key        string
	now        time.Time
	containers []*ratelimit.Limiter

	mu                           sync.Mutex
	err                          error
	times                        []time.Time // of the admitted, in order
	rejected                     int
	admittedWrites, rejectWrites int
	admittedTrips, mostTries     int
}

func newWorld(ctx context.Context, client *dynamodb.Client, p pattern) *world {
	w := &world{ctx: ctx, pattern: p, key: uuid.NewString(), now: time.Now().Truncate(step)}
	for range p.containers {
		w.containers = append(w.containers, ratelimit.New(ratelimit.Config{
			Store: client, Clock: func() time.Time { return w.now }, Deadline: time.Minute,
			Limits: ratelimit.Limits{User: limit, Organization: ratelimit.Highest, CopilotUser: limit, CopilotOrganization: ratelimit.Highest},
		}))
	}
	return w
}

// atOnce sends n requests at the same instant. The containers take turns, and each has one request at a time.
func (w *world) atOnce(n int) {
	w.containers = slices.Concat(w.containers[1:], w.containers[:1])
	var sent atomic.Int64
	var group sync.WaitGroup
	for _, c := range w.containers[:min(n, len(w.containers))] {
		group.Go(func() {
			for sent.Add(1) <= int64(n) {
				w.ask(c)
			}
		})
	}
	group.Wait()
}

// ask has a container decide on a request, and adds up what that took.
func (w *world) ask(l *ratelimit.Limiter) {
	d := l.Admit(w.ctx, ratelimit.Caller{User: w.key, Organization: w.pattern.organization}, w.pattern.class)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, d.Unchecked)
	w.mostTries = max(w.mostTries, d.RoundTrips)
	if d.Outcome == ratelimit.Admitted {
		w.times = append(w.times, w.now)
		w.admittedWrites += d.Writes
		w.admittedTrips += d.RoundTrips
		return
	}
	w.rejected++
	w.rejectWrites += d.Writes
}

// within is how many were admitted in the last d.
func (w *world) within(d time.Duration) int {
	n := 0
	for _, t := range slices.Backward(w.times) {
		if !t.After(w.now.Add(-d)) {
			break
		}
		n++
	}
	return n
}

// most is the largest number of admitted requests in any 60 s.
func (w *world) most() int {
	most, first := 0, 0
	for i, t := range w.times {
		for !w.times[first].After(t.Add(-time.Minute)) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func (w *world) row() string {
	per := func(n, of int) string {
		if of == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3f", float64(n)/float64(of))
	}
	admitted := len(w.times)
	return fmt.Sprintf("| %s | %d | %d | %d | %s (%s) | %s | %d |", w.pattern.name, len(w.containers), admitted+w.rejected, w.most(),
		per(w.admittedWrites, admitted), per(w.admittedTrips, admitted), per(w.rejectWrites, w.rejected), w.mostTries)
}
