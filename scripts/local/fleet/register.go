package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/access/auth"
)

// boxesAnOwner is how many boxes one platform owner registers: fewer than the 600 calls a minute that a user can
// make.
const boxesAnOwner = 500

// register puts every box on its channel, several at a time, and returns the boxes.
func register(ctx context.Context, p plan, client *http.Client, issuers *devissuer.Issuers, show *screen) ([]*box, error) {
	var owners []string
	for i := range p.boxes/boxesAnOwner + 1 {
		// Each owner has its own organization, so that they do not share one organization's limit.
		name := fmt.Sprintf("fleet-owner-%s%d", p.prefix, i)
		token, err := issuers.Token(devissuer.Claims{User: name, Organization: name, Roles: []string{string(auth.PlatformOwner)}})
		if err != nil {
			return nil, err
		}
		owners = append(owners, token)
	}
	boxes := make([]*box, p.boxes)
	var next, done atomic.Int64
	var failed error
	var once sync.Once
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(boxes) {
					return
				}
				b := newBox(p.id(i), &p, client, issuers)
				if err := put(ctx, client, p.url+"/api/edges/"+b.id, owners[i/boxesAnOwner], p.registration(i)); err != nil {
					once.Do(func() { failed = err; cancel() })
					return
				}
				boxes[i] = b
				if n := int(done.Add(1)); show != nil {
					show.registering(n, len(boxes))
				}
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	return boxes, ctx.Err()
}

// withTokens returns the boxes that have tokens in a directory.
func withTokens(p plan, client *http.Client) ([]*box, error) {
	tokens, err := tokenfile.All(p.tokens)
	if err == nil && len(tokens) == 0 {
		err = errors.New("there is no token in " + p.tokens)
	}
	var boxes []*box
	for _, id := range slices.Sorted(maps.Keys(tokens)) {
		b := newBox(id, &p, client, nil)
		b.own = tokens[id]
		boxes = append(boxes, b)
	}
	return boxes, err
}

func (p *plan) id(i int) string { return fmt.Sprintf("%s%04d", p.prefix, i+1) }

// registration returns the body that registers a box. The boxes are spread over the factories.
func (p *plan) registration(i int) string {
	body := map[string]any{"edgeType": p.edgeType, "channel": p.channel, "organizationId": p.organization}
	if attributes := p.chances.attributes(p.id(i)); attributes != nil {
		body["attributes"] = attributes
	}
	if p.plants > 0 {
		body["factoryId"] = fmt.Sprintf("plant-%02d", i%p.plants+1)
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return string(text)
}

// put registers a box and obeys Retry-After.
func put(ctx context.Context, client *http.Client, url, token, body string) error {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		res, err := client.Do(r)
		if err != nil {
			return fmt.Errorf("the service cannot be reached; is ./scripts/dev running? %w", err)
		}
		text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
		_ = res.Body.Close()
		switch wait, again := retryAfter(res.StatusCode, res.Header); {
		case err != nil:
			return err
		case res.StatusCode == http.StatusCreated || res.StatusCode == http.StatusNoContent:
			return nil
		case again:
			if !sleep(ctx, wait) {
				return ctx.Err()
			}
		case res.StatusCode == http.StatusUnauthorized:
			return errors.New("the service does not take the tokens: it runs with another directory of keys (WAVEGATE_DEV_DIR)")
		default:
			return fmt.Errorf("a box could not be registered: %d %s", res.StatusCode, text)
		}
	}
}

// sleep waits, and reports whether the context is still active.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
