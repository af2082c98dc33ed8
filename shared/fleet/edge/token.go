package edge

import (
	"context"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// token is the hash of the box's token after an assignment. A box that moves to another organization loses its token.
func (a Assignment) token(was Edge) string {
	if was.exists() && was.OrganizationID == a.OrganizationID {
		return was.TokenSHA256
	}
	return ""
}

// issueToken decides what a new token makes of a box; NOT_FOUND where there is none. The token before it is void.
func (e Edge) issueToken(sha256 string, at time.Time) (next Edge, event string, err error) {
	if !e.exists() {
		return e, "", problem.Missing()
	}
	e.TokenSHA256, e.UpdatedAt = sha256, at
	e.Revision++
	return e, "EdgeTokenIssued", nil
}

// revokeToken decides what taking the token back makes of a box; NOT_FOUND where there is no box or no token.
func (e Edge) revokeToken(at time.Time) (next Edge, event string, err error) {
	if !e.exists() || e.TokenSHA256 == "" {
		return e, "", problem.Missing()
	}
	e.TokenSHA256, e.UpdatedAt = "", at
	e.Revision++
	return e, "EdgeTokenRevoked", nil
}

// IssueToken gives a box a new token, in place of the one before, and returns its text, which is kept nowhere. It
// returns NOT_FOUND, PRECONDITION_FAILED, and CONFLICT when the box keeps changing.
func (r *Registry) IssueToken(ctx context.Context, from audit.Origin, id string, when input.Preconditions) (text string, err error) {
	text, token := boxtoken.New(boxtoken.Box, id)
	_, err = r.change(ctx, from, id, when, func(was Edge, at time.Time) (Edge, string, error) {
		return was.issueToken(token.SHA256, at)
	})
	return text, err
}

// RevokeToken takes a box's token back. It returns NOT_FOUND, also where the box has none, PRECONDITION_FAILED, and
// CONFLICT when the box keeps changing.
func (r *Registry) RevokeToken(ctx context.Context, from audit.Origin, id string, when input.Preconditions) error {
	_, err := r.change(ctx, from, id, when, func(was Edge, at time.Time) (Edge, string, error) { return was.revokeToken(at) })
	return err
}
