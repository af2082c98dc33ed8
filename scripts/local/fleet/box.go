package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
)

// A box polls, installs what it is told at once, and says so at its next poll.
type box struct {
	id       string
	url      string // of its manifest, without the query
	interval time.Duration
	client   *http.Client
	issuers  *devissuer.Issuers
	seen     *tally

	token     string
	installed string
	asked     time.Duration // the interval that the service asked for
	// etag is that of the last answer from the URL asked; another URL is another resource.
	etag, from string
}

func newBox(id string, p plan, client *http.Client, issuers *devissuer.Issuers) *box {
	return &box{id: id, url: p.url + "/api/edges/" + id + "/update/manifest", interval: p.interval, client: client, issuers: issuers,
		asked: time.Minute}
}

// run polls until the context ends. The first polls spread over an interval, and no two boxes stay in
// step: every wait is up to a tenth shorter or longer.
func (b *box) run(ctx context.Context) {
	first := b.interval
	if first == 0 {
		first = 5 * time.Second
	}
	wait := rand.N(first + 1)
	for sleep(ctx, wait) {
		wait = b.poll(ctx)
	}
}

// pause is the time until the next poll.
func (b *box) pause() time.Duration {
	d := b.interval
	if d == 0 {
		d = b.asked
	}
	return d - d/10 + rand.N(d/5+1)
}

// poll makes one poll and returns how long to wait then.
func (b *box) poll(ctx context.Context) time.Duration {
	r, err := b.request(ctx)
	if err != nil {
		b.seen.poll(b.id, outcome{failed: err})
		return b.pause()
	}
	began := time.Now()
	res, err := b.client.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			b.seen.poll(b.id, outcome{failed: err})
		}
		return b.pause()
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	_ = res.Body.Close()
	o := outcome{status: res.StatusCode, took: time.Since(began), failed: err}
	var m edge.Manifest
	switch {
	case err != nil:
	case res.StatusCode == http.StatusOK:
		if o.failed = json.Unmarshal(text, &m); o.failed != nil {
			break
		}
		b.etag, b.from = res.Header.Get("ETag"), r.URL.String()
		b.installed, b.asked = m.Version, time.Duration(max(m.PollIntervalSeconds, 1))*time.Second
		o.version, o.source = m.Version, m.Source
	case res.StatusCode == http.StatusNotModified:
	case res.StatusCode == http.StatusUnauthorized:
		b.token = "" // it has run out; the next poll has a new one
	default:
		o.failed = fmt.Errorf("%d %.300s", res.StatusCode, text)
	}
	b.seen.poll(b.id, o)
	if wait, told := retryAfter(res); told {
		return wait + rand.N(time.Second)
	}
	return b.pause()
}

func (b *box) request(ctx context.Context) (*http.Request, error) {
	if b.token == "" {
		var err error
		if b.token, err = b.issuers.Token(devissuer.Claims{User: b.id, Roles: []string{string(auth.Edge)}}); err != nil {
			return nil, err
		}
	}
	at := b.url
	if b.installed != "" {
		at += "?installed=" + url.QueryEscape(b.installed)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	if b.etag != "" && b.from == at {
		r.Header.Set("If-None-Match", b.etag)
	}
	return r, nil
}

// retryAfter is the wait that an answer of 429 or 503 asks for, one second if it does not say.
func retryAfter(res *http.Response) (time.Duration, bool) {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	n, err := strconv.Atoi(res.Header.Get("Retry-After"))
	return time.Duration(max(n, 1)) * time.Second, err == nil || res.StatusCode == http.StatusTooManyRequests
}
