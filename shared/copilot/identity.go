package copilot

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"wavegate/shared/access/auth"
)

// Headers that tell the assistant who calls. In their values, the percent sign and every byte that is not printable
// ASCII are percent-encoded.
const (
	HeaderIssuer       = "X-Wavegate-Issuer"
	HeaderUser         = "X-Wavegate-User"
	HeaderOrganization = "X-Wavegate-Organization" // absent if the caller has none
	HeaderRoles        = "X-Wavegate-Roles"        // separated by spaces
	HeaderRequestID    = "X-Wavegate-Request-Id"
	// HeaderSecret holds the shared secret. The assistant must trust the other headers only together with it.
	HeaderSecret = "X-Wavegate-Secret"

	reserved = "x-wavegate-"
)

// withheld are headers that concern only the caller and this service.
var withheld = []string{
	"Authorization", "Proxy-Authorization",
	// The assistant must not trust what the caller says about where a request comes from.
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto", "X-Real-Ip",
	// Nothing is upgraded: the answer is one body.
	"Connection", "Upgrade",
}

// identify replaces any identity headers that a client sent. An underscore counts as a hyphen, because some servers do
// not distinguish them.
func identify(h http.Header, caller auth.Principal, requestID, secret string) {
	for name := range h {
		if strings.HasPrefix(strings.ReplaceAll(strings.ToLower(name), "_", "-"), reserved) {
			delete(h, name)
		}
	}
	for _, name := range withheld {
		h.Del(name)
	}
	roles := make([]string, len(caller.Roles))
	for i, r := range caller.Roles {
		roles[i] = string(r)
	}
	h.Set(HeaderIssuer, identityValue(caller.Issuer))
	h.Set(HeaderUser, identityValue(caller.UserID))
	h.Set(HeaderRoles, identityValue(strings.Join(roles, " ")))
	h.Set(HeaderRequestID, identityValue(requestID))
	h.Set(HeaderSecret, secret)
	if caller.OrganizationID != "" {
		h.Set(HeaderOrganization, identityValue(caller.OrganizationID))
	}
}

func identityValue(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// fitsHeader reports whether a secret can be sent as it is.
func fitsHeader(value string) bool { return value != "" && identityValue(value) == value }

// checkHeader refuses a secret that cannot be sent as it is.
func checkHeader(value string) error {
	if !fitsHeader(value) {
		return errors.New("the copilot's secret must be printable ASCII without a percent sign")
	}
	return nil
}
