// Package token turns an access token into a principal, or refuses it. It follows RFC 7519
// (JWT), RFC 8725 (best current practices), RFC 9068 (JWT access tokens) and what Cognito sends.
//
// The order of the checks is part of the design. First come the checks that need only the token
// itself: form, header, claims and expiry. So a token that can never become valid is refused
// without a key, and made-up tokens cannot make the service fetch keys. Then the verifier finds
// the key and checks the signature. Last it checks nbf and iat, because a token that is not yet
// valid may become valid. Before the signature is checked, claims are used only to refuse a
// token, and iss to choose the keys.
//
// golang-jwt checks the signatures. Its parser is not used, for two reasons. It reads JSON with
// the standard decoder, which accepts duplicate names and ignores the case of names. And it
// looks for the key before it reads a claim.
package token

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
)

var methods = map[string]jwt.SigningMethod{
	"RS256": jwt.SigningMethodRS256,
	"ES256": jwt.SigningMethodES256,
	"EdDSA": jwt.SigningMethodEdDSA,
}

// Options configure a Verifier. The zero value is usable.
type Options struct {
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// KeysFailed, if set, is called after each failed attempt to fetch an issuer's keys.
	KeysFailed func(ctx context.Context, issuer string, err error)
}

// A Verifier verifies tokens of a fixed list of issuers. It is safe for concurrent use.
type Verifier struct {
	issuers map[string]trusted
	now     func() time.Time
}

type trusted struct {
	Issuer
	keys keySource
}

// A keySource finds an issuer's key by its id. It returns errUnknownKey or errNoKeys.
type keySource interface {
	find(ctx context.Context, id string) (key, error)
}

var (
	errUnknownKey = errors.New("the issuer has no such key")
	errNoKeys     = errors.New("the issuer's keys cannot be fetched")
)

// New makes a verifier for issuers that ParseIssuers returned. It fetches nothing; keys are
// fetched when the first token needs them.
func New(issuers []Issuer, o Options) *Verifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.KeysFailed == nil {
		o.KeysFailed = func(context.Context, string, error) {}
	}
	v := &Verifier{issuers: make(map[string]trusted), now: o.Now}
	client := newClient()
	for _, i := range issuers {
		t := trusted{Issuer: i, keys: fixedKeys(i.keys)}
		if i.keys == nil {
			t.keys = newKeyCache(i.source(), client, o.Now, func(ctx context.Context, err error) {
				o.KeysFailed(ctx, i.Name, err)
			})
		}
		v.issuers[i.Name] = t
	}
	return v
}

// Verify returns the caller that the token represents. Every error is a *Refusal.
func (v *Verifier) Verify(ctx context.Context, raw string) (auth.Principal, error) {
	t, err := parse(raw)
	if err != nil {
		return auth.Principal{}, err
	}
	issuer, ok := v.issuers[t.claims.issuer]
	if !ok {
		return auth.Principal{}, refuse(BadIssuer, "iss is not an issuer of the settings")
	}
	p, err := v.verifyAs(ctx, issuer, t)
	if r, ok := errors.AsType[*Refusal](err); ok {
		r.Issuer = issuer.Name
	}
	return p, err
}

func (v *Verifier) verifyAs(ctx context.Context, issuer trusted, t parsed) (auth.Principal, error) {
	p, err := issuer.principal(t.claims)
	if err != nil {
		return auth.Principal{}, err
	}
	if err := issuer.lasts(t.claims, v.now()); err != nil {
		return auth.Principal{}, err
	}
	if p.Expired(v.now()) {
		return auth.Principal{}, refuse(Expired, "exp is past")
	}
	k, err := issuer.keys.find(ctx, t.keyID)
	switch {
	case errors.Is(err, errUnknownKey):
		return auth.Principal{}, refuse(UnknownKey, "%w", err)
	case err != nil:
		return auth.Principal{}, refuse(KeysUnavailable, "%w", err)
	case k.algorithm != t.algorithm:
		return auth.Principal{}, refuse(WrongKeyType, "the key is for %s", k.algorithm)
	}
	if err := methods[t.algorithm].Verify(t.signed, t.signature, k.public); err != nil {
		return auth.Principal{}, refuse(BadSignature, "%w", err)
	}
	if latest := v.now().Add(auth.Leeway); t.claims.notBefore.After(latest) || t.claims.issuedAt.After(latest) {
		return auth.Principal{}, refuse(NotYetValid, "nbf or iat is in the future")
	}
	return p, nil
}

