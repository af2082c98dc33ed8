package lambdahttp

import (
	"sync"
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/telemetry"
)

// flushAfter is how long successes may wait for their metrics to be written.
const flushAfter = 10 * time.Second

// A sampler spares an operation with very many calls most of its log: a line, and a line of metrics,
// for each call of a fleet would cost more than the calls. Of the successes one in so many is logged.
// Metrics still count every call: they are gathered and written together, when there are as many as a
// line takes, or when the last line is flushAfter old. A container that ends takes with it what it has
// not written, at most the successes of its last flushAfter; one that is hardly called takes nothing
// with it, since each of its calls finds the last line old.
type sampler struct {
	env   Env
	op    operations.Operation
	every int

	mu        sync.Mutex
	successes int
	durations []float64
	waits     time.Duration
	flushed   time.Time
}

func newSampler(env Env, op operations.Operation) *sampler {
	return &sampler{env: env, op: op, every: env.Settings.Number(setting.LogSamplePolls)}
}

// choose tells whether one more success is logged.
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
	now := s.env.Now().Round(0) // the monotonic clock stands still while a container is frozen
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
