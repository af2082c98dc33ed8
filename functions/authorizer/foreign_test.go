package main

import (
	"context"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

const foreignText = "0123456789abcdef0123456789abcdef"

// foreignCall is a poll of a DDI client.
func foreignCall(authorization, tenant, id string) request {
	return request{
		MethodArn: "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/GET/api/ddi/" + tenant + "/controller/v1/" + id, HTTPMethod: "GET",
		PathParameters:    map[string]string{"tenant": tenant, "controllerId": id},
		MultiValueHeaders: map[string][]string{"Authorization": {authorization}},
	}
}

// takingForeign is a harness that takes tokens of another form, and knows the same one of two boxes.
func takingForeign(t *testing.T) *harness {
	t.Helper()
	h := newHarness(t, tokentest.NewWorld(noon).Setting, atNoon)
	h.foreign = true
	h.issued.knows = func(_ context.Context, _ request, shown boxtoken.Token) (auth.Principal, bool, error) {
		known, _ := boxtoken.Foreign(shown.Subject, foreignText)
		return shown.Principal("acme", ""), shown == known && shown.Subject != "box-3", nil
	}
	return h
}

// TestAuthorize_ForeignToken_SpeaksForTheBoxInThePathAlone, even if two boxes have the same token.
func TestAuthorize_ForeignToken_SpeaksForTheBoxInThePathAlone(t *testing.T) {
	h := takingForeign(t)
	for id, user := range map[string]string{"box-1": "box-1", "00%3A1A": "00:1A", "box-2": "box-2"} {
		answer := expect.Value(h.authorize(t.Context(), foreignCall("TargetToken "+foreignText, "DEFAULT", id)))(t)
		p := expect.Value(auth.FromContext(answer.Context))(t)
		expect.Equal(t, p.UserID+" "+string(boxtoken.KindOf(p)), user+" wavegate-edge", "the caller is")
		path := "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/*/api/ddi/DEFAULT/controller/v1/" + id
		expect.Equal(t, answer.PolicyDocument.Statement[0].Resource, []string{path, path + "/*"}, "it may call")
	}
}

// TestAuthorize_ForeignGatewayToken_IsTheGatewayForTheBoxInThePath: another box, perhaps of another organization, is asked for again.
func TestAuthorize_ForeignGatewayToken_IsTheGatewayForTheBoxInThePath(t *testing.T) {
	h := takingForeign(t)
	h.issued.knows = func(_ context.Context, _ request, shown boxtoken.Token) (auth.Principal, bool, error) {
		known, _ := boxtoken.ForeignGateway("box-1", foreignText)
		return boxtoken.Token{Kind: boxtoken.Gateway, Subject: "acme", SHA256: shown.SHA256}.Principal("acme", ""), shown == known, nil
	}
	answer := expect.Value(h.authorize(t.Context(), foreignCall("GatewayToken "+foreignText, "DEFAULT", "box-1")))(t)
	p := expect.Value(auth.FromContext(answer.Context))(t)
	expect.Equal(t, p.OrganizationID+" "+string(boxtoken.KindOf(p)), "acme wavegate-gateway", "the caller is")
	for _, other := range []request{foreignCall("GatewayToken "+foreignText, "DEFAULT", "box-2"), foreignCall("TargetToken "+foreignText, "DEFAULT", "box-1")} {
		answer, err := h.authorize(t.Context(), other)
		mustBeUnauthorized(t, answer, err)
	}
}

// TestAuthorize_ForeignToken_ThatIsNotKnown_IsUnauthorized, and not kept: the box may be registered a moment later.
func TestAuthorize_ForeignToken_ThatIsNotKnown_IsUnauthorized(t *testing.T) {
	for name, event := range map[string]request{
		"another token": foreignCall("TargetToken "+foreignText+"0", "DEFAULT", "box-1"),
		"another box":   foreignCall("TargetToken "+foreignText, "DEFAULT", "box-3"),
	} {
		h := takingForeign(t)
		answer, err := h.authorize(t.Context(), event)
		mustBeUnauthorized(t, answer, err)
		expect.Equal(t, h.outcome(t), token.NotIssued, "%s", name)
	}
}

// TestAuthorize_ForeignToken_ElsewhereOrWithoutTheSetting_IsDenied.
func TestAuthorize_ForeignToken_ElsewhereOrWithoutTheSetting_IsDenied(t *testing.T) {
	good := func() request { return foreignCall("TargetToken "+foreignText, "DEFAULT", "box-1") }
	without := func(change func(h *harness, r *request)) func(*harness) request {
		return func(h *harness) request {
			r := good()
			change(h, &r)
			return r
		}
	}
	for name, event := range map[string]func(*harness) request{
		"without the setting":  without(func(h *harness, _ *request) { h.foreign = false }),
		"at another operation": without(func(_ *harness, r *request) { r.PathParameters, r.MethodArn = nil, arn }),
		"as Bearer":            without(func(_ *harness, r *request) { *r = foreignCall("Bearer "+foreignText, "DEFAULT", "box-1") }),
		"no box":               without(func(_ *harness, r *request) { *r = foreignCall("TargetToken "+foreignText, "DEFAULT", "..%2F1") }),
		"a tenant for all":     without(func(_ *harness, r *request) { *r = foreignCall("TargetToken "+foreignText, "*", "box-1") }),
		"a JWT's form": without(func(_ *harness, r *request) {
			*r = foreignCall("TargetToken eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "DEFAULT", "box-1")
		}),
		"our form, a bit wrong": without(func(_ *harness, r *request) {
			*r = foreignCall("TargetToken wavegate-edge:box-1:x", "DEFAULT", "box-1")
		}),
		"another box's path":     without(func(_ *harness, r *request) { r.MethodArn += "0" }),
		"a path with a wildcard": without(func(_ *harness, r *request) { r.MethodArn += "/*" }),
	} {
		t.Run(name, func(t *testing.T) {
			h := takingForeign(t)
			answer, err := h.authorize(t.Context(), event(h))
			mustDeny(t, answer, err)
		})
	}
}
