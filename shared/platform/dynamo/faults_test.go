package dynamo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/testing/expect"
)

// TestCountFaults_EachAttempt_IsCounted: a retry hides a fault from the caller, and not from the alarm.
func TestCountFaults_EachAttempt_IsCounted(t *testing.T) {
	refusal := func(code string) string {
		return `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"no"}`
	}
	reasons := func(codes string) string {
		return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no","CancellationReasons":[` + codes + `]}`
	}
	get := func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("x"), Key: map[string]types.AttributeValue{}})
		return err
	}
	batch := func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"x": {Keys: []map[string]types.AttributeValue{{}}}}})
		return err
	}
	commit := func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{}}})
		return err
	}
	for name, c := range map[string]struct {
		call              func(context.Context, *dynamodb.Client) error
		status            int
		body              string
		errors, throttled int
	}{
		"an answer":                    {get, 200, `{}`, 0, 0},
		"a condition that fails":       {get, 400, refusal("ConditionalCheckFailedException"), 0, 0},
		"a busy partition":             {get, 400, refusal("ProvisionedThroughputExceededException"), 0, 3},
		"an account's rate":            {get, 400, refusal("ThrottlingException"), 0, 3},
		"a fault of the store":         {get, 500, refusal("InternalServerError"), 3, 0},
		"no service":                   {get, 503, ``, 3, 0},
		"no answer":                    {get, 0, ``, 3, 0},
		"a transaction that conflicts": {commit, 400, reasons(`{"Code":"TransactionConflict"}`), 0, 0},
		"a transaction that is busy":   {commit, 400, reasons(`{"Code":"None"},{"Code":"ThrottlingError"}`), 0, 1},
		"a batch that omits keys":      {batch, 200, `{"Responses":{},"UnprocessedKeys":{"x":{"Keys":[{"k":{"S":"a"}}]}}}`, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer server.Close()
			var out strings.Builder
			client := dynamodb.New(dynamodb.Options{
				Region: "eu-central-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}, DisableValidateResponseChecksum: true,
				Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 3, time.Millisecond }),
			}, countFaults(&out))
			if err := c.call(t.Context(), client); (err == nil) != (c.status == 200) {
				t.Fatal(err)
			}
			errors, throttled := 0, 0
			for line := range strings.Lines(out.String()) {
				var m struct{ StoreErrors, StoreThrottled int }
				expect.OK(t, json.Unmarshal([]byte(line), &m))
				errors, throttled = errors+m.StoreErrors, throttled+m.StoreThrottled
			}
			expect.That(t, errors == c.errors && throttled == c.throttled,
				"%d errors and %d throttles, want %d and %d", errors, throttled, c.errors, c.throttled)
		})
	}
}

func TestCountFaults_ACallerThatLeaves_IsNoFault(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the caller leaves
		<-r.Context().Done()
	}))
	defer server.Close()
	var out strings.Builder
	client := dynamodb.New(dynamodb.Options{Region: "eu-central-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}}, countFaults(&out))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("x"), Key: map[string]types.AttributeValue{}})
	expect.That(t, err != nil && out.Len() == 0, "%v, and %s", err, out.String())
}
