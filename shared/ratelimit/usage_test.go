package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/problem"
	"wavegate/shared/ratelimit"
)

type failingGetter struct{}

func (failingGetter) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return nil, errors.New("connection reset")
}

func TestReadUsage_StoreDown_IsUnavailableAndNotOurFault(t *testing.T) {
	_, err := ratelimit.ReadUsage(t.Context(), failingGetter{}, ratelimit.Limits{User: 600, Organization: 6000}, time.Now(), ratelimit.Caller{User: "eric", Organization: "acme"})
	if p := problem.From(err); p.Code != problem.Unavailable || p.RetryAfter <= 0 {
		t.Errorf("got %v, want UNAVAILABLE with a time to wait", err)
	}
}
