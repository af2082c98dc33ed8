// Command tick counts the boxes of the active rollouts, and has the guard judge and move those that have a policy. Then
// it notifies people of unconfirmed recalls and ends of supports, and removes artifacts that nobody needs. A schedule calls it once a
// minute; see census.Store.Tick, method.Store.TellUnconfirmed, census.Reader.WarnOfSupport and artifact.Store.Sweep.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/usage"
	"wavegate/shared/function"
	"wavegate/shared/operations/progress"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/telemetry"
	"wavegate/shared/production/method"
	"wavegate/shared/ratelimit"
	"wavegate/shared/trail/audit"
)

func main() { function.RunTask(progress.Tick, wire) }

func wire(env lambdahttp.Env) function.TaskFunc {
	store := census.NewStore(env.DB, census.ReadSettings(env.Settings), ratelimit.LastSeen(env.API))
	methods := method.NewStore(env.DB)
	sweeps := sweeper{artifact.NewStore(env.DB, artifact.ReadBucket(env.Settings, env.Now, env.Metrics)),
		usage.NewFinder(env.DB, census.ReadSettings(env.Settings)), env, time.Time{}}
	var supported time.Time // when the ends of supports were last looked at
	return func(ctx context.Context) error {
		run := ""
		if c, ok := lambdacontext.FromContext(ctx); ok {
			run = c.AwsRequestID
		}
		tally, err := store.Tick(ctx, census.GuardOrigin(run))
		unconfirmed, faults := methods.TellUnconfirmed(ctx, census.GuardOrigin(run))
		if now := env.Now(); now.Sub(supported) >= time.Hour {
			if ended := store.WarnOfSupport(ctx, census.GuardOrigin(run)); ended != nil {
				faults = errors.Join(faults, ended)
			} else {
				supported = now
			}
		}
		env.Log.InfoContext(ctx, "ticked", "active", tally.Active, "counted", tally.Counted, "oldest", tally.Oldest.String(),
			"verdicts", tally.Verdicts, "acted", tally.Acted, "unreadable", tally.Unreadable.Items, "unconfirmed", unconfirmed)
		for _, cause := range tally.Unreadable.Causes {
			env.Log.ErrorContext(ctx, "left out what cannot be read", "cause", cause.Error())
		}
		telemetry.Emit(env.Metrics, env.Now(), nil, metrics(tally)...)
		sweeps.sweep(ctx, census.GuardOrigin(run))
		return errors.Join(err, faults)
	}
}

// A sweeper removes artifacts: once an hour in each container, and again at the next tick while some are left.
type sweeper struct {
	artifacts *artifact.Store
	finder    *usage.Finder
	env       lambdahttp.Env
	last      time.Time // when none was left
}

// sweep fails no tick: its faults are logged, and the store of the bytes counts its own.
func (s *sweeper) sweep(ctx context.Context, from audit.Origin) {
	now := s.env.Now()
	if now.Sub(s.last) < time.Hour {
		return
	}
	if end, bounded := ctx.Deadline(); bounded { // before Lambda ends the tick
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-2*time.Second))
		defer cancel()
	}
	all, err := s.artifacts.Sweep(ctx, from, s.finder.Of)
	if err != nil {
		s.env.Log.ErrorContext(ctx, "some artifacts are not removed", "cause", err.Error())
	}
	if all {
		s.last = now
	}
}

// metrics are what a tick reports. It reports the ages only if the rollouts could be listed, because the alarm treats
// missing ages as bad. If a rollout's count or verdict fails, its age keeps growing.
func metrics(t census.Tally) []telemetry.Metric {
	var list []telemetry.Metric
	for _, m := range []telemetry.Metric{
		// Rollouts that have waited for a person for ten counts, who may not know.
		{Name: "NeedPerson", Value: float64(t.NeedPerson), Unit: telemetry.Count},
		// Rollouts whose release seems to go bad now that every box has it or is offered it.
		{Name: "GoneBad", Value: float64(t.Paging), Unit: telemetry.Count},
		// Rollouts and boxes that cannot be read.
		{Name: "Unreadable", Value: float64(t.Unreadable.Items), Unit: telemetry.Count},
	} {
		if m.Value > 0 { // a metric costs nothing while it is not written
			list = append(list, m)
		}
	}
	if t.Listed {
		// The age of the oldest count of an active rollout, and of the oldest verdict on one with a policy; 0 if there
		// is none.
		list = append(list, telemetry.Metric{Name: "ProgressAge", Value: t.Oldest.Seconds(), Unit: telemetry.Seconds},
			telemetry.Metric{Name: "VerdictAge", Value: t.OldestVerdict.Seconds(), Unit: telemetry.Seconds})
	}
	return list
}
