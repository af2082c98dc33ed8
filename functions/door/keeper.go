package main

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
)

// A keeper verifies tokens. A call costs at most one read, and before its token is verified no write. No limit counts a
// call without a valid token: the reserved executions of the function bound what such calls cost.
type keeper struct {
	tokens  *boxauth.Tokens
	foreign *boxauth.Foreign // nil: tokens have our own form
	now     func() time.Time

	mu      sync.Mutex
	unknown map[string]time.Time // until when ids of boxes that do not exist are refused without a read
}

const (
	// readTime is how long the store may take to answer.
	readTime = 2 * time.Second
	// unknownFor is how long a container remembers that there is no box with an id. So a box that comes in the moment of its
	// registration waits that long.
	unknownFor = 5 * time.Second
	// mostUnknown bounds its memory. When it is reached, all ids are forgotten and read again.
	mostUnknown = 10_000
	// validFor is how long a caller is valid, as far as its call is concerned.
	validFor = time.Minute
)

// An entry is the context of a call, and its caller, as the authorizer passes it on.
type entry struct {
	ctx    context.Context
	caller map[string]any
}

// enter verifies the token of a call at a URL. It returns UNAUTHENTICATED and UNAVAILABLE.
func (k *keeper) enter(ctx context.Context, event events.APIGatewayProxyRequest, controllerID, host string) (entry, error) {
	t, ok := k.token(event, controllerID)
	if !ok {
		return entry{}, invalid("no token of a box")
	}
	if k.remembers(t.Subject) {
		return entry{}, invalid("a box that was unknown a moment ago")
	}
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	enter := k.tokens.Enter
	if t.Foreign {
		enter = func(ctx context.Context, t boxtoken.Token) (report.Row, auth.Principal, error) {
			return k.foreign.Enter(ctx, event.RequestContext.Identity.SourceIP, event.RequestContext.RequestID, t)
		}
	}
	row, caller, err := enter(reading, t)
	switch {
	case problem.Has(err, problem.NotFound):
		k.remember(t.Subject)
		return entry{}, invalid("an unknown box")
	case err != nil:
		return entry{}, polling.Spread(err)
	case caller.UserID == "":
		return entry{}, invalid("not the token of the box")
	}
	caller.Expires = k.now().Add(validFor)
	return entry{boxauth.Inside(ctx, row, host), caller.Context()}, nil
}

// token reads the token of a call. One of another form is for the box of a DDI client's path.
func (k *keeper) token(event events.APIGatewayProxyRequest, controllerID string) (t boxtoken.Token, ok bool) {
	scheme, raw, given := boxtoken.Credentials(event.MultiValueHeaders["authorization"])
	t, ours := boxtoken.Parse(raw)
	switch {
	case !given:
		return t, false
	case ours:
		return t, t.Kind == boxtoken.Box && t.Kind.ComesBy(scheme)
	case k.foreign == nil || scheme != boxtoken.TargetToken:
		return t, false
	}
	id, _ := url.PathUnescape(controllerID)
	return boxtoken.Foreign(id, raw)
}

// invalid is the API's answer to a token that is not valid. The cause is for the log.
func invalid(cause string) error {
	return problem.Wrap(errors.New(cause), problem.Unauthenticated, problem.NoValidToken)
}

func (k *keeper) remembers(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now().Before(k.unknown[id])
}

func (k *keeper) remember(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.unknown) >= mostUnknown {
		clear(k.unknown)
	}
	k.unknown[id] = k.now().Add(unknownFor)
}
