package dynamo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"wavegate/shared/platform/telemetry"
)

// The metrics of attempts that the store does not serve, also if a retry succeeds.
const (
	StoreErrors    = "StoreErrors"    // it fails, or does not answer
	StoreThrottled = "StoreThrottled" // it refuses, because there is too much traffic
)

// countFaults makes a client write one metric for each attempt that the store does not serve.
func countFaults(w io.Writer) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("CountFaults",
				func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
					out, metadata, err := next.HandleFinalize(ctx, in)
					if name := fault(ctx, out.Result, err); name != "" {
						telemetry.Emit(w, time.Now(), map[string]string{"call": middleware.GetOperationName(ctx)}, telemetry.One(name))
					}
					return out, metadata, err
				}), "Retry", middleware.After)
		})
	}
}

// throttles are the codes with which DynamoDB refuses calls, and parts of transactions.
var throttles = []string{"ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded", "ThrottlingException", "ThrottlingError",
	"RequestLimitExceeded"}

// fault is the metric of an attempt's fault; empty: it has none, or its caller ended it.
func fault(ctx context.Context, result any, err error) string {
	if err == nil {
		if batch, ok := result.(*dynamodb.BatchGetItemOutput); ok && len(batch.UnprocessedKeys) > 0 {
			return StoreThrottled
		}
		return ""
	}
	if cancelled := (*types.TransactionCanceledException)(nil); errors.As(err, &cancelled) {
		if slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
			return r.Code != nil && slices.Contains(throttles, *r.Code)
		}) {
			return StoreThrottled
		}
		return ""
	}
	if refused := smithy.APIError(nil); errors.As(err, &refused) && slices.Contains(throttles, refused.ErrorCode()) {
		return StoreThrottled
	}
	answer := (*awshttp.ResponseError)(nil)
	switch {
	case ctx.Err() != nil:
		return ""
	case errors.As(err, &answer) && answer.HTTPStatusCode() < http.StatusInternalServerError && answer.HTTPStatusCode() >= http.StatusBadRequest:
		return "" // the request's own fault, such as a condition that does not hold
	}
	return StoreErrors
}
