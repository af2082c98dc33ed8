package harness

import (
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/access/boxtoken"
)

// SetToken makes a token for a box or a gateway, sends its hash to a path of the service, and returns the token.
func (c *Caller) SetToken(t testing.TB, path string) string {
	t.Helper()
	kind, subject := boxtoken.Box, strings.TrimSuffix(strings.TrimPrefix(path, "/api/edges/"), "/token")
	if organization, ok := strings.CutPrefix(path, "/api/organizations/"); ok {
		kind, subject = boxtoken.Gateway, strings.TrimSuffix(organization, "/gateway-token")
	}
	text, token := boxtoken.New(kind, subject)
	c.Put(t, path, `{"tokenSha256":"`+token.SHA256+`"}`).Is(t, http.StatusNoContent)
	return text
}
