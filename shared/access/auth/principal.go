// Package auth describes the caller: the principal that the authorizer read from a token, the
// context that carries it to the functions, and its roles. Package token verifies tokens.
package auth

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GatewayCache is how long the gateway reuses an answer of the authorizer, by token. It is longer than the polling
// interval of idle boxes; otherwise each of their polls would call the authorizer. The functions check the token's
// expiry themselves, and a box's own token at each poll.
const GatewayCache = 15 * time.Minute

// A Role is a set of permissions that an issuer of tokens grants to a caller.
type Role string

const (
	// PlatformOwner releases to the fleet and registers factories and boxes. It may read everything.
	PlatformOwner Role = "platform_owner"
	// OrganizationAdmin runs one organization.
	OrganizationAdmin Role = "organization_admin"
	// ProductionEngineer keeps production methods and machines of one organization.
	ProductionEngineer Role = "production_engineer"
	// PlatformViewer reads channels, rollouts, the boxes of all organizations, their progress and the platform's audit
	// trail. It may do nothing more, and it makes nobody a Member.
	PlatformViewer Role = "platform_viewer"
	// FleetViewer reads the boxes of one organization, what concerns them of rollouts, and their audit trail. It may do
	// nothing more, and it makes nobody a Member. Without an organization it is a PlatformViewer: there was no other role
	// for that once.
	FleetViewer Role = "fleet_viewer"
	// FleetInstaller registers new boxes of one organization and gives them their first tokens. It may do nothing more, and
	// it makes nobody a Member.
	FleetInstaller Role = "fleet_installer"
	// Edge is a box; its user id is its edge id.
	Edge Role = "edge"
	// Program is a program that acts for the platform owner on the channels that the settings of its issuer list, and
	// nowhere else. No claim of a token grants it.
	Program Role = "program"
	// Enrolment is the code of an enrolment: it redeems ids of boxes, and may do nothing else. No claim of a token grants
	// it.
	Enrolment Role = "enrolment"

	// Member is a placeholder in lists of roles; no token can carry it. It means any person of
	// an organization, whatever their roles. A box is not a person. A caller whose only roles are
	// PlatformViewer, FleetViewer and FleetInstaller is not a member.
	Member Role = "(member)"
	// Anyone is a placeholder too. It means any caller, boxes included, except an Enrolment.
	Anyone Role = "(anyone)"
)

// People lists the roles that a person may have, and Roles every role that a caller may have.
var (
	People = []Role{PlatformOwner, PlatformViewer, OrganizationAdmin, ProductionEngineer, FleetViewer, FleetInstaller}
	Roles  = append(slices.Clone(People), Edge, Program, Enrolment)
)

// A Principal is an authenticated caller. A user is the pair (Issuer, UserID): two issuers never
// share one.
type Principal struct {
	Issuer         string
	UserID         string
	OrganizationID string // empty for a caller of no organization
	Roles          []Role
	Expires        time.Time // the token's exp
	// Name is what the issuer calls a person, and AuthenticatedAt is when the person last signed
	// in (the claims name and auth_time of OpenID Connect). They are empty and zero if the token
	// does not have them.
	Name            string
	AuthenticatedAt time.Time
	// Credential is the SHA-256 of the token of a box or of a gateway; see package boxtoken. Each function checks it
	// again, so that a revoked token cannot be used any longer.
	Credential string
	// Channels are those of a Program.
	Channels Listed
	// Places are where a FleetInstaller may register boxes.
	Places Places
	// CountedBy is the issuer under which the fair-use limits count a box that calls with a token of its own. So its
	// calls with an access token count together with these. Empty means Issuer.
	CountedBy string
}

// Leeway is how far the clocks of an issuer and of this service may differ. A token is accepted
// for this long after its exp and before its nbf and iat.
const Leeway = 30 * time.Second

// Expired reports whether the caller's token has expired. API Gateway caches the authorizer's
// answer for minutes. So the authorizer checks the token, and each function checks the principal
// again.
func (p Principal) Expired(now time.Time) bool {
	return !now.Before(p.Expires.Add(Leeway))
}

// User identifies the caller across issuers; see User.
func (p Principal) User() string { return User(p.Issuer, p.UserID) }

// Counted names the user whose fair-use limits the caller's calls count against.
func (p Principal) Counted() string { return User(cmp.Or(p.CountedBy, p.Issuer), p.UserID) }

// User returns a name for a user of an issuer. Two different pairs never have the same name. A
// space separates the parts. In the issuer, a space becomes %20 and a percent sign %25, so the
// first space of a name is the separator.
func User(issuer, id string) string { return escape.Replace(issuer) + " " + id }

var escape = strings.NewReplacer("%", "%25", " ", "%20")

// Has reports whether the caller has at least one of the roles.
func (p Principal) Has(roles ...Role) bool {
	for _, r := range roles {
		if r == Anyone {
			if !slices.Contains(p.Roles, Enrolment) {
				return true
			}
			continue
		}
		if r == Member {
			if p.OrganizationID != "" && !slices.Contains(p.Roles, Edge) && !p.isNarrow() {
				return true
			}
			continue
		}
		if slices.Contains(p.Roles, r) || r == PlatformViewer && p.OrganizationID == "" && slices.Contains(p.Roles, FleetViewer) {
			return true
		}
	}
	return false
}

