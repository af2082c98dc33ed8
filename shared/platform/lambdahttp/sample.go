package lambdahttp

import (
	"sync"
	"time"

	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
)

// flushAfter is the longest time that the metrics of successes are buffered.
const flushAfter = 10 * time.Second

// A sampler reduces the log of an operation with very many calls. A line and a metrics line for
// each call would cost more than the calls. So only a sample of the successes is logged. The
// metrics still count every call. They are buffered, and written when a line is full or when the
// last line is flushAfter old. When a container ends, it loses what it has buffered, at most the
// successes of its last flushAfter. A container with few calls loses nothing, because at each
// call its last line is old.
type sampler struct {
	env   Env
	op    Spec
	every int

	mu        sync.Mutex
	successes int
	durations []float64
	waits     time.Duration
	flushed   time.Time
}

func newSampler(env Env, op Spec) *sampler {
	return &sampler{env: env, op: op, every: env.Settings.Number(setting.LogSamplePolls)}
}

func (s *sampler) choose() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.successes++
	return s.successes%s.every == 0
}

// count adds a success to the metrics.
func (s *sampler) count(ms float64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.durations = append(s.durations, ms)
	s.waits += wait
	now := s.env.Now().Round(0) // the monotonic clock stops while a container is frozen
	if len(s.durations) < telemetry.MostValues && now.Sub(s.flushed) < flushAfter {
		return
	}
	metrics := []telemetry.Metric{
		{Name: "Calls", Value: float64(len(s.durations)), Unit: telemetry.Count},
		{Name: "Duration", Values: s.durations, Unit: telemetry.Milliseconds},
	}
	if s.waits > 0 {
		metrics = append(metrics, telemetry.Metric{Name: Waits, Value: s.waits.Seconds(), Unit: telemetry.Seconds})
	}
	telemetry.Emit(s.env.Metrics, now, map[string]string{"operation": s.op.ID}, metrics...)
	s.durations, s.waits, s.flushed = s.durations[:0], 0, now
}
