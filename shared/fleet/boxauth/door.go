package boxauth

import (
	"cmp"
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/report"
)

// The door is a second way to the calls of boxes: it verifies a box's own token against the row that the call reads
// anyway, so a call costs no read more than at the API, and a token that was revoked is refused at once.

// Enter verifies a box's own token with one read, which may be slightly old. It returns the token's caller, whose UserID is
// empty if the token is not valid, and the box's row for Inside. It returns NOT_FOUND if there is no such box.
func (s *Tokens) Enter(ctx context.Context, t boxtoken.Token) (row report.Row, caller auth.Principal, err error) {
	row, err = registeredRow(s.Reports.GetEventually(ctx, t.Subject))
	if err == nil && row.Tokens.Admits(t, s.now()) {
		caller = t.Principal(row.OrganizationID, s.issuers.Of(row.Issuer))
	}
	return row, caller, err
}

// Inside returns the context of a call that came through the door at a URL. The call does not read its box's row again.
func Inside(ctx context.Context, row report.Row, url string) context.Context {
	return context.WithValue(ctx, visitKey{}, visit{row, url})
}

// A visit is a call through the door.
type visit struct {
	row report.Row
	url string
}

type visitKey struct{}

// entered returns the row of a box if its call came through the door.
func entered(ctx context.Context, id string) (report.Row, bool) {
	v, ok := ctx.Value(visitKey{}).(visit)
	return v.row, ok && v.row.EdgeID == id
}

// DoorFor returns the URL of the door, given that of the settings, if the caller may use it: a box with a token of its
// own. Otherwise it is empty.
func DoorFor(ctx context.Context, caller auth.Principal, url string) string {
	if boxtoken.KindOf(caller) != boxtoken.Box {
		return ""
	}
	v, _ := ctx.Value(visitKey{}).(visit)
	return cmp.Or(url, v.url)
}