// principal makes the caller from claims that are not yet verified.
func (i Issuer) principal(c claims) (auth.Principal, error) {
	if err := i.accepts(c); err != nil {
		return auth.Principal{}, err
	}
	if i.hasPrograms() {
		return i.program(c)
	}
	organization, err := i.organizationOf(c)
	if err != nil {
		return auth.Principal{}, err
	}
	if organization != "" && i.Organizations != nil && !i.Organizations.include(organization) {
		return auth.Principal{}, refuse(BadOrganization, "the issuer must not name the organization")
	}
	roles, err := c.roles(i.RolesClaim, i.RoleNames)
	if err != nil {
		return auth.Principal{}, err
	}
	for _, role := range roles {
		// The whole token is refused, and not only the role. So a token that was forged or made
		// by mistake cannot be used at all, and the log shows it.
		if !slices.Contains(i.Grants, role) {
			return auth.Principal{}, refuse(BadRole, "the issuer must not grant %s", role)
		}
	}
	if organization == "" && slices.Contains(roles, auth.FleetViewer) && !i.grantsPlatformRoles() {
		return auth.Principal{}, refuse(BadRole, "without an organization, fleet_viewer reads all, which the issuer must not grant")
	}
	if slices.Contains(i.Grants, auth.Edge) {
		// The issuer of a fleet may only make boxes. Without the edge role its token would count
		// as a person of the organization.
		if !slices.Contains(roles, auth.Edge) {
			return auth.Principal{}, refuse(BadRole, "the issuer grants edge, but the token does not have that role")
		}
		if !input.Name.Accepts(c.subject) {
			return auth.Principal{}, refuse(BadClaims, "sub is not an edge id")
		}
	}
	var places auth.Places
	if slices.Contains(roles, auth.FleetInstaller) {
		if places, err = i.places(c); err != nil {
			return auth.Principal{}, err
		}
	}
	return auth.Principal{
		Issuer: i.Name, UserID: c.subject, OrganizationID: organization, Roles: roles, Expires: c.expires,
		Name: c.name(), AuthenticatedAt: c.authTime, Places: places,
	}, nil
}

// organizationOf is that of all people of the issuer, or the one that the token names.
func (i Issuer) organizationOf(c claims) (string, error) {
	if i.Organization != "" {
		return i.Organization, nil
	}
	return c.organization(i.OrganizationClaim)
}

// lasts refuses a token whose lifetime is longer than its issuer allows. A token without iat may
// have at most that lifetime left.
func (i Issuer) lasts(c claims, now time.Time) error {
	issued := c.issuedAt
	if issued.IsZero() {
		issued = now.Add(auth.Leeway)
	}
	if c.expires.Sub(issued) > i.MaxLifetime {
		return refuse(BadLifetime, "iat and exp are more than %s apart", i.MaxLifetime)
	}
	return nil
}

// accepts reports whether the token is an access token meant for this service.
func (i Issuer) accepts(c claims) error {
	if c.tokenUse != "" && c.tokenUse != "access" {
		return refuse(BadTokenUse, "token_use is not access")
	}
	if len(c.audience) > 0 {
		// A token with an audience is for that audience only; client_id cannot extend it.
		if !slices.ContainsFunc(c.audience, func(a string) bool { return slices.Contains(i.Audience, a) }) {
			return refuse(BadAudience, "aud names no audience of the settings")
		}
		return nil
	}
	if c.tokenUse != "access" || !slices.Contains(i.ClientIDs, c.clientID) {
		return refuse(BadAudience, "neither aud nor client_id names this service")
	}
	return nil
}
