package boxtoken

import (
	"slices"
	"strings"
)

// The schemes of tokens, in lower case. The last two are those of DDI clients. A box's own token may also use the first
// one. A code may only use the first one.
const (
	Bearer       = "bearer"
	TargetToken  = "targettoken"
	GatewayToken = "gatewaytoken"
)

// ComesBy reports whether a kind of token may be sent with a scheme.
func (k Prefix) ComesBy(scheme string) bool {
	switch k {
	case Gateway:
		return scheme == GatewayToken
	case Enrolment:
		return scheme == Bearer
	}
	return scheme != GatewayToken
}

// Credentials returns the scheme and the token of the call's only Authorization header (RFC 6750 §2.1; the scheme's
// case does not matter, RFC 9110 §11.1). A call with two is refused, because another reader might choose the other one.
func Credentials(values []string) (scheme, raw string, ok bool) {
	if len(values) != 1 {
		return "", "", false
	}
	scheme, raw, _ = strings.Cut(strings.Trim(values[0], " \t"), " ")
	scheme, raw = strings.ToLower(scheme), strings.TrimLeft(raw, " ")
	if !slices.Contains([]string{Bearer, TargetToken, GatewayToken}, scheme) || raw == "" {
		return "", "", false
	}
	return scheme, raw, true
}
