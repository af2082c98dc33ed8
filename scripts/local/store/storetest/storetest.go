// Package storetest runs a test on every store there is: the embedded one always, and the reference,
// Amazon's DynamoDB Local, where one is running.
package storetest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/local/store"
	"wavegate/shared/dynamo"
)

// Reference is the environment variable that holds the endpoint of a running DynamoDB Local. Command
// wavegate/scripts/local/reference sets it; without it, tests run on the embedded store alone.
const Reference = "WAVEGATE_REFERENCE_STORE"

var (
	once     sync.Once
	stores   map[string]*store.Store
	errStart error
)

// start prepares the stores, once a test binary. Tests share them, so they use keys of their own.
func start() (map[string]*store.Store, error) {
	once.Do(func() {
		embedded, err := store.Embedded()
		if err != nil {
			errStart = err
			return
		}
		stores = map[string]*store.Store{"embedded": embedded}
		if endpoint := os.Getenv(Reference); endpoint != "" {
			stores["reference"] = store.External(endpoint)
		}
		for _, s := range stores {
			if errStart = store.CreateTables(context.Background(), s.Client()); errStart != nil {
				return
			}
		}
		for _, t := range dynamo.Tables {
			errStart = os.Setenv(t.ID.EnvName(), store.TableName(t.ID))
		}
	})
	return stores, errStart
}

// Each runs the test as a subtest on each store.
func Each(t *testing.T, test func(t *testing.T, client *dynamodb.Client)) {
	t.Helper()
	all, err := start()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range all {
		t.Run(name, func(t *testing.T) { test(t, s.Client()) })
	}
}
