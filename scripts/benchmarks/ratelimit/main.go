// Command ratelimit measures the fair-use limiter beside two that are often used in its place, a fixed
// window and GCRA: how many requests are admitted in any 60 s, what they and the rejected ones cost,
// and whether who waits Retry-After is admitted. The store is real, DynamoDB Local where there is a
// JDK; the containers call it at the same time; time is simulated in steps, during which their clocks
// stand still, so that what is counted does not depend on the machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// limit is the limit of every subject: requests in any 60 s.
const limit = 600

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "ratelimit:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	s, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if missing, ok := errors.AsType[*dynamolocal.MissingError](err); ok {
		fmt.Fprintln(os.Stderr, missing, "The embedded store is used instead.")
		s, err = dynamolocal.Embedded()
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if err := dynamolocal.CreateTables(ctx, s.Client()); err != nil {
		return err
	}
	if err := os.Setenv(dynamo.RateCounters.EnvName(), dynamolocal.TableName(dynamo.RateCounters)); err != nil {
		return err
	}
	fmt.Printf("Limit %d in any 60 s; store: %s. Writes include those whose condition fails, as DynamoDB\ncharges them; no item is over 1 KB, so each is one write unit.\n\n", limit, s.Kind)
	return measure(ctx, s.Client())
}

func measure(ctx context.Context, client *dynamodb.Client) error {
	fmt.Println("| limiter | pattern | containers | requests | most in any 60 s | writes (round trips) per admitted | writes per rejection | most tries | waits kept | honest refused | largest item |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, kind := range kinds {
		for _, p := range patterns {
			if p.only != "" && p.only != kind.name {
				continue
			}
			w := newWorld(ctx, client, kind, p)
			p.run(w)
			if w.err != nil {
				return fmt.Errorf("%s, %s: %w", kind.name, p.name, w.err)
			}
			fmt.Println(w.row())
		}
	}
	return nil
}

// A kind is a way to limit.
type kind struct {
	name string
	// containers makes the containers of a world, all of which read its clock.
	containers func(*world) []container
}

// A container decides on one request.
type container func(context.Context) (result, error)

type result struct {
	admitted      bool
	wait          time.Duration // Retry-After
	writes, trips int
}

var kinds = []kind{
	{"slot log", slotLogs},
	{"fixed window", fixedWindows},
	{"GCRA, burst " + fmt.Sprint(limit), gcras},
}
