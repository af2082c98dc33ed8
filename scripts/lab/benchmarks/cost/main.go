// Command cost measures what a call of each operation costs. It counts the requests, round trips and units of
// DynamoDB, and measures the processor time of the warm function. From these it computes the dollars of a million
// calls at list prices.
//
//	./scripts/lab/benchmarks/run cost     N=… sets how many calls a profile is taken of (50)
//
// With the argument fleet it measures nothing. It computes from the counted units what fleets cost a month, and
// writes the tables of infra/fleet-size.md:
//
//	go run ./scripts/lab/benchmarks/cost fleet -boxes 25000,50000 -interval 60 -idle 300 -days 8
//
// With the argument bell it measures the processor time of the bell, and of the polls of boxes that listen.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/lab/benchmarks/meter"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
	"wavegate/shared/testing/dynamolocal"
)

func main() {
	work := func() error { return run(context.Background()) }
	if len(os.Args) > 1 && os.Args[1] == "fleet" {
		work = func() error { return fleetCommand(os.Stdout, os.Args[2:]) }
	}
	if len(os.Args) > 1 && os.Args[1] == "bell" {
		work = func() error { return bellCommand(context.Background(), os.Stdout) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	n, err := measured()
	if err != nil {
		return err
	}
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	usages, kind, err := countAll(ctx, functions)
	if err != nil {
		return err
	}
	profiles, authorizer, err := profileAll(ctx, functions, n)
	if err != nil {
		return err
	}
	printCounts(usages, profiles, kind, n)
	printBills(usages, profiles)
	printAuthorizer(authorizer)
	return nil
}

// measured is how many calls a profile is taken of.
func measured() (int, error) {
	s := os.Getenv("N")
	if s == "" {
		return 50, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the count N=%s is not 1 or more", s)
	}
	return n, nil
}

// openStore opens DynamoDB Local, or the embedded store where there is no JDK. The embedded store copies its tables
// for each transaction, so a profile of many calls takes long on it.
func openStore(ctx context.Context) (*dynamolocal.Store, error) {
	s, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if missing, ok := errors.AsType[*dynamolocal.MissingError](err); ok {
		fmt.Fprintln(os.Stderr, "cost: the embedded store is used:", missing)
		return dynamolocal.Embedded()
	}
	return s, err
}

// countAll counts every row.
func countAll(ctx context.Context, functions string) (usages []meter.Usage, kind string, err error) {
	s, err := openStore(ctx)
	if err != nil {
		return nil, "", err
	}
	defer s.Close()
	w, m, err := startCounted(ctx, functions, s)
	if err != nil {
		return nil, "", err
	}
	defer func() { w.Close(); _ = m.Close() }()
	for _, row := range calls.Rows() {
		u, err := count(w, m, row, nil)
		if err != nil {
			return nil, "", err
		}
		usages = append(usages, u)
	}
	return usages, s.Kind, nil
}

func profileAll(ctx context.Context, functions string, n int) (profiles []profile, authorizer profile, err error) {
	s, err := openStore(ctx)
	if err != nil {
		return nil, authorizer, err
	}
	defer s.Close()
	p, err := startProfiler(ctx, functions, s)
	if err != nil {
		return nil, authorizer, err
	}
	defer p.Close()
	for _, row := range calls.Rows() {
		one, err := p.profile(row, n)
		if err != nil {
			return nil, authorizer, err
		}
		profiles = append(profiles, one)
	}
	authorizer, err = p.authorizer(n)
	return profiles, authorizer, err
}

func printCounts(usages []meter.Usage, profiles []profile, kind string, n int) {
	fmt.Printf("## What a call takes\n\nRequests, round trips and units are those of one call in a warm process, on the store %q, by the rules of the DynamoDB Developer Guide from the sizes of items. "+
		"They are the same on every machine, and a test checks them. CPU times are means of %d calls on this machine.\n\n", kind, n)
	fmt.Print("The round trips: the reads of a call are made beside the limiter's write, and a change is one transaction after them. The limiter asks for a person and their organization at once if the container lately saw that the person is far from their limit, as here. For the first call of a person in a container, and beyond half the limit, it asks for the organization afterwards, which is one round trip more. Completing a rollout at 100 percent reads the channel once it knows the rollout.\n\n")
	fmt.Println("| call | requests | round trips | read units | write units | CPU, ms |")
	fmt.Println("|---|---|---|---|---|---|")
	var disagreements []string
	for i, row := range calls.Rows() {
		u, p := usages[i], profiles[i]
		fmt.Printf("| %s | %d | %d | %g | %g | %.2f |\n", row.Name(), u.Requests, u.Rounds, u.Read, u.Write, p.CPU)
		for _, d := range u.Disagreements {
			disagreements = append(disagreements, row.Name()+": "+d)
		}
	}
	fmt.Println()
	if len(disagreements) == 0 {
		fmt.Println("Where the store reports what a request took, it reports the same. It does not report transactions.")
	} else {
		fmt.Println("Here the store reports other units:")
		for _, d := range disagreements {
			fmt.Println("- " + d)
		}
	}
	fmt.Println()
}

func printBills(usages []meter.Usage, profiles []profile) {
	fmt.Printf("## Dollars for a million calls\n\nList prices of eu-central-1 as they stand in prices.go, without the free tier. Lambda's compute is a model: %g ms for a round trip to DynamoDB (%g ms for a transaction) and the CPU time above at the share of a processor that the memory buys. "+
		"Logs and traces: what the function, Lambda and the gateway log, and X-Ray's sample of %g %%.\n\n", roundTripMS, transactionMS, traced*100)
	fmt.Println("| call | duration, ms | gateway | Lambda requests | Lambda compute | read units | write units | logs, traces | total |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for i, row := range calls.Rows() {
		op := operations.Get(row.Operation)
		b := price(op, usages[i], profiles[i], changes(row))
		fmt.Printf("| %s | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", row.Name(), b.DurationMS,
			b.Gateway, b.Requests, b.Compute, b.Read, b.Write, b.Log, b.Total())
	}
	fmt.Println()
}

// changes tells whether a call commits a transaction.
func changes(row calls.Row) bool {
	reading := []string{"get-", "list-", "copilot"}
	return !strings.Contains(row.Name(), "nothing new") &&
		!slices.ContainsFunc(reading, func(p string) bool { return strings.HasPrefix(row.Operation, p) })
}

func printAuthorizer(p profile) {
	const memory = 256.0
	duration := p.CPU * fullCPU / memory
	dollars := lambdaRequests + duration/1000*memory/1024*lambdaGBSecond*1e6
	fmt.Printf("## The authorizer\n\nThe gateway asks it once in five minutes for a token. A check takes %.2f ms of CPU. A million checks cost %.2f dollars; shared by the calls of a box that polls once a minute %.2f for a million polls.\n",
		p.CPU, dollars, dollars/5)
}
