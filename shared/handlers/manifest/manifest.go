// Package manifest answers a box's poll with what it should run, at the API and at the door. Nearly all traffic of a fleet
// is such polls. polling.Polls says what a poll costs, and decide.Decide which version a box gets.
package manifest

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/bell/keys"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/function"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/secret"
	"wavegate/shared/ratelimit"
)

// Handle makes the handler.
func Handle(env lambdahttp.Env) function.Handler[polling.Poll] {
	counts, secrets := census.NewCountedSizes(env.DB), keys.Read(env.Settings, secret.NewClient(), env.Now)
	polls := polling.NewPolls(env.DB, polling.ReadSettings(env.Settings), ratelimit.LastSeen(env.API), env.Now).
		With(polling.NewListening(env.Settings, secrets, counts.Of, env.Now))
	return func(c *function.Call, poll polling.Poll) (lambdahttp.Answer, error) {
		if err := boxauth.Named(c.Caller, poll.EdgeID, auth.PlatformOwner); err != nil {
			return lambdahttp.Answer{}, err
		}
		poll.Caller, poll.Tag = c.Caller.User(), strings.Join(c.Request.Header.Values("If-None-Match"), ", ")
		if !c.Caller.Has(auth.PlatformOwner) { // a platform owner may view any box
			poll.Speaker = c.Caller
		}
		if c.Caller.Has(auth.Edge) && c.Caller.UserID == poll.EdgeID {
			poll.Subject = ratelimit.Subject(c.Caller.Counted())
			poll.Calls = c.Calls
		}
		reply, err := polls.Answer(c.Context(), poll)
		polling.Warn(c.Context(), env.Log, env.Metrics, env.Now(), "get-manifest", reply.Unrecorded)
		reply.Frequent.Emit(env.Metrics, env.Now())
		if reply.NoBell != nil {
			env.Log.LogAttrs(c.Context(), slog.LevelWarn, "the box is not told where to listen", slog.String("cause", reply.NoBell.Error()))
		}
		if err != nil {
			return lambdahttp.Answer{}, polling.Spread(err)
		}
		var wait time.Duration
		if poll.Subject != "" { // a person viewing a manifest is not polling
			wait = time.Duration(reply.Manifest.PollIntervalSeconds) * time.Second
		}
		// Nothing may cache the answer. Its entity tag is that of the box's last answer, whatever its URL was, so a
		// cache keyed by URLs would send an old one.
		return lambdahttp.Answer{
			Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}},
			ETag: reply.ETag, NotModified: &reply.NotModified, Body: reply.Body,
			Wait: wait,
		}, nil
	}
}
