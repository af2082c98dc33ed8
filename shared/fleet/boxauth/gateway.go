package boxauth

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// A Gateway is an organization's permission to speak, with one token, for those of its boxes that have no token of
// their own.
type Gateway struct {
	OrganizationID string `json:"organizationId"`
	// Tokens are the hashes of its tokens.
	Tokens boxtoken.Live `json:"tokens"`
	// RefusedAt is the time of the last audit event about a call of the gateway for a box with a token of its own, and
	// RefusedFor is that box.
	RefusedAt  *time.Time `json:"refusedAt,omitempty"`
	RefusedFor string     `json:"refusedFor,omitempty"`
	UpdatedAt  time.Time  `json:"updatedAt"`
	Revision   int64      `json:"revision"`
	dynamo.Unknown
}

// A gatewayShown is a gateway in the audit trail, without hashes.
type gatewayShown struct {
	OrganizationID string     `json:"organizationId"`
	RefusedAt      *time.Time `json:"refusedAt,omitempty"`
	RefusedFor     string     `json:"refusedFor,omitempty"`
	UpdatedAt      time.Time  `json:"updatedAt"`
	Revision       int64      `json:"revision"`
}

// gatewayType is the resource type of gateways in the audit trail.
const gatewayType = "gateway"

var gatewayKind = change.Kind[Gateway]{
	Type: gatewayType, Table: dynamo.Gateways, Key: "organizationId",
	State: func(g Gateway) change.Stamp {
		return change.Stamp{ID: g.OrganizationID, Revision: g.Revision, ChangedAt: g.UpdatedAt, Organization: g.OrganizationID}
	},
	Shown: func(g Gateway) any {
		if !g.Tokens.Exists() {
			return nil
		}
		return gatewayShown{g.OrganizationID, g.RefusedAt, g.RefusedFor, g.UpdatedAt, g.Revision}
	},
	ETag: func(g Gateway, _ time.Time) string {
		if !g.Tokens.Exists() {
			return ""
		}
		return input.Revision(g.Revision)
	},
}

// changed returns the gateway with the time of a change and the next revision.
func (g Gateway) changed(at time.Time) Gateway {
	g.UpdatedAt = at
	g.Revision++
	return g
}

func (g Gateway) setToken(organizationID, sha256 string, at time.Time) (next Gateway, event string, err error) {
	has, changed := g.Tokens.Replace(sha256, at)
	if !changed {
		return g, "", nil
	}
	g.OrganizationID, g.Tokens = organizationID, has
	return g.changed(at), "GatewayTokenSet", nil
}

func (g Gateway) endTokens(at time.Time) (next Gateway, event string, err error) {
	if !g.Tokens.Exists() {
		return g, "", problem.Missing()
	}
	g.Tokens = boxtoken.Live{}
	return g.changed(at), "GatewayTokenEnded", nil
}

// use notes a call with a token.
func (g Gateway) use(sha256 string, at time.Time) (next Gateway, event string, err error) {
	has, changed := g.Tokens.Used(sha256, at)
	if !changed {
		return g, "", nil
	}
	g.Tokens = has
	return g.changed(at), "GatewayTokenUsed", nil
}

// refusalsEvery limits the events about calls of a gateway for boxes with tokens of their own.
const refusalsEvery = time.Hour

// refuse notes a call for a box with a token of its own.
func (g Gateway) refuse(edgeID string, at time.Time) (next Gateway, event string, err error) {
	if !g.Tokens.Exists() || g.RefusedAt != nil && at.Sub(*g.RefusedAt) < refusalsEvery {
		return g, "", nil
	}
	g.RefusedAt, g.RefusedFor = &at, edgeID
	return g.changed(at), "GatewayRefused", nil
}

// Gateways stores the gateways of organizations.
type Gateways struct{ db *dynamo.DB }

// NewGateways makes a store.
func NewGateways(db *dynamo.DB) *Gateways { return &Gateways{db} }

func gatewayKey(organizationID string) dynamo.Key {
	return dynamo.Key{"organizationId": organizationID}
}

// SetToken gives an organization's gateway a new token, by its hash; boxtoken.Live says how long the one before stays
// valid. It returns PRECONDITION_FAILED, and CONFLICT if the gateway keeps changing.
func (s *Gateways) SetToken(ctx context.Context, from audit.Origin, caller auth.Principal, organizationID, sha256 string, when input.Preconditions) error {
	if !caller.MayRead(organizationID) {
		return problem.Missing()
	}
	_, err := change.Put(ctx, s.db, from, gatewayKind, gatewayKey(organizationID), when, func(was Gateway, at time.Time) (Gateway, string, error) {
		return was.setToken(organizationID, sha256, at)
	})
	return err
}

// EndTokens ends all tokens of an organization's gateway. It returns NOT_FOUND if there is none or it belongs to
// another organization, PRECONDITION_FAILED, and CONFLICT if the gateway keeps changing.
func (s *Gateways) EndTokens(ctx context.Context, from audit.Origin, caller auth.Principal, organizationID string, when input.Preconditions) error {
	if !caller.MayRead(organizationID) {
		return problem.Missing()
	}
	_, err := change.Put(ctx, s.db, from, gatewayKind, gatewayKey(organizationID), when, func(was Gateway, at time.Time) (Gateway, string, error) {
		return was.endTokens(at)
	})
	return err
}

// change changes a gateway because of a call of its own.
func (s *Gateways) change(ctx context.Context, from audit.Origin, organizationID string, rule change.Rule[Gateway]) error {
	_, err := change.Put(ctx, s.db, from, gatewayKind, gatewayKey(organizationID), input.Preconditions{}, rule)
	return err
}

// get returns a gateway, strongly consistent; its Revision is 0 if there is none.
func (s *Gateways) get(ctx context.Context, organizationID string) (g Gateway, err error) {
	_, err = s.db.Get(ctx, dynamo.Gateways, gatewayKey(organizationID), &g)
	return g, err
}
