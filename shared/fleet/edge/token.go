package edge

import (
	"context"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
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
	e.TokenSetAt, e.TokenWeak, e.UpdatedAt = &at, false, at
	e.Revision++
	return e, has, "EdgeTokenSet", nil
}

// endTokens ends a box's tokens; NOT_FOUND if there is no box or no token.
func (e Edge) endTokens(had boxtoken.Live, at time.Time) (next Edge, has boxtoken.Live, event string, err error) {
	if !e.Exists() || !had.Exists() {
		return e, had, "", problem.Missing()
	}
	e.TokenSetAt, e.TokenWeak, e.UpdatedAt = nil, false, at
	e.Revision++
	return e, had.End(at), "EdgeTokenEnded", nil
}

// guessesEvery is the least time between two events about wrong tokens of a box.
const guessesEvery = time.Hour

// guess notes that the box's calls had a wrong token ten times.
func (e Edge) guess(at time.Time) (next Edge, event string) {
	if !e.Exists() || e.GuessedAt != nil && at.Sub(*e.GuessedAt) < guessesEvery {
		return e, ""
	}
	e.GuessedAt = &at
	e.Revision++
	return e, "EdgeTokenGuessed"
}

// Guess notes that a box's calls had a wrong token ten times. It is not written again for an hour. The box's report row stays
// as it is: nothing of the registration has changed.
func Guess(ctx context.Context, db *dynamo.DB, from audit.Origin, id string) error {
	_, err := change.Put(admission.Unlimited(ctx), db, from, kind, key(id), input.Preconditions{}, func(was Edge, at time.Time) (Edge, string, error) {
		next, event := was.guess(at)
		return next, event, nil
	})
	return err
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
