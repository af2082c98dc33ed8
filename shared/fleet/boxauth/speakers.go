package boxauth

import (
	"context"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/cache"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// Speakers checks whether a caller of hawkBit's DDI speaks for a box: it must be the box itself, or the gateway of its
// organization.
type Speakers struct {
	Finder
	issuers  Issuers
	tenants  Tenants
	gateways *Gateways
	kept     *cache.Of[Gateway]
	keep     time.Duration
	now      func() time.Time
}

// NewSpeakers makes Speakers. A container keeps a gateway's tokens for a while, so that polls do not read them each
// time.
func NewSpeakers(db *dynamo.DB, shards report.Shards, issuers Issuers, tenants Tenants, keep time.Duration, now func() time.Time) *Speakers {
	gateways := NewGateways(db)
	read := func(ctx context.Context, organizationID, _ string) (Gateway, error) {
		return gateways.get(ctx, organizationID)
	}
	return &Speakers{Finder{report.NewStore(db, shards)}, issuers, tenants, gateways, cache.New(now, read), keep, now}
}

// Find returns the row of a tenant's box that the caller speaks for. Fresh reads the row strongly consistent. It
// returns NOT_FOUND if the caller may not know of the box, and UNAUTHENTICATED if the caller's token is no longer
// valid, or if it is a gateway's and the box has a token of its own. A caller cannot distinguish a box of another
// organization from one that does not exist.
func (s *Speakers) Find(ctx context.Context, from audit.Origin, caller auth.Principal, tenant, id string, fresh bool) (row report.Row, err error) {
	if err := Named(caller, id); err != nil {
		return report.Row{}, err
	}
	if fresh {
		row, err = registeredRow(s.Reports.Get(ctx, id))
	} else {
		row, err = s.Finder.Find(ctx, id)
	}
	if err == nil {
		err = s.check(ctx, from, caller, row, tenant)
	}
	return row, err
}

func (s *Speakers) check(ctx context.Context, from audit.Origin, caller auth.Principal, row report.Row, tenant string) error {
	if !s.tenants.Fit(row.OrganizationID, tenant) || caller.OrganizationID != "" && caller.OrganizationID != row.OrganizationID {
		return problem.Missing()
	}
	if boxtoken.KindOf(caller) != boxtoken.Gateway {
		return s.issuers.Allow(ctx, caller, row, s.now())
	}
	g, err := s.gateway(ctx, row.OrganizationID, caller.Credential)
	switch {
	case err != nil:
		return err
	case !g.Tokens.Accepts(caller.Credential, s.now()):
		return errVoid()
	case row.Tokens.Speaks():
		return s.refuse(ctx, from, g, row.EdgeID)
	}
	s.note(ctx, from, g, caller.Credential)
	return nil
}

// gateway returns an organization's gateway. A token that the container does not know may have been set a moment
// ago, so the gateway is read again.
func (s *Speakers) gateway(ctx context.Context, organizationID, sha256 string) (Gateway, error) {
	g, err := s.kept.Get(ctx, organizationID, "", s.keep)
	if err == nil && !g.Tokens.Accepts(sha256, s.now()) {
		g, err = s.kept.Get(ctx, organizationID, "", 0)
	}
	return g, err
}

// refuse answers a gateway that calls for a box with a token of its own, and writes that into the audit trail, at most
// once an hour for each gateway.
func (s *Speakers) refuse(ctx context.Context, from audit.Origin, g Gateway, id string) error {
	if _, event, _ := g.refuse(id, s.now()); event != "" {
		if err := s.gateways.change(ctx, from, g.OrganizationID, func(was Gateway, at time.Time) (Gateway, string, error) {
			return was.refuse(id, at)
		}); err != nil {
			return err
		}
		s.kept.Forget(g.OrganizationID, "")
	}
	return errVoid()
}

// note records that a gateway's token was used, unless it is recorded already. If the write fails, the next call makes
// up for it.
func (s *Speakers) note(ctx context.Context, from audit.Origin, g Gateway, sha256 string) {
	if _, event, _ := g.use(sha256, s.now()); event == "" {
		return
	}
	_ = s.gateways.change(ctx, from, g.OrganizationID, func(was Gateway, at time.Time) (Gateway, string, error) { return was.use(sha256, at) })
	s.kept.Forget(g.OrganizationID, "")
}

// Counted is the caller that a box's calls count for in the fair-use limits, whichever token they have: a user of the
// box's issuer. Without an issuer it is the user for boxes' tokens.
func (s *Speakers) Counted(row report.Row) auth.Principal {
	return boxtoken.Counted(s.issuers.Of(row.Issuer), row.OrganizationID, row.EdgeID)
}

// Tokens verifies the tokens of boxes and gateways.
type Tokens struct {
	Finder
	issuers  Issuers
	gateways *Gateways
	now      func() time.Time
}

// NewTokens makes Tokens.
func NewTokens(db *dynamo.DB, issuers Issuers) *Tokens {
	return &Tokens{Finder{report.NewStore(db, 1)}, issuers, NewGateways(db), db.Now} // the shards do not matter to reads
}

// Verify returns the caller that a token speaks for; false if the service knows no such token.
func (s *Tokens) Verify(ctx context.Context, t boxtoken.Token) (auth.Principal, bool, error) {
	if t.Kind == boxtoken.Gateway {
		g, err := s.gateways.get(ctx, t.Subject)
		return t.Principal(t.Subject, ""), err == nil && g.Tokens.Accepts(t.SHA256, s.now()), err
	}
	row, err := s.Finder.Find(ctx, t.Subject)
	if err == nil && !row.Tokens.Accepts(t.SHA256, s.now()) {
		row, err = registeredRow(s.Reports.Get(ctx, t.Subject)) // it may have been set a moment ago
	}
	if problem.Has(err, problem.NotFound) {
		return auth.Principal{}, false, nil
	}
	return t.Principal(row.OrganizationID, s.issuers.Of(row.Issuer)), err == nil && row.Tokens.Accepts(t.SHA256, s.now()), err
}
