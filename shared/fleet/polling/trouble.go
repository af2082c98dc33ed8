package polling

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/telemetry"
)

// NotRecorded is the metric of polls with a report that could not be written in time. Such a poll is answered without a
// receipt, or, for a DDI client, without anything new.
const NotRecorded = "ReportNotRecorded"

// Warn logs and counts a poll of an operation that could not be recorded, unless the box was registered again meanwhile:
// then its next poll reports the same. unrecorded may be nil.
func Warn(ctx context.Context, log *slog.Logger, metrics io.Writer, at time.Time, operation string, unrecorded error) {
	if unrecorded == nil || errors.Is(unrecorded, report.ErrOutdated) {
		return
	}
	log.LogAttrs(ctx, slog.LevelWarn, "the report was not recorded", slog.String("cause", unrecorded.Error()))
	telemetry.Emit(metrics, at, map[string]string{"operation": operation}, telemetry.One(NotRecorded))
}

// Outdated asks a caller to come back if its box was registered again while the call ran.
func Outdated(err error) error {
	if errors.Is(err, report.ErrOutdated) {
		return problem.Wrap(err, problem.Unavailable, "The box was registered again a moment ago; try again after the given time.").After(time.Second)
	}
	return err
}

// Spread makes the boxes that the busy store turned away come back over a minute, not all at once.
func Spread(err error) error {
	if problem.Has(err, problem.Unavailable) {
		return problem.From(err).After(time.Second + rand.N(time.Minute))
	}
	return err
}
