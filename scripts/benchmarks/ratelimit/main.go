// Command ratelimit measures what the fair-use limiter writes for an admitted and for a rejected request, when
// many containers ask about the same subject at once.
//
// The store is DynamoDB Local, or the embedded store where there is no JDK. The containers' clock is simulated and
// stands still during a step, so the counts do not depend on the machine. Two rivals, a fixed window and GCRA, were
// measured in the same way: results/ratelimit.md has their figures. What the limiter promises is tested beside it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/benchmarks/calls"
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
	s, err := calls.OpenStore(ctx)
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
	fmt.Printf("Limit %d in any 60 s; store: %s. Writes include those whose condition fails, as DynamoDB charges them. No item is over 1 KB, so each write is one unit.\n\n", limit, s.Kind)
	return measure(ctx, s.Client())
}

func measure(ctx context.Context, client *dynamodb.Client) error {
	fmt.Println("| pattern | containers | requests | most in any 60 s | writes (round trips) per admitted | writes per rejection | most tries |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, p := range patterns {
		w := newWorld(ctx, client, p)
		p.run(w)
		if w.err != nil {
			return fmt.Errorf("%s: %w", p.name, w.err)
		}
		fmt.Println(w.row())
	}
	return nil
}
