// Command load calls the service through the local gateway as a fleet does, nearly all polls, and
// raises the number of callers until the machine is the limit; then with twice the processes a
// function, and so on. Every answer is checked, and in the end every acknowledged write is looked for
// in the store.
//
//	./scripts/benchmarks/run load     STEP=… sets how long a step takes (3s)
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/benchmarks/calls"
	"wavegate/scripts/local/service"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

const (
	boxes       = 200
	mostCallers = 64
	// enough is the growth from one step to the next below which the machine is the limit.
	enough = 1.05
)

// processes of a function, at most, in turn.
var processes = []int{1, 2, 4, 8}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	step := 3 * time.Second
	if s := os.Getenv("STEP"); s != "" {
		var err error
		if step, err = time.ParseDuration(s); err != nil || step <= 0 {
			return fmt.Errorf("STEP=%s is no duration", s)
		}
	}
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	seed := uint64(time.Now().UnixNano())
	fmt.Printf("%d boxes poll their manifests (94 %% of the calls; half of them know what they are told and get 304), people read channels, boxes and machines (4 %%) and make production methods and move boxes (2 %%). "+
		"Real function processes behind the local gateway, on the embedded store; steps of %s, seed %d. All of it, the callers too, shares the machine's processors: a call that takes 1 ms of Lambda's CPU takes several here.\n\n", boxes, step, seed)
	fmt.Println("| processes a function | callers | calls/s | p50, ms | p99, ms | processors busy, % | unexpected answers |")
	fmt.Println("|---|---|---|---|---|---|---|")
	var all totals
	var best []string
	for _, p := range processes {
		most, err := grow(ctx, functions, p, step, seed, &all)
		if err != nil {
			return err
		}
		best = append(best, fmt.Sprintf("%d: %.0f", p, most))
	}
	fmt.Printf("\nMost calls a second by processes a function: %v.\n\n%d calls, %d of them answered otherwise than expected; %d writes acknowledged, %d found in the store with one audit event each.\n",
		best, all.calls, all.unexpected, all.acknowledged, all.found)
	if all.unexpected > 0 || all.acknowledged != all.found {
		return fmt.Errorf("%d unexpected answers, the first: %s; %d of %d writes found", all.unexpected, all.first, all.found, all.acknowledged)
	}
	return nil
}

// totals are over all steps.
type totals struct {
	calls, unexpected, acknowledged, found int
	first                                  string
}

// grow doubles the callers until that brings no more calls a second, and returns the most there were.
func grow(ctx context.Context, functions string, processes int, step time.Duration, seed uint64, all *totals) (most float64, err error) {
	w, err := calls.Start(ctx, calls.Options{Functions: functions, Processes: processes})
	if err != nil {
		return 0, err
	}
	defer w.Close()
	f, err := newFleet(w)
	if err != nil {
		return 0, err
	}
	before, err := f.stored(ctx)
	if err != nil {
		return 0, err
	}
	acknowledged := 0
	for callers := 1; callers <= mostCallers; callers *= 2 {
		f.run(callers, step/4, seed) // starts the processes; its writes count, its times do not
		acknowledged += f.take(all)
		busy := processors()
		f.run(callers, step, seed+uint64(callers))
		used := busy()
		rate, p50, p99 := float64(len(f.times))/step.Seconds(), f.percentile(50), f.percentile(99)
		wrong := f.unexpected
		acknowledged += f.take(all)
		fmt.Printf("| %d | %d | %.0f | %.1f | %.1f | %s | %d |\n", processes, callers, rate, p50, p99, used, wrong)
		if rate < most*enough && callers > 2*processes {
			break
		}
		most = max(most, rate)
	}
	after, err := f.stored(ctx)
	if err != nil {
		return 0, err
	}
	all.acknowledged += acknowledged
	all.found += min(after.writes-before.writes, after.events-before.events)
	return most, nil
}

// A fleet is boxes and people that call the service.
type fleet struct {
	w       *calls.World
	boxes   []string
	etags   []string // what each box was told when it last polled before the run
	factory string

	mu           sync.Mutex
	times        []time.Duration
	unexpected   int
	acknowledged int
	first        string
}

