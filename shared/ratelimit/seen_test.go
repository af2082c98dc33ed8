package ratelimit

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

func TestLastSeen_IsTheLastAdmittedCall_WithinHalfASecond(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		user := "https://fleet.example " + uuid.NewString()
		if seen, err := LastSeen(client)(t.Context(), Subject(user)); err != nil || !seen.IsZero() {
			t.Fatalf("a box that never called was seen at %v, %v", seen, err)
		}
		now := time.Now()
		limiter := New(Config{Store: client, Limits: Limits{User: 3}, Clock: func() time.Time { return now }, Deadline: 10 * time.Second})
		steps := []struct {
			gap  time.Duration
			want Ruling
		}{
			{0, Admitted}, {time.Second, Admitted}, {700 * time.Millisecond, Admitted}, {10 * time.Second, Rejected},
			{time.Minute, Admitted}, {time.Hour, Admitted}, {34 * 24 * time.Hour, Admitted}, {34*time.Minute + 8*time.Second, Admitted},
		}
		var last time.Time // admitted
		for _, step := range steps {
			now = now.Add(step.gap)
			d := limiter.Admit(t.Context(), Caller{User: user, Box: true}, Ordinary)
			expect.Equal(t, d.Outcome, step.want, "after %v, the call is", step.gap)
			if step.want == Admitted {
				last = now
			}
			seen, err := LastSeen(client)(t.Context(), Subject(user))
			if age := last.Sub(seen); err != nil || age < 0 || age >= 500*time.Millisecond {
				t.Fatalf("seen at %v, %v, called at %v", seen, err, last)
			}
		}
	})
}

func TestRoll_ItemOfABoxThatPolls_KeepsItsTTLFor35Days(t *testing.T) {
	m := newModel(slotLog)
	now := epoch
	for range 200 {
		a := slotLog.begin(now, 600)
		for {
			it, applied, err := m.apply(t.Context(), subjectKey, a.next)
			expect.OK(t, err)
			if _, done := a.answered(it, applied); done {
				break
			}
		}
		s := m.items[subjectKey]
		if days := time.Unix(s.ttl, 0).Sub(now).Hours() / 24; days < 34.9 || days > 35.1 {
			t.Fatalf("the item is kept for %.1f days", days)
		}
		if bytes := size(subjectKey, s); bytes > 600 {
			t.Fatalf("the item of a box that polls each minute has %d bytes", bytes)
		}
		now = now.Add(time.Minute)
	}
}
