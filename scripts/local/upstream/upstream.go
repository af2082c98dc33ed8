// Package upstream forwards requests to a store and returns complete answers, for proxies of a store.
package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// answerTimeout is how long a store may take, on a busy machine.
const answerTimeout = 30 * time.Second

// A Store is the store that requests are forwarded to.
type Store struct {
	endpoint  string
	transport *http.Transport
}

// New returns the store at an endpoint, a base URL.
func New(endpoint string) *Store {
	// Answers are returned unchanged, with their checksum, so they must not be decompressed.
	return &Store{endpoint, &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}
}

// Close closes idle connections.
func (s *Store) Close() { s.transport.CloseIdleConnections() }

// An Answer is an answer of the store.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask forwards a request with the given body. It finishes even if the caller leaves, as on AWS.
func (s *Store) Ask(r *http.Request, body []byte) (Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTimeout)
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

// Begin sends an answer's head. The whole body or a part of it may follow.
func (a Answer) Begin(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
}