// isNarrow reports whether the caller has no role that makes a member.
func (p Principal) isNarrow() bool {
	return len(p.Roles) > 0 && !slices.ContainsFunc(p.Roles, func(r Role) bool { return r != PlatformViewer && r != FleetViewer && r != FleetInstaller })
}

// MaySee reports whether the caller may see an organization's boxes, if one of the caller's roles is for reading boxes.
func (p Principal) MaySee(organizationID string) bool {
	return p.SeesAll() || p.Owns(organizationID)
}

// Only is the one organization whose boxes the caller may see; empty if the caller may see all, or belongs to none.
func (p Principal) Only() string {
	if p.SeesAll() {
		return ""
	}
	return p.OrganizationID
}

// SeesAll reports whether the caller may see the boxes of all organizations.
func (p Principal) SeesAll() bool { return p.Has(PlatformOwner, PlatformViewer) }

// MayRead reports whether the caller may read what an organization owns.
func (p Principal) MayRead(organizationID string) bool {
	return p.Has(PlatformOwner) || p.Owns(organizationID)
}

// Owns reports whether the caller belongs to the organization. A write to what an organization
// owns needs this and a role. Being the platform owner does not replace it.
func (p Principal) Owns(organizationID string) bool {
	return organizationID != "" && p.OrganizationID == organizationID
}

// These are the names of the authorizer's context values. API Gateway passes all of them on as
// strings.
const (
	keyIssuer       = "issuer"
	keyUser         = "userId"
	keyOrganization = "organizationId"
	keyRoles        = "roles"
	keyExpires      = "exp"
	keyName         = "name"
	keyAuthTime     = "authTime"
	keyCredential   = "credential"
	keyPublish      = "publish"
	keyStart        = "start"
	keyOverride     = "override"
	keyHosts        = "hosts"
	keyCountedBy    = "countedBy"
	keyFactories    = "factories"
	keyChannels     = "channels"

	// KeyRetryAfter is the caller's own Retry-After, from 1 to 60 s. The gateway puts it on the calls that
	// its throttle refuses, so that callers which were refused together do not come back together.
	KeyRetryAfter = "retryAfterSeconds"
)

// retryAfter spreads callers over a minute.
func (p Principal) retryAfter() int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, p.User()) // a hash never fails to write
	return 1 + int(h.Sum32()%60)
}

// Context gives the principal as the strings that the authorizer hands to API Gateway.
func (p Principal) Context() map[string]any {
	roles := make([]string, len(p.Roles))
	for i, r := range p.Roles {
		roles[i] = string(r)
	}
	values := map[string]any{
		keyIssuer:       p.Issuer,
		keyUser:         p.UserID,
		keyOrganization: p.OrganizationID,
		keyRoles:        strings.Join(roles, " "),
		keyExpires:      strconv.FormatInt(p.Expires.Unix(), 10),
		KeyRetryAfter:   strconv.Itoa(p.retryAfter()),
	}
	if p.Name != "" {
		values[keyName] = p.Name
	}
	if p.Credential != "" {
		values[keyCredential] = p.Credential
	}
	p.Channels.write(values)
	p.Places.write(values)
	if p.CountedBy != "" {
		values[keyCountedBy] = p.CountedBy
	}
	if !p.AuthenticatedAt.IsZero() {
		values[keyAuthTime] = strconv.FormatInt(p.AuthenticatedAt.Unix(), 10)
	}
	return values
}

// FromContext reads what Context wrote, from a request's authorizer context.
func FromContext(values map[string]any) (Principal, error) {
	text := func(key string) string { s, _ := values[key].(string); return s }
	p := Principal{Issuer: text(keyIssuer), UserID: text(keyUser), OrganizationID: text(keyOrganization)}
	if p.Issuer == "" || p.UserID == "" {
		return Principal{}, errors.New("auth: the authorizer's context names no caller")
	}
	exp, err := strconv.ParseInt(text(keyExpires), 10, 64)
	if err != nil {
		return Principal{}, fmt.Errorf("auth: the authorizer's context has no expiry: %w", err)
	}
	p.Expires = time.Unix(exp, 0)
	p.Name, p.Credential, p.CountedBy = text(keyName), text(keyCredential), text(keyCountedBy)
	p.Channels.read(text)
	p.Places = Places{Factories: strings.Fields(text(keyFactories)), Channels: strings.Fields(text(keyChannels))}
	if authTime := text(keyAuthTime); authTime != "" {
		seconds, err := strconv.ParseInt(authTime, 10, 64)
		if err != nil {
			return Principal{}, fmt.Errorf("auth: the authorizer's context has a malformed time of authentication: %w", err)
		}
		p.AuthenticatedAt = time.Unix(seconds, 0).UTC()
	}
	for _, r := range strings.Fields(text(keyRoles)) {
		p.Roles = append(p.Roles, Role(r))
	}
	return p, nil
}
