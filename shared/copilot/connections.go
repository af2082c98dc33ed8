package copilot

import (
	"net"
	"net/http"
	"time"
)

// connections are those to the assistant. They are kept for GET, which net/http sends once more where one of
// them broke. What is not to be sent twice goes over a fresh one: a kept one may have been closed while the
// container was frozen.
type connections struct{ kept, fresh http.RoundTripper }

func newConnections() connections {
	kept := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		TLSHandshakeTimeout:   3 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       45 * time.Second, // shorter than load balancers keep one, a minute as a rule
		// Bodies pass as they are.
		DisableCompression: true,
	}
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	return connections{kept, fresh}
}

// RoundTrip sends a request over a connection that is fit for its method.
func (c connections) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return c.kept.RoundTrip(r)
	}
	return c.fresh.RoundTrip(r)
}
