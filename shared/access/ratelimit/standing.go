package ratelimit

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Standing is one of a caller's limits and how much of it is used.
type Standing struct {
	Policy        string     `json:"policy"`        // as in the RateLimit header
	Limit         int        `json:"limit"`         // requests in any windowSeconds
	WindowSeconds int        `json:"windowSeconds"` // 60
	Used          int        `json:"used"`
	Remaining     int        `json:"remaining"`
	ResetSeconds  int        `json:"resetSeconds"` // until more comes free; 0: nothing is used
	Arranged      bool       `json:"arranged"`     // the limit was arranged with support
	ExpiresAt     *time.Time `json:"expiresAt,omitempty"`
}

// A Getter reads an item. *dynamodb.Client is one.
type Getter interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Standings reads how a caller stands, without counting anything. A box has no copilot. A store that
// does not answer is UNAVAILABLE.
func Standings(ctx context.Context, api Getter, limits Limits, now time.Time, caller Caller) ([]Standing, error) {
	class := operations.Copilot
	if caller.Box {
		class = operations.Ordinary
	}
	var subjects []subject
	for _, level := range New(Config{Limits: limits}).subjects(caller, class) {
		subjects = append(subjects, level...)
	}
	standings := make([]Standing, len(subjects))
	var reads []func(context.Context) error
	for i, s := range subjects {
		reads = append(reads, func(ctx context.Context) error {
			out, err := api.GetItem(ctx, &dynamodb.GetItemInput{
				TableName:      aws.String(dynamo.RateCounters.Name()),
				Key:            map[string]types.AttributeValue{attrSubject: &types.AttributeValueMemberS{Value: s.key}},
				ConsistentRead: aws.Bool(true),
			})
			if err != nil {
				return problem.Wrap(fmt.Errorf("ratelimit: read a counter: %w", err), problem.Unavailable,
					"The limits cannot be read at the moment.").After(time.Second)
			}
			it, err := slotLog.decode(out.Item)
			standings[i] = slotLog.standing(it, s, now)
			return err
		})
	}
	return standings, dynamo.Together(ctx, reads...)
}

func (r rules) standing(it item, s subject, now time.Time) Standing {
	st := Standing{
		Policy: s.policy, Limit: it.limit(now, s.limit), WindowSeconds: int(Window / time.Second),
		Used: r.used(it, r.at(now)), Arranged: it.override.lasts(now),
	}
	st.Remaining = max(st.Limit-st.Used, 0)
	if st.Used > 0 {
		st.ResetSeconds = int(r.retryAfter(now, r.expiry(r.oldestUsed(it, r.at(now)))) / time.Second)
	}
	if st.Arranged && !it.override.Ends.IsZero() {
		ends := it.override.Ends.UTC()
		st.ExpiresAt = &ends
	}
	return st
}
