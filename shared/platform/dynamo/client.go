// Package dynamo is the service's access to DynamoDB. It has the client, the table definitions,
// strongly consistent reads and Commit, the transaction that every change uses.
package dynamo

import (
	"context"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/credentials"
)

// API lists the calls that the service makes. *dynamodb.Client implements it.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// NewClient makes a client from the variables that Lambda sets: AWS_REGION, the credentials, and
// AWS_ENDPOINT_URL_DYNAMODB if the store is not AWS's own.
//
// It does not use the SDK's config module, which more than doubles a function's start-up time.
// For the same reason go.mod keeps service/dynamodb at v1.68.0, with attributevalue and
// dynamodbstreams of the same date. From v1.69.0 on, the module builds tables of all its types
// when a process starts. When it was tried on 2026-11-20, a function's start took 1.6 times that
// of an empty function instead of 1.35 times (scripts/lab/benchmarks/results/startup.md).
func NewClient() *dynamodb.Client {
	o := dynamodb.Options{
		Region:      os.Getenv("AWS_REGION"),
		Credentials: credentials.FromEnvironment(),
		HTTPClient:  &http.Client{Transport: transport()},
		// TLS detects changes on the way. The SDK's own checksum costs a poll some processor time.
		DisableValidateResponseChecksum: true,
		// Four attempts take about a second. That survives a short failure, and reports a
		// lasting one before the caller's own timeout.
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 4
			o.MaxBackoff = 500 * time.Millisecond
		}),
	}
	if url := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"); url != "" {
		o.BaseEndpoint = aws.String(url)
	}
	return dynamodb.New(o, countFaults(os.Stdout))
}

// idleTime is how long an idle connection is kept. DynamoDB closes it after about a minute, and
// a container that was frozen in the meantime would send its next request into a closed
// connection. net/http uses the wall clock here, so frozen time counts.
const idleTime = 45 * time.Second

// transport keeps enough idle connections for a call's parallel reads. If the store does not
// answer within two seconds, the request is retried on another connection.
func transport() *http.Transport {
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   time.Second,
		ResponseHeaderTimeout: 2 * time.Second,
		MaxIdleConns:          16,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       idleTime,
		ForceAttemptHTTP2:     false,
	}
}
