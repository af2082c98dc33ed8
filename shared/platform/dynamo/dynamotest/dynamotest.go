// Package dynamotest runs a test on every store there is: the embedded one always, and the reference,
// Amazon's DynamoDB Local, where one is running.
package dynamotest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// Reference is the environment variable that holds the endpoint of a running DynamoDB Local. Command
// wavegate/scripts/local/reference sets it; without it, tests run on the embedded store alone.
const Reference = "WAVEGATE_REFERENCE_STORE"

var (
	once      sync.Once
	reference *dynamolocal.Store // nil where none runs
	errStart  error
)

// start names the tables for this process and finds the reference, once a test binary.
func start() error {
	once.Do(func() {
		for _, t := range dynamo.Tables {
			if errStart = os.Setenv(t.ID.EnvName(), dynamolocal.TableName(t.ID)); errStart != nil {
				return
			}
		}
		if endpoint := os.Getenv(Reference); endpoint != "" {
			reference = dynamolocal.External(endpoint)
			errStart = dynamolocal.CreateTables(context.Background(), reference.Client())
		}
	})
	return errStart
}

// Each runs the test as a subtest on each store. The embedded one is new for each test: its
// transactions copy their tables, so what earlier tests left would slow it down. The reference is
// shared with every package's tests, so they use keys of their own.
func Each(t *testing.T, test func(t *testing.T, client *dynamodb.Client)) {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	t.Run("embedded", func(t *testing.T) { test(t, Embedded(t)) })
	if reference != nil {
		t.Run("reference", func(t *testing.T) { test(t, reference.Client()) })
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
