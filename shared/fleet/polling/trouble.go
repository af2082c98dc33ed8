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

// FrequentDollars is the metric of boxes that call too often: what each costs more, in dollars a month, at most once an hour.
const FrequentDollars = "FrequentDollars"

// A Frequent box was noted to call too often.
type Frequent struct {
	EdgeID, OrganizationID string
	report.Frequent
}

// Noted is what a write to a box's row noted of how often it calls; nil: nothing.
func Noted(was, is report.Row) *Frequent {
	often := is.Often()
	if often == nil || was.Frequent != nil && was.Frequent.At.Equal(often.At) {
		return nil
	}
	return &Frequent{is.EdgeID, is.OrganizationID, *often}
}

// Emit counts the box. The receiver may be nil.
func (f *Frequent) Emit(metrics io.Writer, at time.Time) {
	if f == nil {
		return
	}
	telemetry.Emit(metrics, at, map[string]string{"edgeId": f.EdgeID, "organizationId": f.OrganizationID},
		telemetry.Metric{Name: FrequentDollars, Value: f.DollarsPerMonth, Unit: telemetry.Count})
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
