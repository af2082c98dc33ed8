package edge

import (
	"context"
	"crypto/subtle"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// Who speaks for a box:
//
//   - the box itself, with an access token of its issuer (Issuers.Speak) or with the token that it was given (Speakers)
//   - the gateway of its organization, which names the box in the path (CallerFor, Speakers)
//   - nobody else. People with some roles may look at what a box is told; see Named.

// CallerFor is the caller as a box. A gateway's call counts as a call of the box in its path, so that every box has a
// fair-use limit of its own. The gateway's organization stays part of the caller, so that two organizations never share
// a limit.
func CallerFor(caller auth.Principal, edgeID string) auth.Principal {
	if boxtoken.KindOf(caller) == boxtoken.Gateway && input.Name.Accepts(edgeID) {
		caller.UserID = edgeID
	}
	return caller
}

// Named returns NOT_FOUND unless the caller is the box that a call names, or has one of the roles that may look at every
// box. A box may not know of others. Whether the caller speaks for the box is known when its registration is read.
func Named(caller auth.Principal, edgeID string, look ...auth.Role) error {
	if caller.UserID != edgeID && !caller.Has(look...) {
		return problem.Missing()
	}
	return nil
}

// Speak reports whether an issuer's tokens speak for a box, whose registration names the issuer own. If own is empty, it is
// the first of the issuers.
func (i Issuers) Speak(own, issuer string) bool {
	if own != "" {
		return own == issuer
	}
	first, _, _ := strings.Cut(string(i), " ")
	return first != "" && first == issuer
}

// Speakers report whether a caller speaks for a box by hawkBit's DDI: with an access token of the box's issuer, with the
// box's own token, or with the gateway token of its organization.
type Speakers struct {
	issuers  Issuers
	gateways *cache[string]
	keep     time.Duration
}

// NewSpeakers makes one. A gateway's token is kept in a container for as long as the row of a channel, so that the
// polls of a fleet cost no read of it.
func NewSpeakers(db *dynamo.DB, s Settings, now func() time.Time) *Speakers {
	gateways := NewGateways(db)
	read := func(ctx context.Context, organizationID, _ string) (string, error) {
		return gateways.token(ctx, organizationID)
	}
	return &Speakers{s.Issuers, newCache(instants(now), read), s.ChannelCache}
}

// Check returns NOT_FOUND unless the caller may know of the box as one of a tenant, and UNAUTHENTICATED where the
// caller's token was taken back or replaced since it was verified. Nothing tells a box of another organization from
// one that does not exist.
func (s *Speakers) Check(ctx context.Context, caller auth.Principal, e Edge, tenant string) error {
	if Named(caller, e.EdgeID) != nil || e.OrganizationID != tenant || caller.OrganizationID != "" && caller.OrganizationID != tenant {
		return problem.Missing()
	}
	switch boxtoken.KindOf(caller) {
	case boxtoken.Box:
		return valid(caller.Credential, e.TokenSHA256)
	case boxtoken.Gateway:
		sha256, err := s.gateways.get(ctx, tenant, "", s.keep)
		if err != nil {
			return err
		}
		return valid(caller.Credential, sha256)
	}
	if !s.issuers.Speak(e.Issuer, caller.Issuer) {
		return problem.Missing()
	}
	return nil
}

func valid(shown, kept string) error {
	if !matches(shown, kept) {
		return problem.New(problem.Unauthenticated, "The token was taken back or replaced.")
	}
	return nil
}

// matches compares two digests. An empty one is none.
func matches(shown, kept string) bool {
	return kept != "" && subtle.ConstantTimeCompare([]byte(shown), []byte(kept)) == 1
}

// Tokens verifies the tokens that the service gave out.
type Tokens struct {
	edges    *Store
	gateways *Gateways
}

// NewTokens makes one.
func NewTokens(db *dynamo.DB) *Tokens { return &Tokens{NewStore(db), NewGateways(db)} }

// Verify returns the caller that a token speaks for; false where the service knows no such token.
func (s *Tokens) Verify(ctx context.Context, t boxtoken.Token) (auth.Principal, bool, error) {
	if t.Kind == boxtoken.Gateway {
		kept, err := s.gateways.token(ctx, t.Subject)
		return t.Principal(t.Subject), err == nil && matches(t.SHA256, kept), err
	}
	e, err := s.edges.Polled(ctx, t.Subject)
	if err == nil && !matches(t.SHA256, e.TokenSHA256) {
		e, err = s.edges.Get(ctx, t.Subject) // it may have been given out a moment ago
	}
	if problem.Has(err, problem.NotFound) {
		return auth.Principal{}, false, nil
	}
	return t.Principal(e.OrganizationID), err == nil && matches(t.SHA256, e.TokenSHA256), err
}
