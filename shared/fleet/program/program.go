// Package program says what a program may do, such as a run of continuous integration. It acts for the platform owner: it
// publishes, and starts rollouts that the default policy guards, on the channels that the settings list. Whoever steals its
// token can do that and no more: not end a guard, not override a freeze, not move a rollout.
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

// MayStart returns FORBIDDEN if the caller is a program that may not start a rollout on a channel in this way. ownPolicy: the
// call names a policy, or none at all.
func MayStart(caller auth.Principal, edgeType, channel string, ownPolicy bool, g audit.Grounds) error {
	switch {
	case caller.Has(auth.PlatformOwner):
		return nil
	case !caller.MayStart(edgeType, channel):
		return problem.New(problem.Forbidden, "The settings do not list %s/%s among the channels on which this program may start a rollout.", edgeType, channel)
	case ownPolicy:
		return problem.New(problem.Forbidden, "A program starts rollouts with the default policy. Leave policy out; a platform owner can change it afterwards.")
	}
	return noOverride(g)
}

func noOverride(g audit.Grounds) error {
	if g.OverrideReason != "" {
		return problem.New(problem.Forbidden, "A program may not override a freeze. Leave overrideReason out, or let a platform owner make the call.")
	}
	return nil
}
