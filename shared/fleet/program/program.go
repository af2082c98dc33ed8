// Package program says what a program such as a CI job may do. It acts for the platform owner: it publishes, and starts
// rollouts under the default policy, on the channels that the settings list. Whoever steals its token can do only that:
// not end a guard, override a freeze or move a rollout. Only if the settings say so can it end a rollout of somebody else
// by a publication, and the settings can list the hosts of its artifacts.
package program

import (
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// MayPublish returns FORBIDDEN if the caller is a program that may not make a publication in this way.
func MayPublish(caller auth.Principal, p release.Publication, g audit.Grounds) error {
	switch {
	case caller.Has(auth.PlatformOwner):
		return nil
	case !caller.MayPublish(p.EdgeType, p.Channel):
		return problem.New(problem.Forbidden, "The settings do not list %s/%s among the channels on which this program may publish.", p.EdgeType, p.Channel)
	case p.ArtifactURL != "" && p.KeptAt == "" && !caller.MayFetchFrom(p.ArtifactURL): // one by name alone is asked again with its address
		return problem.New(problem.Forbidden, "The settings do not list the host of artifactUrl among the hosts of this program.")
	case p.ArtifactHTTPURL != "" && !caller.MayFetchFrom(p.ArtifactHTTPURL):
		return problem.New(problem.Forbidden, "The settings do not list the host of artifactHttpUrl among the hosts of this program.")
	case slices.ContainsFunc(p.Documents, func(d release.Document) bool { return d.URL != "" && !caller.MayFetchFrom(d.URL) }):
		return problem.New(problem.Forbidden, "The settings do not list the host of a document among the hosts of this program.")
	case p.Hurries() || p.Urgent:
		return problem.New(problem.Forbidden, "A program cannot publish a security release, which soaks for a shorter time, nor one that is urgent or has a deadline of less than P7D. "+
			"Omit these, or let a platform owner make the call.")
	case g.OverrideReason != "" && !caller.MayOverride(p.EdgeType, p.Channel):
		return problem.New(problem.Forbidden, "The settings do not allow this program to override anything on %s/%s. "+
			"Omit overrideReason, or let a platform owner make the call.", p.EdgeType, p.Channel)
	}
	return nil
}

// Bound returns FORBIDDEN if a caller is a program that may not change a release or an artifact: a channel on which the
// program may not publish carries it. elsewhere names that channel; empty: there is none.
func Bound(elsewhere, what string) error {
	if elsewhere == "" {
		return nil
	}
	return problem.New(problem.Forbidden, "The channel %s, on which this program may not publish, carries %s, so it cannot be changed by this program. "+
		"Say nothing else than is known of it, or let a platform owner make the call.", elsewhere, what)
}

// Grounds are the grounds on which a caller passes a freeze. No program overrides one, whatever reason it gives.
func Grounds(from audit.Origin) audit.Grounds {
	if Is(from) {
		return audit.Grounds{}
	}
	return from.Grounds
}

// MayEnd returns ROLLOUT_ACTIVE if a program would end a rollout that it did not start, without a reason to override.
// MayPublish has checked that it may give one.
func MayEnd(from audit.Origin, startedBy audit.Person) error {
	if !Is(from) || startedBy == from.Actor.Person() || from.Grounds.OverrideReason != "" {
		return nil
	}
	return problem.New(problem.RolloutActive, "The publication would end a rollout that this program did not start. "+
		"Wait for its end, let a platform owner make the call, or give an overrideReason if the settings allow that.")
}

// Is reports whether a program calls.
func Is(from audit.Origin) bool {
	return slices.Contains(from.Actor.Roles, auth.Program) && !slices.Contains(from.Actor.Roles, auth.PlatformOwner)
}

// MayStart returns FORBIDDEN if the caller is a program that may not start a rollout on a channel in this way.
// ownPolicy is set if the call does not leave the choice of the policy to the default.
func MayStart(caller auth.Principal, edgeType, channel string, ownPolicy, urgent bool, g audit.Grounds) error {
	switch {
	case caller.Has(auth.PlatformOwner):
		return nil
	case !caller.MayStart(edgeType, channel):
		return problem.New(problem.Forbidden, "The settings do not list %s/%s among the channels on which this program may start a rollout.", edgeType, channel)
	case ownPolicy:
		return problem.New(problem.Forbidden, "A program starts rollouts with the default policy. Omit policy; a platform owner can change it afterwards.")
	}
	if urgent {
		return problem.New(problem.Forbidden, "A program cannot start an urgent rollout. Omit urgent, or let a platform owner make the call.")
	}
	if g.OverrideReason != "" {
		return problem.New(problem.Forbidden, "A program cannot override a freeze. Omit overrideReason, or let a platform owner make the call.")
	}
	return nil
}
