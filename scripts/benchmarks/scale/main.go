// Command scale makes the same calls with few and with many boxes, machines and audit events, and shows which
// take more as these grow. Items are seeded straight into DynamoDB Local, whose indexes are trees like DynamoDB's.
//
//	./scripts/benchmarks/run scale     BOXES=… sets the numbers of boxes and events (1000,100000), 1000 or more each;
//	                                   there are a tenth as many machines, at most 10,000
//	                                   N=… sets how many times each call is made (30)
package main

import (
	"cmp"
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
	"wavegate/shared/platform/dynamo/dynamolocal"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("N"), "30"))
	if err != nil || n < 1 {
		return fmt.Errorf("the count N=%s is not 1 or more", os.Getenv("N"))
	}
	var sizes []size
	for _, s := range strings.Split(cmp.Or(os.Getenv("BOXES"), "1000,100000"), ",") {
		boxes, err := strconv.Atoi(s)
		if err != nil || boxes < 1000 {
			return fmt.Errorf("the list BOXES=%s has a count that is not 1000 or more", os.Getenv("BOXES"))
		}
		sizes = append(sizes, size{boxes, min(boxes/10, 10_000)})
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
	results := make([][]string, len(rows))
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
	print(sizes, results, n)
	return nil
}

func print(sizes []size, results [][]string, n int) {
	fmt.Printf("Each call %d times on DynamoDB Local, one at a time; p50 in ms with the requests and the read and write units that one call took. Columns: ", n)
	for i, s := range sizes {
		fmt.Printf("%c is %s; ", 'A'+i, s)
	}
	fmt.Print("all boxes follow one channel, all machines and events are of one factory.\n\n| call |")
	for i := range sizes {
		fmt.Printf(" p50 %c | requests, units %c |", 'A'+i, 'A'+i)
	}
	fmt.Println(" as things grow |\n|---|" + strings.Repeat("---|---|", len(sizes)) + "---|")
	for i, row := range rows {
		fmt.Printf("| %s | %s | %s |\n", row.name, strings.Join(results[i], " | "), row.why)
	}
}

// measure makes a call n times and writes what it took. It then counts two more calls and writes the lower count,
// since now and then the limiter spends a write on removing what has expired.
func (p *plant) measure(row row, n int) (string, error) {
	var times []time.Duration
	var u meter.Usage
	for i := range n + 3 {
		request, err := row.call(p, i)
		if err != nil {
			return "", err
		}
		ask := func() error {
			began := time.Now()
			a, err := p.Do(request)
			times = append(times, time.Since(began))
			if err == nil && a.Status >= http.StatusBadRequest {
				err = fmt.Errorf("answered %d %s", a.Status, a.Body)
			}
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
			return "", err
		}
	}
	times = times[:n] // the meter delays the calls that it counts
	slices.Sort(times)
	return fmt.Sprintf("%.1f | %d, %g r, %g w", float64(times[n/2].Microseconds())/1000, u.Requests, u.Read, u.Write), nil
}