// newFleet registers boxes on a channel, and a factory.
func newFleet(w *calls.World) (*fleet, error) {
	f := &fleet{w: w, factory: "/api/factories/munich-1"}
	owner := func(method, path, body string) error {
		_, err := w.Must(calls.Request{Caller: calls.Owner, Method: method, Path: path, Body: body})
		return err
	}
	if err := owner(http.MethodPut, "/api/ota/release-channels/gateway-x/stable",
		`{"currentVersion":"1.0.0","artifactUrl":"https://artifacts.example.com/1.0.0.tar.gz","sha256":"6f1b3a4c5d2e7f80918273645546372819a0b1c2d3e4f5061728394a5b6c7d8e"}`); err != nil {
		return nil, err
	}
	if err := owner(http.MethodPut, f.factory, `{"organizationId":"acme","name":"Munich 1"}`); err != nil {
		return nil, err
	}
	for range boxes {
		box := w.Name("edge")
		if err := owner(http.MethodPut, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`); err != nil {
			return nil, err
		}
		told, err := w.Must(f.poll(box, ""))
		if err != nil {
			return nil, err
		}
		f.boxes, f.etags = append(f.boxes, box), append(f.etags, told.Header.Get("ETag"))
	}
	return f, nil
}

func (f *fleet) poll(box, etag string) calls.Request {
	r := calls.Request{Caller: calls.Box(box), Method: http.MethodGet, Path: "/api/edges/" + box + "/update/manifest?installed=1.0.0"}
	if etag != "" {
		r.Header = [2]string{"If-None-Match", etag}
	}
	return r
}

// next draws a call and the status that it has to be answered with; a write is one that stores
// something and is audited.
func (f *fleet) next(random *rand.Rand) (r calls.Request, want int, write bool) {
	i := random.IntN(len(f.boxes))
	switch n := random.IntN(100); {
	case n < 47:
		return f.poll(f.boxes[i], ""), http.StatusOK, false
	case n < 94:
		return f.poll(f.boxes[i], f.etags[i]), http.StatusNotModified, false
	case n < 96:
		return calls.Request{Caller: calls.Owner, Method: http.MethodGet, Path: "/api/edges/" + f.boxes[i]}, http.StatusOK, false
	case n < 97:
		return calls.Request{Caller: calls.Owner, Method: http.MethodGet, Path: "/api/ota/release-channels/gateway-x/stable"}, http.StatusOK, false
	case n < 98:
		return calls.Request{Caller: calls.Engineer, Method: http.MethodGet, Path: f.factory + "/machines"}, http.StatusOK, false
	case n < 99:
		return calls.Request{Caller: calls.Owner, Method: http.MethodPut, Path: "/api/edges/" + f.w.Name("new"),
			Body: `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`}, http.StatusCreated, true
	}
	return calls.Request{Caller: calls.Engineer, Method: http.MethodPost, Path: f.factory + "/production-methods",
		Body: `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Milling"}`}, http.StatusCreated, true
}

// run has so many callers call without a pause, and gathers times and answers.
func (f *fleet) run(callers int, d time.Duration, seed uint64) {
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(c)))
			for time.Now().Before(end) {
				r, want, write := f.next(random)
				began := time.Now()
				a, err := f.w.Do(r)
				f.note(time.Since(began), r, a, err, want, write)
			}
		})
	}
	wg.Wait()
}

func (f *fleet) note(took time.Duration, r calls.Request, a calls.Answer, err error, want int, write bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = append(f.times, took)
	if err != nil || a.Status != want {
		f.unexpected++
		if f.first == "" {
			f.first = fmt.Sprintf("%s %s: %d %s, want %d, %v", r.Method, r.Path, a.Status, a.Body, want, err)
		}
		return
	}
	if write {
		f.acknowledged++
	}
}

// take adds what was gathered to the totals, forgets it, and returns the acknowledged writes.
func (f *fleet) take(all *totals) (acknowledged int) {
	all.calls += len(f.times)
	all.unexpected += f.unexpected
	if all.first == "" {
		all.first = f.first
	}
	acknowledged = f.acknowledged
	f.times, f.unexpected, f.acknowledged = nil, 0, 0
	return acknowledged
}

// percentile of the gathered times, in ms.
func (f *fleet) percentile(p int) float64 {
	if len(f.times) == 0 {
		return 0
	}
	slices.Sort(f.times)
	return float64(f.times[min(len(f.times)-1, len(f.times)*p/100)].Microseconds()) / 1000
}

// A count is of what lies in the store.
type count struct{ writes, events int }

// stored counts the boxes and methods in the store, and the events that tell of their making.
func (f *fleet) stored(ctx context.Context) (count, error) {
	var c count
	for _, table := range []dynamo.TableID{dynamo.Edges, dynamo.Recipes, dynamo.Audit} {
		pages := dynamodb.NewScanPaginator(f.w.DB, &dynamodb.ScanInput{TableName: aws.String(dynamolocal.TableName(table))})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return c, err
			}
			if table != dynamo.Audit {
				c.writes += len(page.Items)
				continue
			}
			for _, item := range page.Items {
				if name, ok := item["eventName"].(*types.AttributeValueMemberS); ok && (name.Value == "EdgeRegistered" || name.Value == "ProductionMethodCreated") {
					c.events++
				}
			}
		}
	}
	return c, nil
}
