package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

// A store knows some tokens.
type store struct {
	tokens map[boxtoken.Token]string // the organization of each
	err    error
	reads  int
}

func (s *store) knows(_ context.Context, _ request, t boxtoken.Token) (auth.Principal, bool, error) {
	s.reads++
	organization, ok := s.tokens[t]
	return t.Principal(organization, ""), ok, s.err
}

// issuing is a harness whose store knows a box's and a gateway's token, which it returns.
func issuing(t *testing.T, now func() time.Time) (h *harness, s *store, box, gateway string) {
	t.Helper()
	h = newHarness(t, tokentest.NewWorld(noon).Setting, now)
	box, own := boxtoken.New(boxtoken.Box, "box-1")
	gateway, all := boxtoken.New(boxtoken.Gateway, "acme")
	s = &store{tokens: map[boxtoken.Token]string{own: "acme", all: "acme"}}
	h.issued.knows = s.knows
	return h, s, box, gateway
}

func calling(authorization string) request {
	return request{MethodArn: arn, MultiValueHeaders: map[string][]string{"Authorization": {authorization}}}
}

func TestAuthorize_TokenThatTheServiceKnows_IsABox(t *testing.T) {
	for kind, user := range map[boxtoken.Prefix]string{boxtoken.Box: "box-1", boxtoken.Gateway: "acme"} {
		t.Run(string(kind), func(t *testing.T) {
			h, _, box, gateway := issuing(t, atNoon)
			authorization := map[boxtoken.Prefix]string{boxtoken.Box: "TargetToken " + box, boxtoken.Gateway: "gatewaytoken " + gateway}[kind]
			answer := expect.Value(h.authorize(t.Context(), calling(authorization)))(t)
			p := expect.Value(auth.FromContext(answer.Context))(t)
			expect.Equal(t, p.UserID+" of "+p.OrganizationID, user+" of acme", "the caller is")
			expect.Equal(t, p.Roles, []auth.Role{auth.Edge}, "its roles")
			expect.Equal(t, boxtoken.KindOf(p), kind, "its token is")
			expect.That(t, p.Credential != "", "it has no credential")
		})
	}
}

// TestAuthorize_SchemeAndToken_BelongTogether: a token with a scheme other than its own is denied.
func TestAuthorize_SchemeAndToken_BelongTogether(t *testing.T) {
	w := tokentest.NewWorld(noon)
	for name, c := range map[string]struct {
		authorization func(box, gateway string) string
		class         token.RefusalReason
	}{
		"a gateway's token as Bearer":       {func(_, gateway string) string { return "Bearer " + gateway }, token.Malformed},
		"a gateway's token as TargetToken":  {func(_, gateway string) string { return "TargetToken " + gateway }, token.Malformed},
		"a box's token as GatewayToken":     {func(box, _ string) string { return "GatewayToken " + box }, token.Malformed},
		"a JWT as GatewayToken":             {func(string, string) string { return "GatewayToken " + w.Person().Sign() }, token.Malformed},
		"a person's JWT as TargetToken":     {func(string, string) string { return "TargetToken " + w.Person().Sign() }, noBox},
		"a token that is a little too long": {func(box, _ string) string { return "TargetToken " + box + "A" }, token.Malformed},
		"another scheme":                    {func(box, _ string) string { return "Basic " + box }, noToken},
		"nothing behind the scheme":         {func(string, string) string { return "TargetToken " }, noToken},
	} {
		t.Run(name, func(t *testing.T) {
			h, _, box, gateway := issuing(t, atNoon)
			h.verifier = newHarness(t, w.Setting, atNoon).verifier
			answer, err := h.authorize(t.Context(), calling(c.authorization(box, gateway)))
			mustDeny(t, answer, err)
			expect.Equal(t, h.outcome(t), c.class, "logged as")
		})
	}
}

// TestAuthorize_UnknownToken_IsRefused_AndNotForLong: the service may learn of it a moment later.
func TestAuthorize_UnknownToken_IsRefused_AndNotForLong(t *testing.T) {
	_, _, strangeBox, strangeGateway := issuing(t, atNoon)
	_, _, box, _ := issuing(t, atNoon)
	for name, authorization := range map[string]string{
		"a box's token":                   "TargetToken " + strangeBox,
		"a box's token as Bearer":         "Bearer " + strangeBox,
		"a gateway's":                     "GatewayToken " + strangeGateway,
		"another box's name on the token": "TargetToken wavegate-edge:box-2" + box[len("wavegate-edge:box-1"):],
	} {
		t.Run(name, func(t *testing.T) {
			h, _, _, _ := issuing(t, atNoon)
			answer, err := h.authorize(t.Context(), calling(authorization))
			mustBeUnauthorized(t, answer, err)
			expect.Equal(t, h.outcome(t), token.NotIssued, "logged as")
		})
	}
}

func TestAuthorize_StoreOutOfReach_IsUnavailable(t *testing.T) {
	h, s, box, _ := issuing(t, atNoon)
	s.err = errors.New("out of reach")
	answer, err := h.authorize(t.Context(), calling("TargetToken "+box))
	mustBeUnknown(t, answer, err)
}

// TestAuthorize_KnownToken_IsReadEachFortyMinutes: the operations check it again.
func TestAuthorize_KnownToken_IsReadEachFortyMinutes(t *testing.T) {
	now := noon
	h, s, box, _ := issuing(t, func() time.Time { return now })
	for range 51 {
		answer := expect.Value(h.authorize(t.Context(), calling("TargetToken "+box)))(t)
		p, err := auth.FromContext(answer.Context)
		if err != nil || p.Expires.Before(now.Add(auth.GatewayCache)) {
			t.Fatalf("the principal ends at %s, and the gateway keeps it for %s from %s on: %v", p.Expires, auth.GatewayCache, now, err)
		}
		now = now.Add(time.Minute)
	}
	expect.Equal(t, s.reads, 2, "in 50 minutes, the number of reads is")
}
