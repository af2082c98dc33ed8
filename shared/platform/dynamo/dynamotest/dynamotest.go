// Package dynamotest runs a test on every store there is: the embedded one always, and the references,
// Amazon's DynamoDB Local and ministack, where they are running.
package dynamotest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// The environment variables that hold the endpoints of running references: DynamoDB Local and
// ministack. Command wavegate/scripts/local/reference sets them. Where one is not set, tests do not run
// on that store.
const (
	Reference = "WAVEGATE_REFERENCE_STORE"
	Ministack = "WAVEGATE_MINISTACK_STORE"
)

// references lists the stores that run elsewhere, by the names of their subtests.
var references = []struct{ name, variable string }{{"reference", Reference}, {ministack, Ministack}}

// ministack is the name of its subtests.
const ministack = "ministack"

// start names the tables for this process and creates them in the references, once a test binary.
var start = sync.OnceValue(func() error {
	for _, t := range dynamo.Tables {
		if err := os.Setenv(t.ID.EnvName(), dynamolocal.TableName(t.ID)); err != nil {
			return err
		}
	}
	for _, r := range references {
		if endpoint := os.Getenv(r.variable); endpoint != "" {
			if err := dynamolocal.CreateTables(context.Background(), dynamolocal.External(endpoint).Client()); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
})

// Each runs the test as a subtest on each store. The embedded one is new for each test. The references
// are shared with the tests of every package, so that tests use keys of their own.
func Each(t *testing.T, test func(t *testing.T, client *dynamodb.Client)) {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	t.Run("embedded", func(t *testing.T) { test(t, Embedded(t)) })
	for _, r := range references {
		if endpoint := os.Getenv(r.variable); endpoint != "" {
			t.Run(r.name, func(t *testing.T) { test(t, dynamolocal.External(endpoint).Client()) })
		}
	}
}

// Embedded is an embedded store of the test's own, for what no other test's items may stand beside.
func Embedded(t *testing.T) *dynamodb.Client {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	embedded, err := dynamolocal.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { embedded.Close() })
	if err := dynamolocal.CreateTables(t.Context(), embedded.Client()); err != nil {
		t.Fatal(err)
	}
	return embedded.Client()
}

// Querying is a client that counts the queries that it is asked for.
type Querying struct {
	*dynamodb.Client
	Queries atomic.Int64
}

// Query is that of the client, counted.
func (q *Querying) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	q.Queries.Add(1)
	return q.Client.Query(ctx, in, options...)
}
