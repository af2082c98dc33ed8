package proof

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/dynamotest"
)

// reference is a DynamoDB Local for this package only, because audits read all tables.
var reference = sync.OnceValues(func() (*dynamolocal.Store, error) {
	return dynamolocal.Reference(context.Background(), dynamolocal.ReferenceOptions{Progress: os.Stderr})
})

// used is set once a test has used it.
var used bool

// onReference runs a test on DynamoDB Local if ./scripts/test full found that this machine can run
// it.
func onReference(t *testing.T, test func(*dynamolocal.Store)) {
	t.Helper()
	if os.Getenv(dynamotest.Reference) == "" {
		t.Skipf("%s is not set; ./scripts/test full starts DynamoDB Local and sets it", dynamotest.Reference)
	}
	used = true
	s, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	empty(t, s)
	test(s)
}

func empty(t *testing.T, s *dynamolocal.Store) {
	t.Helper()
	for _, table := range dynamo.Tables {
		// An error means that there is no such table.
		_, _ = s.Client().DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(dynamolocal.TableName(table.ID))})
	}
}
