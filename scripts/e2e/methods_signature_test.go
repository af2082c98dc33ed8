package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestSignature_OfSomebodyWhoSignedInLongAgo_IsRefused_ButNoStop: an approval says when to sign in again, and a withdrawal needs no
// fresh sign-in.
func TestSignature_OfSomebodyWhoSignedInLongAgo_IsRefused_ButNoStop(t *testing.T) {
	w := harness.New(t, func(o *service.Options) {
		o.Environment = func(string) []string { return []string{setting.SignatureMaxAgeSeconds.Assign(600)} }
	})
	b := benchIn(t, w)
	ago := func(user, organization string, role auth.Role) *harness.Caller {
		token := expect.Value(w.Target.Token(devissuer.Claims{User: user, Organization: organization, Roles: []string{string(role)},
			More: map[string]any{"auth_time": time.Now().Add(-time.Hour).Unix()}}))(t)
		return w.With("Bearer", token)
	}
	anna := ago("anna", "acme", auth.OrganizationAdmin)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	refused := anna.Patch(t, b.version(1), b.body(1, "released", ""))
	d := refused.Refused(t, problem.SignInAgain)
	expect.That(t, strings.Contains(d.Detail, "a signature needs a sign-in at most 10m0s ago"), "%s", d.Detail)
	challenge := refused.Header.Get("WWW-Authenticate") + refused.Header.Get("X-Amzn-Remapped-Www-Authenticate")
	expect.That(t, strings.Contains(challenge, `error="insufficient_user_authentication"`) && strings.Contains(challenge, `max_age="600"`), "the challenge is %q", challenge)
	b.move(b.approver, 1, "released", "").Is(t, http.StatusOK)

	const press = "/api/factories/munich-1/machines/press-3"
	anna.Put(t, press, `{"name":"Press 3","classes":["press"]}`).Is(t, http.StatusCreated)
	anna.Put(t, press, `{"name":"Press 3","admission":{"reason":"inspected"}}`).Refused(t, problem.SignInAgain)
	b.approver.Put(t, press, `{"name":"Press 3","admission":{"reason":"inspected"}}`).Is(t, http.StatusNoContent)
	anna.Patch(t, b.version(1), `{"status":"withdrawn","reason":"danger","orders":"stop"}`).Is(t, http.StatusOK)
	ago("olga", "wavegate", auth.PlatformOwner).Post(t, "/api/ota/rollouts/0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70/approvals", `{"stage":10}`).Refused(t, problem.SignInAgain)
}
