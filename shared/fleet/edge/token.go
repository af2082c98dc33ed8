package edge

import (
	"context"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// TokenOf reads the SHA-256 of a token. The token itself stays with whoever made it.
func TokenOf(body *input.Object) string { return body.Text("tokenSha256", input.SHA256) }

// setToken gives a box a new token; NOT_FOUND if there is no box.
func (e Edge) setToken(sha256 string, had boxtoken.Live, at time.Time) (next Edge, has boxtoken.Live, event string, err error) {
	if !e.Exists() {
		return e, had, "", problem.Missing()
	}
	has, changed := had.Replace(sha256, at)
	if !changed {
		return e, had, "", nil
	}
	e.TokenSetAt, e.UpdatedAt = &at, at
	e.Revision++
	return e, has, "EdgeTokenSet", nil
}

// endTokens ends a box's tokens; NOT_FOUND if there is no box or no token.
func (e Edge) endTokens(had boxtoken.Live, at time.Time) (next Edge, has boxtoken.Live, event string, err error) {
	if !e.Exists() || !had.Exists() {
		return e, had, "", problem.Missing()
	}
	e.TokenSetAt, e.UpdatedAt = nil, at
	e.Revision++
	return e, had.End(at), "EdgeTokenEnded", nil
}

// SetToken gives a box a new token, by its hash; boxtoken.Live says how long the one before stays valid. It returns
// NOT_FOUND, FORBIDDEN if the caller may not replace a token, PRECONDITION_FAILED, and CONFLICT if the box keeps
// changing.
func (r *Registry) SetToken(ctx context.Context, from audit.Origin, id, sha256 string, when input.Preconditions) error {
	_, err := r.change(ctx, from, ownBox, id, when, func(was Edge, row report.Row, at time.Time) (Edge, boxtoken.Live, string, error) {
		next, has, event, err := was.setToken(sha256, row.Tokens, at)
		if err == nil && event != "" {
			err = mayReplace(r.caller, row)
		}
		return next, has, event, err
	})
	return err
}

// EndTokens ends all tokens of a box. It returns NOT_FOUND, also if the box has none, PRECONDITION_FAILED, and CONFLICT if
// the box keeps changing.
func (r *Registry) EndTokens(ctx context.Context, from audit.Origin, id string, when input.Preconditions) error {
	_, err := r.change(ctx, from, ownBox, id, when, func(was Edge, row report.Row, at time.Time) (Edge, boxtoken.Live, string, error) {
		return was.endTokens(row.Tokens, at)
	})
	return err
}
