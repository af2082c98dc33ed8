package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/problem"
)

type down struct{}

func (down) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return nil, errors.New("connection reset")
}

func TestStandings_StoreDown_IsUnavailableAndNoFaultOfOurs(t *testing.T) {
	_, err := ratelimit.Standings(t.Context(), down{}, ratelimit.Limits{User: 600, Organization: 6000}, time.Now(), ratelimit.Caller{User: "eric", Organization: "acme"})
	if p := problem.From(err); p.Code != problem.Unavailable || p.RetryAfter <= 0 {
		t.Errorf("got %v, want UNAVAILABLE with a time to wait", err)
	}
}
