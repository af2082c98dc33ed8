package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
)

// A box polls, meets its fate with the version that it is told, and reports it.
type box struct {
	id       string
	url      string // of its /update, without the slash
	interval time.Duration
	fetches  bool // it downloads what it installs
	chances  *chances
	client   *http.Client
	issuers  *devissuer.Issuers
	seen     *tally

	own       string // its own token; empty: it gets access tokens from the issuer
	token     string
	etag      string        // of the last answer; empty if the poll was not recorded
	asked     time.Duration // the interval that the service set
	installed string
	before    string // the version before that
	falls     bool   // it runs a version that it will fall back from
	told      polling.Manifest
	attempt   int       // at the present version
	idle      time.Time // until when it ignores the version that it is told
	refused   string    // a version that it will not try again
	dead      bool
	dies      time.Time // when it dies, if it has installed a version that kills it
}

func newBox(id string, p *plan, client *http.Client, issuers *devissuer.Issuers) *box {
	return &box{id: id, url: p.url + "/api/edges/" + id + "/update", interval: p.interval, fetches: p.download, chances: &p.chances, client: client,
		issuers: issuers, asked: time.Minute}
}

// run polls until the context ends. The first polls spread over an interval, and every wait is up to a tenth shorter
// or longer, so that boxes do not stay in step.
func (b *box) run(ctx context.Context) {
	first := b.interval
	if first == 0 {
		first = 5 * time.Second
	}
	wait := rand.N(first + 1)
	for !b.dead && sleep(ctx, wait) {
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

// poll makes one poll, acts on the answer, and returns how long to wait.
func (b *box) poll(ctx context.Context) time.Duration {
	if !b.dies.IsZero() && time.Now().After(b.dies) {
		b.dead = true
		return b.pause()
	}
	at := b.url + "/manifest"
	if b.installed != "" {
		at += "?installed=" + url.QueryEscape(b.installed)
	}
	began := time.Now()
	got, err := b.call(ctx, http.MethodGet, at, nil)
	if err != nil {
		if ctx.Err() == nil {
			b.seen.poll(b.id, outcome{failed: err})
		}
		return b.pause()
	}
	o := outcome{status: got.status, took: time.Since(began)}
	switch got.status {
	case http.StatusOK:
		var m polling.Manifest
		if o.failed = json.Unmarshal(got.body, &m); o.failed != nil {
			break
		}
		if m.Version != b.told.Version || m.RolloutID != b.told.RolloutID {
			b.attempt, b.idle = 0, time.Time{}
		}
		b.told, b.etag, b.asked = m, got.header.Get("ETag"), time.Duration(max(m.PollIntervalSeconds, 1))*time.Second
		o.version, o.source = m.Version, m.Source
		if b.etag != "" {
			b.seen.told(b.id, m, b.installed)
		}
	case http.StatusNotModified:
	case http.StatusUnauthorized:
		b.token = "" // it has expired; the next poll has a new one
		if b.own != "" {
			o.failed = errors.New("its own token is refused")
		}
	default:
		o.failed = fmt.Errorf("%d %.300s", got.status, got.body)
	}
	b.seen.poll(b.id, o)
	if wait, told := retryAfter(got.status, got.header); told {
		return wait + rand.N(time.Second)
	}
	if o.failed == nil && b.etag != "" { // otherwise the service may not have recorded the poll
		b.update(ctx)
	}
	return b.pause()
}

// update carries out the box's fate with the version that it is told. The next poll reports what it runs.
func (b *box) update(ctx context.Context) {
	version := b.told.Version
	if b.falls {
		b.falls, b.refused, b.installed = false, b.installed, b.before
		return
	}
	if version == b.installed || version == b.refused || time.Now().Before(b.idle) {
		return
	}
	f, code := b.chances.of(b.id, version)
	if b.installed == "" || b.attempt > 0 && f == deferred {
		f = well // the version from production, and one that was put off long enough
	}
	detail := "as it was told to"
	if b.fetches && f != deferred {
		if wrong, err := b.fetch(ctx); err != nil {
			f, code, detail = fails, wrong, err.Error()
		}
	}
	switch f {
	case fails:
		b.attempt++
		b.report(ctx, map[string]any{"version": version, "attempt": b.attempt, "outcome": report.Failed, "code": code, "detail": detail})
	case deferred:
		b.attempt++
		b.report(ctx, map[string]any{"version": version, "attempt": b.attempt, "outcome": report.Deferred, "until": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	case bricks:
		if b.chances.brickAfter == 0 {
			b.dead = true
			return
		}
		b.before, b.installed, b.dies = b.installed, version, time.Now().Add(b.chances.brickAfter)
	case reverts:
		b.before, b.installed, b.falls = b.installed, version, true
	default:
		b.before, b.installed = b.installed, version
	}
}

// fetch downloads the artifact and compares its digest, as a real box does. It sends no token.
func (b *box) fetch(ctx context.Context) (report.FailureCode, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.told.ArtifactURL, nil)
	if err != nil {
		return report.CodeDownload, err
	}
	res, err := b.client.Do(r)
	if err != nil {
		return report.CodeDownload, errors.New("the artifact's host does not answer")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return report.CodeDownload, fmt.Errorf("the artifact's host answers %d", res.StatusCode)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, res.Body); err != nil {
		return report.CodeDownload, errors.New("the download broke off")
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != b.told.SHA256 {
		return report.CodeChecksum, fmt.Errorf("the artifact has the digest %s", got)
	}
	return "", nil
}

// report reports an attempt and does what the answer says.
func (b *box) report(ctx context.Context, body map[string]any) {
	if b.told.RolloutID != "" {
		body["rolloutId"] = b.told.RolloutID
	}
	text, err := json.Marshal(body)
	var got answer
	if err == nil {
		got, err = b.call(ctx, http.MethodPut, b.url+"/report", text)
	}
	var advice struct {
		RetryAfterSeconds int
		Retry             *bool
	}
	if err == nil && got.status == http.StatusOK {
		err = json.Unmarshal(got.body, &advice)
	}
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("%d %.300s", got.status, got.body)
	}
	if err != nil {
		b.attempt-- // it reports again after the next poll
		b.seen.trouble(b.id, err)
		return
	}
	b.seen.reported(b.id, b.told.Version, body["outcome"].(report.State))
	b.idle = time.Now().Add(time.Duration(advice.RetryAfterSeconds) * time.Second)
	if advice.Retry != nil && !*advice.Retry {
		b.refused = b.told.Version
	}
}

// An answer is the service's answer to a call.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// bearer returns the token with which the box calls.
func (b *box) bearer() (string, error) {
	if b.own != "" {
		return "Bearer " + b.own, nil
	}
	var err error
	if b.token == "" {
		b.token, err = b.issuers.Token(devissuer.Claims{User: b.id, Roles: []string{string(auth.Edge)}})
	}
	return "Bearer " + b.token, err
}

// call makes a call as the box.
func (b *box) call(ctx context.Context, method, at string, body []byte) (answer, error) {
	bearer, err := b.bearer()
	if err != nil {
		return answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", bearer)
	if method == http.MethodGet && b.etag != "" {
		r.Header.Set("If-None-Match", b.etag)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := b.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	_ = res.Body.Close()
	return answer{res.StatusCode, res.Header, text}, err
}

// retryAfter returns the wait that a 429 or 503 asks for; by default, one second.
func retryAfter(status int, header http.Header) (time.Duration, bool) {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0, false
	}
	n, err := strconv.Atoi(header.Get("Retry-After"))
	return time.Duration(max(n, 1)) * time.Second, err == nil || status == http.StatusTooManyRequests
}
