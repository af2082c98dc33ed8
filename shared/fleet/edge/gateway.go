package edge

import (
	"context"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
)

// A Gateway is an organization's right to speak for all of its boxes with one token. A box behind a gateway needs no
// token of its own.
type Gateway struct {
	OrganizationID string `json:"organizationId"`
	// TokenSHA256 is of the gateway's token; empty: it was taken back.
	TokenSHA256 string    `json:"tokenSha256,omitempty"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Revision    int64     `json:"revision"`
}

// GatewayType is that of gateways in the audit trail.
const GatewayType = "gateway"

var gatewayKind = change.Kind[Gateway]{
	Type: GatewayType, Table: dynamo.Gateways, Key: "organizationId",
	State: func(g Gateway) change.Stamp {
		return change.Stamp{ID: g.OrganizationID, Revision: g.Revision, ChangedAt: g.UpdatedAt, Organization: g.OrganizationID}
	},
	Shown: func(g Gateway) any {
		if g.TokenSHA256 == "" {
			return nil
		}
		return g
	},
	ETag: func(g Gateway, _ time.Time) string {
		if g.TokenSHA256 == "" {
			return ""
		}
		return input.Revision(g.Revision)
	},
}

func (g Gateway) issueToken(organizationID, sha256 string, at time.Time) (next Gateway, event string, err error) {
	return Gateway{organizationID, sha256, at, g.Revision + 1}, "GatewayTokenIssued", nil
}

func (g Gateway) revokeToken(at time.Time) (next Gateway, event string, err error) {
	if g.TokenSHA256 == "" {
		return g, "", problem.Missing()
	}
	return Gateway{g.OrganizationID, "", at, g.Revision + 1}, "GatewayTokenRevoked", nil
}

// Gateways keeps the gateways of organizations.
type Gateways struct{ db *dynamo.DB }

// NewGateways makes a store.
func NewGateways(db *dynamo.DB) *Gateways { return &Gateways{db} }

func gatewayKey(organizationID string) dynamo.Key {
	return dynamo.Key{"organizationId": organizationID}
}

// IssueToken gives an organization's gateway a new token, in place of the one before, and returns its text, which is
// kept nowhere. It returns PRECONDITION_FAILED, and CONFLICT when the gateway keeps changing.
func (s *Gateways) IssueToken(ctx context.Context, from audit.Origin, organizationID string, when input.Preconditions) (text string, err error) {
	text, token := boxtoken.New(boxtoken.Gateway, organizationID)
	_, err = change.Put(ctx, s.db, from, gatewayKind, gatewayKey(organizationID), when, func(was Gateway, at time.Time) (Gateway, string, error) {
		return was.issueToken(organizationID, token.SHA256, at)
	})
	return text, err
}

// RevokeToken takes the token of an organization's gateway back. It returns NOT_FOUND where there is none,
// PRECONDITION_FAILED, and CONFLICT when the gateway keeps changing.
func (s *Gateways) RevokeToken(ctx context.Context, from audit.Origin, organizationID string, when input.Preconditions) error {
	_, err := change.Put(ctx, s.db, from, gatewayKind, gatewayKey(organizationID), when, func(was Gateway, at time.Time) (Gateway, string, error) {
		return was.revokeToken(at)
	})
	return err
}

// token is the SHA-256 of the gateway's token, strongly consistent; empty: there is none.
func (s *Gateways) token(ctx context.Context, organizationID string) (string, error) {
	var g Gateway
	_, err := s.db.Get(ctx, dynamo.Gateways, gatewayKey(organizationID), &g)
	return g.TokenSHA256, err
}
