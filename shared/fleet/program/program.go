// Package program says what a program such as a CI job may do. It acts for the platform owner: it publishes, and starts
// rollouts under the default policy, on the channels that the settings list. Whoever steals its token can do only that:
// not end a guard, override a freeze or move a rollout.
package program

import (
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// MayPublish returns FORBIDDEN if the caller is a program that may not publish on a channel in this way.
func MayPublish(caller auth.Principal, edgeType, channel string, g audit.Grounds) error {
	switch {
	case caller.Has(auth.PlatformOwner):
		return nil
	case !caller.MayPublish(edgeType, channel):
		return problem.New(problem.Forbidden, "The settings do not list %s/%s among the channels on which this program may publish.", edgeType, channel)
	}
	return noOverride(g)
}

// MayStart returns FORBIDDEN if the caller is a program that may not start a rollout on a channel in this way.
// ownPolicy is set if the call does not leave the choice of the policy to the default.
func MayStart(caller auth.Principal, edgeType, channel string, ownPolicy bool, g audit.Grounds) error {
	switch {
	case caller.Has(auth.PlatformOwner):
		return nil
	case !caller.MayStart(edgeType, channel):
		return problem.New(problem.Forbidden, "The settings do not list %s/%s among the channels on which this program may start a rollout.", edgeType, channel)
	case ownPolicy:
		return problem.New(problem.Forbidden, "A program starts rollouts with the default policy. Omit policy; a platform owner can change it afterwards.")
	}
	return noOverride(g)
}

func noOverride(g audit.Grounds) error {
	if g.OverrideReason != "" {
		return problem.New(problem.Forbidden, "A program cannot override a freeze. Omit overrideReason, or let a platform owner make the call.")
	}
	return nil
}
