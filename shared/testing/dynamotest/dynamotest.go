// Package dynamotest runs a test on all stores: always on the embedded one, and on the
// references, Amazon's DynamoDB Local and ministack, if they are running.
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
	"wavegate/shared/testing/dynamolocal"
)

// These environment variables hold the endpoints of running references, DynamoDB Local and
// ministack. Command wavegate/scripts/local/reference sets them. If one is not set, no test runs
// on that store.
const (
	Reference = "WAVEGATE_REFERENCE_STORE"
	Ministack = "WAVEGATE_MINISTACK_STORE"
)

// references lists the external stores, by the names of their subtests.
var references = []struct{ name, variable string }{{"reference", Reference}, {ministack, Ministack}}

// ministack is the name of its subtests.
const ministack = "ministack"

// start names the tables for this process and creates them in the references, once per test
// binary.
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

// Each runs the test as a subtest on each store. Each test has a new embedded store. The
// references are shared by the tests of all packages, so tests must use unique keys.
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

// Embedded is an embedded store for one test, which needs a store without other items.
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

// A QueryCounter is a client that counts its queries.
type QueryCounter struct {
	*dynamodb.Client
	Queries atomic.Int64
}

// Query counts the query and runs it.
func (q *QueryCounter) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	q.Queries.Add(1)
	return q.Client.Query(ctx, in, options...)
}
