package main

import (
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

const enrolmentID = "0192f0c1-8a31-7b0c-9d2e-4f5a6b7c8d90"

// enrolling is a harness whose store knows a code, which it returns.
func enrolling(t *testing.T) (h *harness, s *store, code string) {
	t.Helper()
	h = newHarness(t, tokentest.NewWorld(noon).Setting, atNoon)
	code, own := boxtoken.New(boxtoken.Enrolment, enrolmentID)
	s = &store{tokens: map[boxtoken.Token]string{own: ""}}
	h.issued.knows = s.knows
	return h, s, code
}

func TestAuthorize_CodeOfAnEnrolment_MayRedeemAndNothingElse(t *testing.T) {
	h, _, code := enrolling(t)
	answer := expect.Value(h.authorize(t.Context(), calling("Bearer "+code)))(t)
	p, err := auth.FromContext(answer.Context)
	if err != nil || p.UserID != enrolmentID || p.OrganizationID != "" || p.Credential == "" || boxtoken.KindOf(p) != boxtoken.Enrolment || !p.Has(auth.Enrolment) {
		t.Fatalf("the caller is %+v, %v", p, err)
	}
	for _, role := range append([]auth.Role{auth.Anyone, auth.Member}, auth.Roles...) {
		if role != auth.Enrolment && p.Has(role) {
			t.Errorf("a code has the role %s", role)
		}
	}
	expect.That(t, !strings.Contains(h.log.String(), code) && !strings.Contains(tokentest.JSON(answer), code),
		"the code was written")
}

// TestAuthorize_AttackWithACode_IsRefused: read is true if the store is asked. The log never contains the secret.
func TestAuthorize_AttackWithACode_IsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		header func(code string) []string
		read   bool
	}{
		"made up": {func(string) []string {
			made, _ := boxtoken.New(boxtoken.Enrolment, enrolmentID)
			return []string{"Bearer " + made}
		}, true},
		"of another enrolment": {func(code string) []string { return []string{"Bearer " + strings.Replace(code, "8d90:", "8d91:", 1)} }, true},
		"its id in upper case": {func(code string) []string {
			return []string{"Bearer " + strings.Replace(code, enrolmentID, strings.ToUpper(enrolmentID), 1)}
		}, true},
		"upper case":       {func(code string) []string { return []string{"Bearer " + strings.ToUpper(code)} }, false},
		"without its kind": {func(code string) []string { return []string{"Bearer " + strings.TrimPrefix(code, "wavegate-enrol:")} }, false},
		"of a box's kind": {func(code string) []string {
			return []string{"Bearer " + strings.Replace(code, "wavegate-enrol", "wavegate-edge", 1)}
		}, false},
		"of a gateway's kind": {func(code string) []string {
			return []string{"GatewayToken " + strings.Replace(code, "wavegate-enrol", "wavegate-gateway", 1)}
		}, false},
		"truncated":          {func(code string) []string { return []string{"Bearer " + code[:len(code)-1]} }, false},
		"too long":           {func(code string) []string { return []string{"Bearer " + code + "A"} }, false},
		"a bit that is lost": {func(code string) []string { return []string{"Bearer " + code[:len(code)-1] + "B"} }, false},
		"no secret":          {func(code string) []string { return []string{"Bearer wavegate-enrol:" + enrolmentID + ":"} }, false},
		"no UUID": {func(code string) []string {
			return []string{"Bearer " + strings.Replace(code, enrolmentID, "box-1", 1)}
		}, false},
		"a space inside":        {func(code string) []string { return []string{"Bearer " + code[:30] + " " + code[30:]} }, false},
		"a line break behind":   {func(code string) []string { return []string{"Bearer " + code + "\n"} }, false},
		"a TargetToken":         {func(code string) []string { return []string{"TargetToken " + code} }, false},
		"a GatewayToken":        {func(code string) []string { return []string{"GatewayToken " + code} }, false},
		"Basic":                 {func(code string) []string { return []string{"Basic " + code} }, false},
		"a doubled header":      {func(code string) []string { return []string{"Bearer " + code, "Bearer " + code} }, false},
		"two codes in a header": {func(code string) []string { return []string{"Bearer " + code + ", Bearer " + code} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			h, s, code := enrolling(t)
			event := request{MethodArn: arn, MultiValueHeaders: map[string][]string{"Authorization": c.header(code)}}
			answer, err := h.authorize(t.Context(), event)
			if err == nil {
				mustDeny(t, answer, err)
			} else {
				mustBeUnauthorized(t, answer, err)
			}
			expect.Equal(t, s.reads > 0, c.read, "the store was asked")
			secret := code[len(code)-22:]
			expect.That(t, !strings.Contains(h.log.String()+h.metrics.String(), secret), "the secret was written")
		})
	}
}
