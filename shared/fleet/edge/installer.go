package edge

import (
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
)

// Who may change boxes:
//
//   - a platform owner: all of them
//   - an admin: those of the own organization
//   - an installer: the same, at the places of its token, but only what is new: a box that is not registered, and the token
//     of a box that never had one. So whoever steals a flash station owns no box that runs.

// MayInstall returns nil if a caller may register boxes of an organization in a factory and on a channel. It returns
// NOT_FOUND for another organization, and FORBIDDEN for another place.
func MayInstall(caller auth.Principal, organizationID, factoryID, edgeType, channel string) error {
	switch {
	case caller.Has(auth.PlatformOwner):
		return nil
	case !caller.Owns(organizationID):
		return problem.Missing()
	case !caller.Has(auth.OrganizationAdmin) && !caller.Places.Include(factoryID, edgeType, channel):
		return problem.New(problem.Forbidden, "Your token does not allow boxes in this factory or on this channel.")
	}
	return nil
}
