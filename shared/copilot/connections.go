package copilot

import (
	"net"
	"net/http"
	"time"
)

// connections are those to the assistant. GET uses kept connections: if one is broken, net/http sends the request
// again. Requests that must not be sent twice use fresh ones, because a kept one may have been closed while the
// container was frozen.
type connections struct{ kept, fresh http.RoundTripper }

func newConnections() connections {
	kept := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		TLSHandshakeTimeout:   3 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       45 * time.Second, // shorter than load balancers keep one, a minute as a rule
		// Bodies pass unchanged.
		DisableCompression: true,
	}
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	return connections{kept, fresh}
}

// RoundTrip sends a request over a connection that suits its method.
func (c connections) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return c.kept.RoundTrip(r)
	}
	return c.fresh.RoundTrip(r)
}
