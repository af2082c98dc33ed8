// Package dynamo is the service's way to DynamoDB: the client, the table definitions, strongly
// consistent reads and the one transaction helper through which every change goes.
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

// API names the calls that the service makes. *dynamodb.Client has them.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// NewClient makes a client from the variables that Lambda gives every function: AWS_REGION, the
// credentials, and AWS_ENDPOINT_URL_DYNAMODB where the store is not AWS's own. The SDK's config
// module is left out on purpose: loading it more than doubles a function's start-up. For the same
// reason go.mod keeps service/dynamodb at v1.68.0, with the attributevalue and dynamodbstreams of its
// day: from v1.69.0 on it builds tables of every shape that it knows when a process starts, and a
// function's start takes 1.6 times that of an empty one instead of 1.35 times. Whether a later
// version does without can be seen with ./scripts/benchmarks/run startup.
func NewClient() *dynamodb.Client {
	o := dynamodb.Options{
		Region:      os.Getenv("AWS_REGION"),
		Credentials: credentials.FromEnvironment(),
		HTTPClient:  &http.Client{Transport: transport()},
		// Four attempts within about a second: enough for a passing fault, and short enough that the
		// caller hears of a lasting one before its own patience ends.
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 4
			o.MaxBackoff = 500 * time.Millisecond
		}),
	}
	if url := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"); url != "" {
		o.BaseEndpoint = aws.String(url)
	}
	return dynamodb.New(o)
}

// idleTime is how long a connection is kept that nobody uses. DynamoDB closes one after about a minute, and a
// container that was frozen meanwhile would send its next request into it. net/http goes by the wall clock
// here, so time in which a container was frozen counts.
const idleTime = 45 * time.Second

// transport keeps enough idle connections for the reads that a call makes side by side. A store
// that does not answer within two seconds is tried again on another connection.
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
