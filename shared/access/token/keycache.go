package token

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// A Lambda container is frozen between calls. So nothing refreshes in the background, and ages
// come from the wall clock, because the monotonic clock may stop.
const (
	// freshFor is how long keys are used without a new fetch. It is also how long a revoked key
	// remains valid here.
	freshFor = 10 * time.Minute
	// staleFor is how long keys are used while the issuer cannot be reached. An issuer that is
	// down makes no new tokens, and few tokens live longer than this.
	staleFor = 6 * time.Hour
	// retryAfter is the least time between two fetches while there are keys. It limits the
	// fetches that tokens with made-up key ids can cause, and the calls that wait for an issuer
	// that is down.
	retryAfter = time.Minute
	// retryWithoutKeys is the same while there are no keys and every token is refused.
	retryWithoutKeys = 5 * time.Second
	fetchTimeout     = 2 * time.Second
)

// A keyCache holds the keys that an issuer publishes.
type keyCache struct {
	source  source
	client  *http.Client
	now     func() time.Time
	failed  func(context.Context, error)
	timeout time.Duration

	mu      sync.Mutex
	keys    map[string]key
	fetched time.Time     // when keys were fetched; zero if never
	tried   time.Time     // when a fetch last began; zero if never
	flight  chan struct{} // closed when the current fetch ends; nil if there is none
}

func newKeyCache(s source, client *http.Client, now func() time.Time, failed func(context.Context, error)) *keyCache {
	return &keyCache{
		source: s, client: client, failed: failed, timeout: fetchTimeout,
		now: func() time.Time { return now().Round(0) }, // Round strips the monotonic reading
	}
}

// newClient makes a client for key sets. It follows no redirect, because only the settings may
// say where the keys are. It keeps no connection open: the next fetch is minutes away, and the
// connection may be closed while the container is frozen.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// find returns the key of an id, and fetches the set if that may help. Callers that arrive
// during a fetch share it.
func (c *keyCache) find(ctx context.Context, id string) (key, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, err := c.look(id)
	if err == nil && c.isFresh() {
		return k, nil
	}
	if c.flight == nil && !c.mayFetch() {
		return k, err
	}
	if c.flight == nil {
		c.start(ctx)
	}
	flight := c.flight
	c.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
	}
	c.mu.Lock()
	return c.look(id)
}

// look finds a key among those in memory, fresh or stale.
func (c *keyCache) look(id string) (key, error) {
	if !c.isUsable() {
		return key{}, errNoKeys
	}
	k, ok := c.keys[id]
	if !ok {
		return key{}, errUnknownKey
	}
	return k, nil
}

func (c *keyCache) isUsable() bool {
	return !c.fetched.IsZero() && c.now().Sub(c.fetched) < staleFor
}

// isFresh is false if the clock moved back, because the age is then unknown.
func (c *keyCache) isFresh() bool {
	age := c.now().Sub(c.fetched)
	return !c.fetched.IsZero() && age >= 0 && age < freshFor
}

func (c *keyCache) mayFetch() bool {
	pause := retryWithoutKeys
	if c.isUsable() {
		pause = retryAfter
	}
	since := c.now().Sub(c.tried)
	return c.tried.IsZero() || since < 0 || since >= pause
}

// start begins a fetch. It continues when the caller that began it leaves, because others wait
// for it.
func (c *keyCache) start(ctx context.Context) {
	flight := make(chan struct{})
	c.flight, c.tried = flight, c.now()
	ctx = context.WithoutCancel(ctx)
	go func() {
		keys, err := c.fetch(ctx)
		if err != nil {
			c.failed(ctx, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			c.keys, c.fetched = keys, c.tried
		}
		c.flight = nil
		close(flight)
	}()
}

func (c *keyCache) fetch(ctx context.Context) (map[string]key, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.source.keys(ctx, c.client)
}
