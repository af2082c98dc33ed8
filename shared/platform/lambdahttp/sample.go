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
// metrics still count every call. They are buffered, and written when the last line is flushAfter old. When a container ends, it loses what it has buffered, at most the
// successes of its last flushAfter. A container with few calls loses nothing, because at each
// call its last line is old.
type sampler struct {
	env   Env
	op    Spec
	every int

	mu        sync.Mutex
	successes int // since the container's start
	calls     int // not yet written
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
func (s *sampler) count(wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.waits += wait
	now := s.env.Now().Round(0) // the monotonic clock stops while a container is frozen
	if now.Sub(s.flushed) < flushAfter {
		return
	}
	metrics := []telemetry.Metric{{Name: "Calls", Value: float64(s.calls), Unit: telemetry.Count}}
	if s.waits > 0 {
		metrics = append(metrics, telemetry.Metric{Name: Waits, Value: s.waits.Seconds(), Unit: telemetry.Seconds})
	}
	telemetry.Emit(s.env.Metrics, now, map[string]string{"operation": s.op.ID}, metrics...)
	s.calls, s.waits, s.flushed = 0, 0, now
}
