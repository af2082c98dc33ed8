package edge

import (
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// Who may change boxes:
//
//   - a platform owner: all of them
//   - an admin: those of their own organization
//   - an installer: the same, in the factories and on the channels of its token, but only what is new: a box that is not
//     registered, and the token of a box that has not polled and never had one, and in a group only beside its own boxes,
//     before one has polled. So whoever steals a flash station can neither take over a box that runs nor keep it waiting.

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

// mayBeSaid checks an assignment with MayInstall. Only a platform owner takes boxes over, and no installer pins one.
func (a Assignment) mayBeSaid(caller auth.Principal) error {
	if a.TakeOver && !caller.Has(auth.PlatformOwner) {
		return problem.New(problem.Forbidden, "Only a platform owner may take boxes over.")
	}
	if (a.Pin != nil || a.AllowDowngrade) && onlyNew(caller) {
		return problem.New(problem.Forbidden, "Your roles do not allow you to pin boxes.")
	}
	factoryID := ""
	if a.FactoryID != nil {
		factoryID = *a.FactoryID
	}
	return MayInstall(caller, a.OrganizationID, factoryID, a.EdgeType, a.Channel)
}

// mayKeep returns nil if a caller may change a box without moving it. It returns NOT_FOUND for a box of another
// organization, as if there were none.
func mayKeep(caller auth.Principal, was Edge) error {
	if !was.Exists() {
		return problem.Missing()
	}
	return MayInstall(caller, was.OrganizationID, was.FactoryID, was.EdgeType, was.Channel)
}

// onlyNew reports whether a caller may only register new boxes.
func onlyNew(caller auth.Principal) bool {
	return !caller.Has(auth.PlatformOwner, auth.OrganizationAdmin)
}

// mayAssign returns nil if a caller may change a box to next. MayInstall has already checked the assignment. Only a
// platform owner may move a box of another organization.
func mayAssign(caller auth.Principal, was, next Edge, row report.Row) error {
	if !was.Exists() {
		return nil
	}
	if err := mayKeep(caller, was); err != nil || !onlyNew(caller) {
		return err
	}
	was.TokenSetAt, was.UpdatedAt, was.Revision = next.TokenSetAt, next.UpdatedAt, next.Revision
	if !dynamo.Same(was, next) {
		return problem.New(problem.Forbidden, "Your roles only allow you to register new boxes, not to change one.")
	}
	return mayReplace(caller, row)
}

// mayAssume returns CONFLICT for a new assumption of what a box runs if the box itself says otherwise. A batch is not refused for that: what
// the box says counts.
func mayAssume(was, next Edge, row report.Row) error {
	is := next.Imported
	if is == nil || was.Imported != nil && was.Imported.Version == is.Version || was.EdgeType != next.EdgeType || was.OrganizationID != next.OrganizationID ||
		!row.SaysOtherwise(is.Version) {
		return nil
	}
	return problem.New(problem.Conflict, "The box has itself said that it runs %s, and that counts.", row.Running)
}

// begun reports whether a box has polled.
func begun(row report.Row) bool {
	return row.Told != "" || row.Running != "" || row.Subject != "" || row.Offer != nil
}

// mayReplace returns nil if a caller may give a new token to the box of a row.
func mayReplace(caller auth.Principal, row report.Row) error {
	if onlyNew(caller) && (begun(row) || !row.Tokens.Never()) {
		return problem.New(problem.Forbidden, "Your roles only allow you to set a token for a box that has not polled and never had one.")
	}
	return nil
}
