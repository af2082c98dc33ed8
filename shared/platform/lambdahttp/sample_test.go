package lambdahttp_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/testing/expect"
)

// figures adds up the calls in the metrics that were written, and counts the lines.
func figures(t *testing.T, text string) (calls float64, lines int) {
	t.Helper()
	for line := range strings.Lines(text) {
		var m struct{ Calls float64 }
		err := json.Unmarshal([]byte(line), &m)
		expect.Must(t, err == nil, "%v: %s", err, line)
		lines++
		calls += m.Calls
	}
	return calls, lines
}

// sampled makes calls of an operation with the given sample, and moves the clock by step after
// each.
func sampled(t *testing.T, calls, every int, step time.Duration, handle lambdahttp.Handler) *bench {
	t.Helper()
	b := newBench()
	now := noon
	b.env.Now = func() time.Time { return now }
	t.Setenv("LOG_SAMPLE_POLLS", strconv.Itoa(every))
	op := lambdahttp.Spec{ID: "get-rollout", Sampled: true}
	function := lambdahttp.New(op, b.env, handle)
	for range calls {
		expect.Value(function(t.Context(), event()))(t)
		now = now.Add(step)
	}
	return b
}

func TestSampled_Successes_AreLoggedBySampleAndAllCounted(t *testing.T) {
	// The first call of a container is always logged, to record the start. That leaves 1,000.
	b := sampled(t, 1001, 100, time.Millisecond, answers("x"))
	n := strings.Count(b.log.String(), "\n")
	expect.That(t, n == 1+10, "%d lines, want 11", n)
	if calls, _ := figures(t, b.metrics.String()); calls > 1001 {
		t.Errorf("the metrics count %v of 1,001 calls", calls)
	}
}

// TestSampled_MetricsOfSuccesses_AreBufferedForTenSeconds: what is buffered may be lost with its container.
func TestSampled_MetricsOfSuccesses_AreBufferedForTenSeconds(t *testing.T) {
	b := sampled(t, 2001, 100, 10*time.Millisecond, answers("x"))
	if calls, lines := figures(t, b.metrics.String()); calls < 1001 || calls > 2001 || lines > 4 {
		t.Errorf("%v of 2,001 calls in 20 s are counted, in %d lines", calls, lines)
	}
}

func TestSampled_Failures_AreAllLogged(t *testing.T) {
	b := sampled(t, 50, 100, time.Millisecond, func(*lambdahttp.Call) (lambdahttp.Answer, error) {
		return lambdahttp.Answer{}, errors.New("no")
	})
	n := strings.Count(b.log.String(), `"level":"ERROR"`)
	expect.That(t, n == 50, "%d lines, want 50", n)
	calls, lines := figures(t, b.metrics.String())
	expect.That(t, calls == 50 && lines == 50, "%v calls in %d lines of metrics, want 50 each", calls, lines)
}

func TestSampled_ContainerWithFewCalls_BuffersNoMetrics(t *testing.T) {
	b := sampled(t, 5, 100, time.Minute, answers("x"))
	calls, _ := figures(t, b.metrics.String())
	expect.That(t, calls == 5, "the metrics count %v of 5 calls", calls)
}

func TestSampled_EverySuccess_WhenTheSampleIsOne(t *testing.T) {
	b := sampled(t, 7, 1, time.Millisecond, answers("x"))
	n := strings.Count(b.log.String(), "\n")
	expect.That(t, n == 7, "%d lines, want 7", n)
}

// TestWaits_AreSummedUp_SampledOrNot: the sum over a period, divided by the period, is the number of callers that come
// back.
func TestWaits_AreSummedUp_SampledOrNot(t *testing.T) {
	for name, every := range map[string]int{"sampled": 100, "each logged": 1} {
		t.Run(name, func(t *testing.T) {
			b := sampled(t, 12, every, time.Minute, func(*lambdahttp.Call) (lambdahttp.Answer, error) {
				return lambdahttp.Answer{Status: 200, Body: "x", Wait: 5 * time.Minute}, nil
			})
			sum := 0.0
			for line := range strings.Lines(b.metrics.String()) {
				var m struct{ Waits float64 }
				expect.OK(t, json.Unmarshal([]byte(line), &m))
				sum += m.Waits
			}
			expect.That(t, sum == 12*300, "the waits are %v s, want 12 of 300 s", sum)
		})
	}
}

func TestWaits_OfARefusal_AreNotCounted(t *testing.T) {
	b := sampled(t, 3, 1, time.Minute, func(*lambdahttp.Call) (lambdahttp.Answer, error) {
		return lambdahttp.Answer{Wait: time.Minute}, errors.New("no")
	})
	expect.That(t, !strings.Contains(b.metrics.String(), lambdahttp.Waits), "counted %s", b.metrics.String())
}
