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
)

// A world is one subject and the containers that its requests come to.
type world struct {
	ctx        context.Context
	client     *dynamodb.Client
	kind       kind
	pattern    pattern
	key        string
	now        time.Time
	containers []container
	next       int

	mu                           sync.Mutex
	err                          error
	times                        []time.Time // of the admitted, in order
	rejected                     int
	admittedWrites, rejectWrites int
	admittedTrips, mostTries     int
	largest                      int
	waits, kept, refused         int
	isHonest                     bool
}

func newWorld(ctx context.Context, client *dynamodb.Client, k kind, p pattern) *world {
	w := &world{ctx: ctx, client: client, kind: k, pattern: p, key: uuid.NewString(), now: time.Now().Truncate(step)}
	w.containers = k.containers(w)
	return w
}

// one sends a request to the next container.
func (w *world) one() result {
	w.next++
	r, err := w.containers[w.next%len(w.containers)](w.ctx)
	w.note(r, err)
	return r
}

// atOnce sends n requests at the same instant, spread over the containers, which work side by side as
// containers do, one request each at a time.
func (w *world) atOnce(n int) {
	var sent atomic.Int64
	var group sync.WaitGroup
	for i := range min(n, len(w.containers)) {
		c := w.containers[(w.next+i)%len(w.containers)]
		group.Go(func() {
			for sent.Add(1) <= int64(n) {
				w.note(c(w.ctx))
			}
		})
	}
	w.next += n
	group.Wait()
}

func (w *world) note(r result, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, err)
	w.mostTries = max(w.mostTries, r.trips)
	if r.admitted {
		w.times = append(w.times, w.now)
		w.admittedWrites += r.writes
		w.admittedTrips += r.trips
		return
	}
	w.rejected++
	w.rejectWrites += r.writes
}

// within is how many were admitted in the time up to now.
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

// weigh notes the size of an item.
func (w *world) weigh(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.largest = max(w.largest, size)
}

func (w *world) clock() time.Time { return w.now }

func (w *world) row() string {
	per := func(n, of int) string {
		if of == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3f", float64(n)/float64(of))
	}
	or := func(condition bool, s string) string {
		if !condition {
			return "–"
		}
		return s
	}
	admitted := len(w.times)
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %s (%s) | %s | %d | %s | %s | %s |",
		w.kind.name, w.pattern.name, len(w.containers), admitted+w.rejected, w.most(),
		per(w.admittedWrites, admitted), per(w.admittedTrips, admitted), per(w.rejectWrites, w.rejected), w.mostTries,
		or(w.waits > 0, fmt.Sprintf("%d of %d", w.kept, w.waits)),
		or(w.isHonest, fmt.Sprint(w.refused)),
		or(w.largest > 0, fmt.Sprintf("%d B", w.largest)))
}
