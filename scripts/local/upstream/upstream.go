// Package upstream hands requests on to a store and brings whole answers back, for what stands in front
// of one.
package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// patience is how long a store may take, on a machine that is busy with other things.
const patience = 30 * time.Second

// A Store is what requests are handed on to.
type Store struct {
	endpoint  string
	transport *http.Transport
}

// New gives the store at an endpoint, a base URL.
func New(endpoint string) *Store {
	// Answers go back as they came, checksum and all, so nothing is unpacked on the way.
	return &Store{endpoint, &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}
}

// Close ends the connections that nobody uses.
func (s *Store) Close() { s.transport.CloseIdleConnections() }

// An Answer is the store's.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask hands a request on with the given body. What a caller began is finished even if it leaves, as it
// would be on AWS.
func (s *Store) Ask(r *http.Request, body []byte) (Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	out, err := http.NewRequestWithContext(ctx, r.Method, s.endpoint+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	out.Header = r.Header.Clone()
	in, err := s.transport.RoundTrip(out)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = in.Body.Close() }()
	all, err := io.ReadAll(in.Body)
	if err != nil {
		return Answer{}, err
	}
	return Answer{in.StatusCode, in.Header, all}, nil
}

// Begin sends an answer's head, so that its body can follow, or part of it.
func (a Answer) Begin(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
}
