package box

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Call is a call that the client has made.
type Call struct {
	Deed   Deed // Listen, Poll or Tell
	Status int  // of the answer; 0: no answer
	Took   time.Duration
	// Installed is the version that a poll reported. Manifest is the answer, if it was a new one, and Tag its entity
	// tag.
	Installed string
	Manifest  *Manifest
	Tag       string
	Report    *Report // the report that was sent
	Err       error
}

func (c *Client) listen(ctx context.Context, s *State) {
	at := s.told.Bell.URL
	if c.BellVia != "" {
		u, err := url.Parse(at)
		if err == nil {
			at = strings.TrimSuffix(c.BellVia, "/") + u.RequestURI()
		}
	}
	header := http.Header{}
	if s.RingTag() != "" {
		header.Set("If-None-Match", s.RingTag())
	}
	call, body, answer := c.call(ctx, Listen, http.MethodGet, at, header, nil)
	now := time.Now()
	switch call.Status {
	case http.StatusOK:
		var r Ring
		if r, call.Err = parseRing(answer.Get("ETag"), body); call.Err == nil {
			s.Heard(r, now)
		}
	case http.StatusNotModified:
		seconds, err := strconv.Atoi(answer.Get("Wavegate-Interval"))
		if err != nil || seconds < 1 || seconds > longest || s.RingTag() == "" {
			call.Err = fmt.Errorf("the bell's interval is %q", answer.Get("Wavegate-Interval"))
			break
		}
		s.Unchanged(time.Duration(seconds)*time.Second, now)
	}
	if call.Err != nil {
		s.Unheard(retryAfter(answer), now)
	}
	c.trace(call)
}

func (c *Client) poll(ctx context.Context, s *State) {
	installed, err := c.Device.Installed(ctx)
	if err != nil {
		c.trace(Call{Deed: Poll, Err: err})
		s.Refused(0, time.Now())
		return
	}
	base := c.base(s)
	at := c.update(base) + "/manifest?bell=true"
	if installed != "" {
		at += "&installed=" + url.QueryEscape(installed)
	}
	at += c.Health.query(s.told.Health, installed)
	header, err := c.authorized(ctx)
	if s.Tag() != "" {
		header.Set("If-None-Match", s.Tag())
	}
	call, body, answer := Call{Deed: Poll, Err: err}, []byte(nil), http.Header{}
	if err == nil {
		call, body, answer = c.call(ctx, Poll, http.MethodGet, at, header, nil)
		c.called(base, call)
	}
	call.Installed = installed
	now := time.Now()
	switch call.Status {
	case http.StatusOK:
		var m Manifest
		if m, call.Err = parseManifest(body); call.Err == nil {
			call.Manifest, call.Tag = &m, answer.Get("ETag")
			s.Told(m, call.Tag, installed, now)
		}
	case http.StatusNotModified:
		if s.Tag() == "" {
			call.Err = errors.New("answered 304 to a poll without an entity tag")
			break
		}
		s.NotModified(installed, now)
	}
	if call.Err != nil {
		s.Refused(retryAfter(answer), now)
	}
	c.trace(call)
}

func (c *Client) tell(ctx context.Context, s *State) {
	report, base := s.Memory.Report, c.base(s)
	header, err := c.authorized(ctx)
	text, errText := json.Marshal(report)
	call, body, answer := Call{Deed: Tell, Err: errors.Join(err, errText)}, []byte(nil), http.Header{}
	if call.Err == nil {
		header.Set("Content-Type", "application/json")
		call, body, answer = c.call(ctx, Tell, http.MethodPut, c.update(base)+"/report", header, text)
		c.called(base, call)
	}
	call.Report = report
	now := time.Now()
	switch {
	case call.Status == http.StatusOK:
		var a Advice
		if a, call.Err = parseAdvice(body); call.Err == nil {
			s.Advised(a, now)
		} else {
			s.Untold(0, now)
		}
	case call.Status == http.StatusUnauthorized, call.Status == http.StatusTooManyRequests, call.Status/100 != 4, bytes.Contains(body, []byte(`"CONFLICT"`)):
		s.Untold(retryAfter(answer), now)
	default:
		s.Stale(now)
	}
	c.trace(call)
}

// update is the URL of a box's calls below a base.
func (c *Client) update(base string) string {
	return base + "/api/edges/" + url.PathEscape(c.EdgeID) + "/update"
}

func (c *Client) authorized(ctx context.Context) (http.Header, error) {
	value, err := c.Authorization(ctx)
	return http.Header{"Authorization": {value}}, err
}

// mostAnswer is the most that is read of an answer, in bytes.
const mostAnswer = 64 << 10

// call makes a call. Its Err is set unless the answer has a status of 200 or 304.
func (c *Client) call(ctx context.Context, d Deed, method, at string, header http.Header, body []byte) (Call, []byte, http.Header) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	call, began := Call{Deed: d}, time.Now()
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		call.Err = err
		return call, nil, http.Header{}
	}
	r.Header = header
	res, err := c.HTTP.Do(r)
	if err != nil {
		call.Err = err
		return call, nil, http.Header{}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	call.Took = time.Since(began)
	if err != nil {
		call.Err = err
		return call, nil, res.Header
	}
	call.Status = res.StatusCode
	if call.Status != http.StatusOK && call.Status != http.StatusNotModified {
		call.Err = fmt.Errorf("answered %d %.300s", call.Status, text)
	}
	return call, text, res.Header
}

func (c *Client) trace(call Call) {
	if c.Trace != nil {
		c.Trace(call)
	}
}

// retryAfter returns the wait that an answer asks for, or 0.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > longest {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
