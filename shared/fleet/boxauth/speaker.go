// Package boxauth says who speaks for a box: the box itself, or the gateway of its organization.
package boxauth

import (
	"context"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/problem"
)

// Who speaks for a box:
//
//   - the box itself, with an access token of its issuer or with a token of its own (Issuers.Allow)
//   - the gateway of its organization, which names the box in the path (boxtoken.CallerFor, Speakers), if the box has no token of
//     its own
//   - nobody else. People with some roles may look at what a box is told; see Named.

// Named returns NOT_FOUND unless the caller is the box that a call names, or has one of the roles that may look at
// every box. A box must not learn of others. Whether the caller speaks for the box is only known once its registration
// is read.
func Named(caller auth.Principal, edgeID string, look ...auth.Role) error {
	if caller.UserID != edgeID && !caller.Has(look...) {
		return problem.Missing()
	}
	return nil
}

// Speak reports whether an issuer's tokens speak for a box with the registered issuer own. If own is empty, it is the
// first of the issuers.
func (i Issuers) Speak(own, issuer string) bool {
	of := i.Of(own)
	return of != "" && of == issuer
}

// Of is the issuer of the access tokens of a box with the registered issuer own; empty: there is none.
func (i Issuers) Of(own string) string {
	if own != "" {
		return own
	}
	first, _, _ := strings.Cut(string(i), " ")
	return first
}

// Allow returns nil if a caller is the box of a row, with an access token of its issuer or a valid token of its own. It
// returns NOT_FOUND for another issuer, and UNAUTHENTICATED if the box's own token was replaced or revoked since it was
// verified.
//
// It also counts the call for the organization of the box, if the token does not name it.
func (i Issuers) Allow(ctx context.Context, caller auth.Principal, row report.Row, at time.Time) error {
	switch boxtoken.KindOf(caller) {
	case boxtoken.Box:
		if !row.Tokens.Accepts(caller.Credential, at) {
			return errVoid()
		}
		return nil
	case boxtoken.Gateway:
		return problem.Missing()
	}
	if !i.Speak(row.Issuer, caller.Issuer) {
		return problem.Missing()
	}
	return admission.Share(ctx, row.OrganizationID)
}

// errVoid is the answer to a token that does not speak for the box. It is the same as the authorizer's answer to an
// unknown token.
func errVoid() error { return problem.New(problem.Unauthenticated, problem.NoValidToken) }

// A Finder finds boxes by their report rows.
type Finder struct{ Reports *report.Store }

// Find returns the row of a box, or NOT_FOUND. The row may be slightly old, but a box that was registered a moment ago
// is found.
func (f Finder) Find(ctx context.Context, id string) (report.Row, error) {
	if row, ok := entered(ctx, id); ok {
		return row, nil
	}
	row, err := f.Reports.GetEventually(ctx, id)
	if err == nil && (row.Revision == 0 || row.Retired) {
		row, err = f.Reports.Get(ctx, id)
	}
	return registeredRow(row, err)
}

func registeredRow(row report.Row, err error) (report.Row, error) {
	if err == nil && (row.Revision == 0 || row.Retired) {
		err = problem.Missing()
	}
	return row, err
}
