// Package dynamolocal provides the DynamoDB of local runs and tests: an embedded store, which starts immediately, and a
// reference, Amazon's DynamoDB Local. README.md says where they differ from AWS. Both create their tables from the
// definitions of the stack.
package dynamolocal

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
)

// A Store is a running store, started here or elsewhere.
type Store struct {
	// Kind names the store for people: "embedded", "DynamoDB Local", or "external".
	Kind string
	// Endpoint is its base URL.
	Endpoint string

	close func() error
}

// Close stops the store if it was started here.
func (s *Store) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// External is a store that was started elsewhere.
func External(endpoint string) *Store { return &Store{Kind: "external", Endpoint: endpoint} }

// TableName is the name of a table in a local store.
func TableName(id dynamo.TableID) string { return "wavegate-" + string(id) }

// Environment lists the variables that give a function the names of the given tables.
func Environment(tables ...dynamo.TableID) []string {
	env := make([]string, len(tables))
	for i, id := range tables {
		env[i] = id.EnvName() + "=" + TableName(id)
	}
	return env
}

// CreateTables creates the tables that do not exist yet.
func CreateTables(ctx context.Context, db *dynamodb.Client) error {
	for _, t := range dynamo.Tables {
		_, err := db.CreateTable(ctx, t.CreateInput(TableName(t.ID)))
		if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
			return fmt.Errorf("create the table %s: %w", t.ID, err)
		}
	}
	return nil
}
