// Command scale makes the same calls with few and with many boxes, machines and audit events, and shows which
// take more as these grow. Items are seeded straight into DynamoDB Local, whose indexes are trees like DynamoDB's.
//
//	./scripts/lab/benchmarks/run scale     BOXES=… sets the numbers of boxes and events (1000,100000), 1000 or more each;
//	                                   there are a tenth as many machines, at most 10,000
package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/lab/benchmarks/meter"
	"wavegate/scripts/local/service"
	"wavegate/shared/testing/dynamolocal"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
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
			r, err := p.measure(row)
			if err != nil {
				return fmt.Errorf("%s with %s: %w", row.name, to, err)
			}
			results[i] = append(results[i], r)
		}
	}
	print(sizes, results)
	return nil
}

func print(sizes []size, results [][]string) {
	fmt.Print("Requests, read units and write units of one call, on DynamoDB Local. All boxes follow one channel, and all machines and events are of one factory.\n\n| call |")
	for _, size := range sizes {
		fmt.Printf(" %s |", size)
	}
	fmt.Println(" as things grow |\n|---|" + strings.Repeat("---|", len(sizes)) + "---|")
	for i, row := range rows {
		fmt.Printf("| %s | %s | %s |\n", row.name, strings.Join(results[i], " | "), row.why)
	}
}

// measure counts what a call takes in a warm process. It makes the call twice and writes the lower count, since now
// and then the limiter spends a write on removing what has expired.
func (p *plant) measure(row row) (string, error) {
	var least meter.Usage
	for i := range 3 {
		call, err := row.call(p, i)
		if err != nil {
			return "", err
		}
		u, err := p.meter.Measure(10*time.Millisecond, func() error {
			a, err := p.Do(call)
			if err == nil && (a.Status >= http.StatusBadRequest || !strings.Contains(string(a.Body), row.check)) {
				err = fmt.Errorf("answered %d %s", a.Status, a.Body)
			}
			return err
		})
		if err != nil {
			return "", err
		}
		if i == 1 || i == 2 && u.Requests < least.Requests { // the first call warms the process
			least = u
		}
	}
	return fmt.Sprintf("%d, %g r, %g w", least.Requests, least.Read, least.Write), nil
}
