package input

// HTTPSURL is the rule of an absolute https URL that a box can fetch without credentials. The
// pattern alone decides, following RFC 3986, so that the published contract can contain it.
var HTTPSURL = &Text{
	Pattern: `https` + location,
	Max:     4096, // an address that is signed in advance is longer than most
	Says:    "an absolute https URL with a host, without user information and fragment",
}

// HTTPURL is HTTPSURL for an address that may be http as well.
var HTTPURL = &Text{
	Pattern: `https?` + location,
	Max:     4096, // an address that is signed in advance is longer than most
	Says:    "an absolute http or https URL with a host, without user information and fragment",
}

// location is what follows the scheme of a URL.
const location = `://(` + label + `(\.` + label + `)*|\[(` + ipv6 + `)\])(:(` + port + `))?([/?]([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?`

// label is a label of a host name (RFC 1123, section 2.1). It may have underscores, as some storage
// services use them. ipv6 is an IPv6 address in any of its shortened forms, without an embedded IPv4
// address (RFC 3986, section 3.2.2). port is a port number.
const (
	label = `[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?`
	h16   = `[0-9A-Fa-f]{1,4}`
	ipv6  = `(` + h16 + `:){7}(` + h16 + `|:)|(` + h16 + `:){6}((:` + h16 + `){1,1}|:)|(` + h16 + `:){5}((:` + h16 + `){1,2}|:)|(` +
		h16 + `:){4}((:` + h16 + `){1,3}|:)|(` + h16 + `:){3}((:` + h16 + `){1,4}|:)|(` + h16 + `:){2}((:` + h16 + `){1,5}|:)|` +
		h16 + `:((:` + h16 + `){1,6}|:)|:((:` + h16 + `){1,7}|:)`
	port = `[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]`
)
