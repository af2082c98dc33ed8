package lambdahttp_test

import (
	"encoding/json"
	"testing"
	"time"

	"wavegate/shared/platform/lambdahttp"
)

func TestCall_ThatTakesLong_IsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		people, sampled bool
		takes           time.Duration
		late, near      any
	}{
		"a person's":              {people: true, takes: time.Second, late: 1.0},
		"a person's, not long":    {people: true, takes: 999 * time.Millisecond},
		"a box's":                 {takes: 3 * time.Second},
		"a poll":                  {sampled: true, takes: 7999 * time.Millisecond},
		"one near the timeout":    {people: true, takes: 8 * time.Second, late: 1.0, near: 1.0},
		"a poll near the timeout": {sampled: true, takes: 8 * time.Second, near: 1.0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			now := noon
			b.env.Now = func() time.Time { return now }
			function := lambdahttp.New(lambdahttp.Spec{ID: "get-x", Sampled: c.sampled, Timeout: 10 * time.Second, People: c.people}, b.env,
				func(*lambdahttp.Call) (lambdahttp.Answer, error) {
					now = now.Add(c.takes)
					return lambdahttp.OK("x", ""), nil
				})
			for range 2 { // the first call of a container is a start, and is always written
				b.metrics.Reset()
				if _, err := function(t.Context(), event()); err != nil {
					t.Fatal(err)
				}
				now = now.Add(time.Minute)
			}
			var got map[string]any
			if err := json.Unmarshal(b.metrics.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s", err, b.metrics.String())
			}
			if got[lambdahttp.Late] != c.late || got[lambdahttp.NearTimeout] != c.near {
				t.Errorf("late: %v, near the timeout: %v, want %v and %v", got[lambdahttp.Late], got[lambdahttp.NearTimeout], c.late, c.near)
			}
		})
	}
}
