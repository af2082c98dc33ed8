package lambdahttp

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/telemetry"
)

// A line is the one log line of a call. It never contains a token or a body.
type line struct {
	s       *server
	start   time.Time
	cold    bool
	request string
	call    *Call
	code    problem.Code
	cause   error
	wait    time.Duration
}

// Waits is the metric of the seconds that answers ask callers to wait. Its sum over a period, divided by the period, is
// the number of callers that keep coming back, whatever each is asked to wait.
const Waits = "Waits"

// The metrics of calls that take long.
const (
	// Late is written for each call by people that takes lateAfter or longer. Of a fleet's calls the share counts, which
	// Lambda measures.
	Late = "Late"
	// NearTimeout is written for each call that takes nearShare of the function's time or longer.
	NearTimeout = "NearTimeout"

	lateAfter = time.Second
	nearShare = 0.8
)

func (s *server) begin(event events.APIGatewayProxyRequest) *line {
	return &line{s: s, start: s.env.Now(), cold: s.cold.Swap(false), request: event.RequestContext.RequestID}
}

func (l *line) problem(p *problem.Error) { l.code, l.cause = p.Code, p }

func (l *line) fail(err error) { l.code, l.cause = problem.ValidationFailed, err }

// end writes the line and the call's metrics. A refusal is logged as information, because an
// alarm on errors must mean a fault of the service. FORBIDDEN is logged as a warning, because it
// may be an attack.
func (l *line) end(ctx context.Context, status int) {
	duration := l.s.env.Now().Sub(l.start)
	own := duration
	if l.call != nil {
		own -= l.call.waited
	}
	ms := float64(duration.Microseconds()) / 1000
	near := l.s.op.Timeout > 0 && duration.Seconds() >= nearShare*l.s.op.Timeout.Seconds()
	sampled := l.s.sampler != nil && l.code == "" && !l.cold && !near
	if sampled && !l.s.sampler.choose() {
		l.s.sampler.count(l.wait)
		return
	}
	attributes := []slog.Attr{
		slog.String("operation", l.s.op.ID),
		slog.Int("status", status),
		slog.Float64("durationMs", ms),
		slog.Bool("coldStart", l.cold),
		slog.String("gatewayRequestId", l.request),
		slog.String("traceId", traceID(ctx)),
	}
	if l.call != nil {
		attributes = append(attributes, l.call.Attributes...)
	}
	level := slog.LevelInfo
	if l.code != "" {
		attributes = append(attributes, slog.String("code", string(l.code)), slog.String("cause", l.cause.Error()))
		switch {
		case status >= http.StatusInternalServerError:
			level = slog.LevelError
		case l.code == problem.Forbidden:
			level = slog.LevelWarn
		}
	}
	l.s.env.Log.LogAttrs(ctx, level, "call", attributes...)
	if sampled {
		l.s.sampler.count(l.wait)
		return
	}

	telemetry.Emit(l.s.env.Metrics, l.s.env.Now(), map[string]string{"operation": l.s.op.ID}, l.metrics(status, near, own)...)
}

// metrics are those of a call that is not sampled. near is set if it nearly took all of its time, and own is how long it took
// without what it waited on purpose.
func (l *line) metrics(status int, near bool, own time.Duration) []telemetry.Metric {
	metrics := []telemetry.Metric{telemetry.One("Calls")}
	if near {
		metrics = append(metrics, telemetry.One(NearTimeout))
	}
	if own >= lateAfter && l.s.op.People {
		metrics = append(metrics, telemetry.One(Late))
	}
	switch {
	case status >= http.StatusInternalServerError:
		metrics = append(metrics, telemetry.One("Failures"))
	case status == http.StatusTooManyRequests:
		metrics = append(metrics, telemetry.One("Limited"))
	case status >= http.StatusBadRequest:
		metrics = append(metrics, telemetry.One("Refusals"))
	}
	if l.wait > 0 {
		metrics = append(metrics, telemetry.Metric{Name: Waits, Value: l.wait.Seconds(), Unit: telemetry.Seconds})
	}
	if l.cold {
		metrics = append(metrics, telemetry.One("ColdStarts"))
	}
	return metrics
}

func traceID(ctx context.Context) string {
	if id, ok := ctx.Value("x-amzn-trace-id").(string); ok {
		return id
	}
	return os.Getenv("_X_AMZN_TRACE_ID")
}
