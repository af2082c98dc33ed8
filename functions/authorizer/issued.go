package main

import (
	"context"
	"sync"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
)

// A knows looks up the token of a call. It reports whether the service knows the token, and returns its principal.
type knows func(context.Context, request, boxtoken.Token) (auth.Principal, bool, error)

// issued verifies the tokens of boxes and gateways and the codes of enrolments, and remembers those that the service
// knows. They can be revoked, but every operation that is called with such a token checks it again. So a container
// reads a token here at most once in forty minutes.
type issued struct {
	knows knows
	now   func() time.Time

	mu   sync.Mutex
	kept map[boxtoken.Token]auth.Principal // by the token and its subject, until the principal expires
}

const (
	// rememberFor is how long a container remembers a token.
	rememberFor = time.Hour
	// mostRemembered bounds its memory. When it is reached, all tokens are forgotten and read again.
	mostRemembered = 10_000
	// storeTime is how long the store may take to answer.
	storeTime = 2 * time.Second
)

// verify returns the caller that a token authenticates, or false if there is none.
func (s *issued) verify(ctx context.Context, event request, t boxtoken.Token) (auth.Principal, bool, error) {
	if p, ok := s.remembered(t); ok {
		return p, true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	p, ok, err := s.knows(ctx, event, t)
	if err != nil || !ok {
		return auth.Principal{}, false, err
	}
	p.Expires = s.now().Add(rememberFor).Truncate(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= mostRemembered {
		s.kept = map[boxtoken.Token]auth.Principal{}
	}
	s.kept[t] = p
	return p, true, nil
}

func (s *issued) remembered(t boxtoken.Token) (auth.Principal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.kept[t]
	return p, ok && s.now().Add(margin).Before(p.Expires)
}

// margin is longer than the gateway keeps an answer, so that no cached answer outlives its principal.
const margin = auth.GatewayCache + 5*time.Minute
