// Package dynamotest runs a test on all stores: always on the embedded one, and on the reference,
// Amazon's DynamoDB Local, if it is running.
package dynamotest

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// Reference is the environment variable with the endpoint of a running DynamoDB Local. Command
// wavegate/scripts/local/reference sets it.
const Reference = "WAVEGATE_REFERENCE_STORE"

// start names the tables for this process and creates them in the reference, once per test
// binary.
var start = sync.OnceValue(func() error {
	for _, t := range dynamo.Tables {
		if err := os.Setenv(t.ID.EnvName(), dynamolocal.TableName(t.ID)); err != nil {
			return err
		}
	}
	if endpoint := os.Getenv(Reference); endpoint != "" {
		return dynamolocal.CreateTables(context.Background(), dynamolocal.External(endpoint).Client())
	}
	return nil
})

// Each runs the test as a subtest on each store. Each test has a new embedded store. The
// reference is shared by the tests of all packages, so tests must use unique keys.
func Each(t *testing.T, test func(t *testing.T, client *dynamodb.Client)) {
	t.Helper()
	expect.OK(t, start())
	t.Run("embedded", func(t *testing.T) { test(t, Embedded(t)) })
	if endpoint := os.Getenv(Reference); endpoint != "" {
		t.Run("reference", func(t *testing.T) { test(t, dynamolocal.External(endpoint).Client()) })
	}
}

// Embedded returns an embedded store for a test that needs one without other items.
func Embedded(t testing.TB) *dynamodb.Client {
	t.Helper()
	expect.OK(t, start())
	embedded := expect.Value(dynamolocal.Embedded())(t)
	t.Cleanup(func() { embedded.Close() })
	expect.OK(t, dynamolocal.CreateTables(t.Context(), embedded.Client()))
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
