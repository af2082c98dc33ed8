// Package dynamolocal provides the DynamoDB of local runs and tests: an embedded one, which needs nothing
// and starts at once, and Amazon's own DynamoDB Local as the reference. Both make their tables from
// the definitions that the stack uses.
package dynamolocal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"

	"wavegate/shared/platform/dynamo"
)

// Region is the region that clients of a local store name. The stores do not look at it.
const Region = "eu-central-1"

// A Store is a running DynamoDB, or the way to one.
type Store struct {
	// Kind says what it is, for people: "embedded", "DynamoDB Local", or "external".
	Kind string
	// Endpoint is its base URL.
	Endpoint string
	// IgnoresTokens says that a repeated transaction is applied again whatever its ClientRequestToken.
	IgnoresTokens bool

	close func() error
}

// Close ends the store if it was started here.
func (s *Store) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// External is a store that runs elsewhere.
func External(endpoint string) *Store { return &Store{Kind: "external", Endpoint: endpoint} }

// Embedded starts minidyn in this process, on a free loopback port. It keeps everything in memory
// and differs from DynamoDB in that it does not look at ClientRequestToken, gives no item with a
// cancelled transaction's reasons, reports no capacity and deletes nothing by TTL. That it also leaves
// in place what an update removes is made good here.
func Embedded() (*Store, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Handler: &removal{store: server.NewServer()}, ReadHeaderTimeout: 5 * time.Second}
	go s.Serve(listener) //nolint:errcheck // it ends by Close
	return &Store{Kind: "embedded", Endpoint: "http://" + listener.Addr().String(), IgnoresTokens: true, close: s.Close}, nil
}

// Client makes a client of an endpoint with the given access key.
func Client(endpoint, accessKey string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       Region,
		BaseEndpoint: aws.String(endpoint),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: "local"}, nil
		}),
	})
}

// Client makes a client that talks to the store itself.
func (s *Store) Client() *dynamodb.Client { return Client(s.Endpoint, "local") }

// TableName is the name of a table in a local store.
func TableName(id dynamo.TableID) string { return "wavegate-" + string(id) }

// Environment lists the variables that tell a function the names of the given tables.
func Environment(tables ...dynamo.TableID) []string {
	env := make([]string, len(tables))
	for i, id := range tables {
		env[i] = id.EnvName() + "=" + TableName(id)
	}
	return env
}

// CreateTables creates every table that is not there yet.
func CreateTables(ctx context.Context, db *dynamodb.Client) error {
	for _, t := range dynamo.Tables {
		_, err := db.CreateTable(ctx, t.CreateInput(TableName(t.ID)))
		if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
			return fmt.Errorf("create the table %s: %w", t.ID, err)
		}
	}
	return nil
}
