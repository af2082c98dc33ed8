package ratelimit

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A LimitUsage is one of a caller's limits and how much of it is used.
type LimitUsage struct {
	Policy        string     `json:"policy"`        // as in the RateLimit header
	Limit         int        `json:"limit"`         // requests in any windowSeconds
	WindowSeconds int        `json:"windowSeconds"` // 60
	Used          int        `json:"used"`
	Remaining     int        `json:"remaining"`
	ResetSeconds  int        `json:"resetSeconds"` // until more becomes free; 0 if nothing is used
	Arranged      bool       `json:"arranged"`     // support set an override
	ExpiresAt     *time.Time `json:"expiresAt,omitempty"`
}

// A Getter reads an item. *dynamodb.Client is one.
type Getter interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// ReadUsage reads the usage of a caller's limits without counting anything, and that of the limit of all boxes of the caller's
// organization. A box has no copilot limits. It returns UNAVAILABLE if the store does not answer.
func ReadUsage(ctx context.Context, api Getter, limits Limits, now time.Time, caller Caller) ([]LimitUsage, error) {
	class := Copilot
	if caller.Box {
		class = Ordinary
	}
	var subjects []subject
	for _, level := range New(Config{Limits: limits}).subjects(caller, class) {
		subjects = append(subjects, level...)
	}
	if caller.Organization != "" {
		subjects = append(subjects, subject{key: boxesKey(caller.Organization), policy: boxPolicy, limit: limits.Boxes})
	}
	usages := make([]LimitUsage, len(subjects))
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
			usages[i], err = usageOf(out.Item, s, limits, now)
			return err
		})
	}
	return usages, dynamo.Together(ctx, reads...)
}

func usageOf(stored map[string]types.AttributeValue, s subject, limits Limits, now time.Time) (LimitUsage, error) {
	if s.policy == boxPolicy {
		p, err := pageOf(stored)
		st := usage(p.override, s, now, p.Used(now.Unix()), time.Unix(p.Free(now.Unix(), p.Used(now.Unix())), 0))
		st.Limit = max(st.Limit, limits.User)
		st.Remaining = max(st.Limit-st.Used, 0)
		return st, err
	}
	r := slotLog
	it, err := r.decode(stored)
	at := r.at(now)
	return usage(it.override, s, now, r.used(it, at), r.expiry(r.oldestUsed(it, at))), err
}

func usage(o *counterOverride, s subject, now time.Time, used int, free time.Time) LimitUsage {
	st := LimitUsage{
		Policy: s.policy, Limit: item{override: o}.limit(now, s.limit), WindowSeconds: int(window / time.Second),
		Used: used, Arranged: o.inForce(now),
	}
	st.Remaining = max(st.Limit-st.Used, 0)
	if st.Used > 0 {
		st.ResetSeconds = int(slotLog.retryAfter(now, free) / time.Second)
	}
	if st.Arranged && !o.Ends.IsZero() {
		ends := o.Ends.UTC()
		st.ExpiresAt = &ends
	}
	return st
}
