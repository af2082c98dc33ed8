// Command scale makes the same calls with few and with many boxes, machines and audit events, and
// shows what stays flat and what does not. What is there is put straight into Amazon's DynamoDB
// Local, whose indexes are trees as DynamoDB's are; the embedded store's are not.
//
//	./scripts/benchmarks/run scale           10³ and 10⁵ boxes and audit events, 10² and 10⁴ machines
//	LONG=1 ./scripts/benchmarks/run scale    further 10⁶ boxes and audit events
//	N=… is how many times each call is made (30)
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/scripts/benchmarks/calls"
	"wavegate/scripts/benchmarks/meter"
	"wavegate/scripts/local/service"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// A size is how much there is of everything.
type size struct{ boxes, machines, events int }

func (s size) String() string {
	return fmt.Sprintf("%d boxes, %d machines, %d events", s.boxes, s.machines, s.events)
}

var sizes = []size{{1_000, 100, 1_000}, {100_000, 10_000, 100_000}}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	n := 30
	if s := os.Getenv("N"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			return fmt.Errorf("the count N=%s makes no sense", s)
		}
	}
	if os.Getenv("LONG") != "" {
		sizes = append(sizes, size{1_000_000, 10_000, 1_000_000})
	}
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	s, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer s.Close()
	m, err := meter.Start(s.Endpoint)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	w, err := calls.Start(ctx, calls.Options{Functions: functions, Store: dynamolocal.External(m.URL), Processes: 1})
	if err != nil {
		return err
	}
	defer w.Close()
	p := &plant{World: w, meter: m}
	if err := p.patterns(ctx); err != nil {
		return err
	}
	results := make([][]result, len(rows))
	for _, to := range sizes {
		began := time.Now()
		if err := p.fill(ctx, to); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "scale: %s after %s\n", to, time.Since(began).Round(time.Second))
		for i, row := range rows {
			r, err := p.measure(row, n)
			if err != nil {
				return fmt.Errorf("%s with %s: %w", row.name, to, err)
			}
			results[i] = append(results[i], r)
		}
	}
	print(results, n)
	return nil
}

func print(results [][]result, n int) {
	fmt.Printf("Each call %d times on %q, one at a time; p50 in ms with the requests and the read and write units that one call took. Columns: ", n, "DynamoDB Local")
	for i, s := range sizes {
		fmt.Printf("%c is %s; ", 'A'+i, s)
	}
	fmt.Print("all boxes follow one channel, all machines and events are of one factory.\n\n| call |")
	for i := range sizes {
		fmt.Printf(" p50 %c | requests, units %c |", 'A'+i, 'A'+i)
	}
	fmt.Println(" as things grow |")
	fmt.Println("|---|" + strings.Repeat("---|---|", len(sizes)) + "---|")
	for i, row := range rows {
		fmt.Printf("| %s |", row.name)
		for _, r := range results[i] {
			fmt.Printf(" %.1f | %d, %g r, %g w |", r.p50, r.usage.Requests, r.usage.Read, r.usage.Write)
		}
		fmt.Printf(" %s |\n", row.why)
	}
}

// A plant is a factory, a fleet and a channel that grow.
type plant struct {
	*calls.World
	meter               *meter.Meter
	box, machine, event attributes // what the service stored of one each
	now                 size
	rollout             string
}

const (
	factory  = "/api/factories/munich-1"
	channel  = "/api/ota/release-channels/gateway-x/"
	firstBox = "edge-000000"
	machine0 = "press-000000"
)

func put(c calls.Caller, path, body string) calls.Request {
	return calls.Request{Caller: c, Method: http.MethodPut, Path: path, Body: body}
}

func publication(version string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example.com/%s.tar.gz","sha256":%q}`,
		version, version, strings.Repeat("0", 64-len(version))+strings.Map(func(r rune) rune {
			if r == '.' {
				return 'f'
			}
			return r
		}, version))
}

// patterns has the service store one of everything.
func (p *plant) patterns(ctx context.Context) error {
	for _, r := range []calls.Request{
		put(calls.Owner, channel+"stable", publication("1.0.0")),
		put(calls.Owner, channel+"canary", publication("1.1.0")),
		put(calls.Owner, factory, `{"organizationId":"acme","name":"Munich 1"}`),
		put(calls.Owner, "/api/edges/"+firstBox, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`),
		put(calls.Engineer, factory+"/machines/"+machine0, `{"name":"Press 1"}`),
	} {
		if _, err := p.Must(r); err != nil {
			return err
		}
	}
	var err error
	if p.box, err = find(ctx, p.DB, dynamo.Edges, func(attributes) bool { return true }); err != nil {
		return err
	}
	if p.machine, err = find(ctx, p.DB, dynamo.Machines, func(attributes) bool { return true }); err != nil {
		return err
	}
	p.event, err = find(ctx, p.DB, dynamo.Audit, func(i attributes) bool { return text(i, "stream") == "factory/munich-1" })
	p.now = size{1, 1, 0}
	return err
}

// fill seeds what is missing.
func (p *plant) fill(ctx context.Context, to size) error {
	if err := seed(ctx, p.DB, dynamo.Edges, p.now.boxes, to.boxes, func(i int) attributes {
		return replaced(p.box, strings.NewReplacer(firstBox, fmt.Sprintf("edge-%06d", i)))
	}); err != nil {
		return err
	}
	if err := seed(ctx, p.DB, dynamo.Machines, p.now.machines, to.machines, func(i int) attributes {
		return replaced(p.machine, strings.NewReplacer(machine0, fmt.Sprintf("press-%06d", i)))
	}); err != nil {
		return err
	}
	if err := seed(ctx, p.DB, dynamo.Audit, p.now.events, to.events, func(i int) attributes { return another(p.event, machine0, i) }); err != nil {
		return err
	}
	p.now = to
	return nil
}

// A result is what a call took.
type result struct {
	p50   float64
	usage meter.Usage
}

// measure makes a call some times, and twice more to count; the lesser count is shown, since now and
// then the limiter spends a write on clearing what has expired.
func (p *plant) measure(row row, n int) (result, error) {
	var times []time.Duration
	u := meter.Usage{}
	for i := range n + 3 {
		request, err := row.call(p, i)
		if err != nil {
			return result{}, err
		}
		ask := func() error {
			began := time.Now()
			a, err := p.Must(request)
			times = append(times, time.Since(began))
			if err == nil && row.check != "" && !strings.Contains(string(a.Body), row.check) {
				err = fmt.Errorf("answered %s", a.Body)
			}
			return err
		}
		switch {
		case i == 0: // warms the process
			err = ask()
			times = nil
		case i <= n:
			err = ask()
		default:
			var counted meter.Usage
			counted, err = p.meter.Measure(10*time.Millisecond, ask)
			if i == n+1 || counted.Requests < u.Requests {
				u = counted
			}
		}
		if err != nil {
			return result{}, err
		}
	}
	times = times[:n] // the counted calls were held up
	slices.Sort(times)
	return result{float64(times[n/2].Microseconds()) / 1000, u}, nil
}
