// Package api calls the service for the operator's command.
//
// A call is repeated while that is safe: after 429, where nothing was done, and after an answer that leaves
// open what was done, where the same call again does nothing more. It ends with an answer, a *RefusedError, or
// an *Unknown.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Client calls one service as one person. It is safe for concurrent use.
type Client struct {
	// URL is where the API lies, without a slash at the end.
	URL string
	// Token returns an access token; with renew, another one than it returned last.
	Token func(ctx context.Context, renew bool) (string, error)
	HTTP  *http.Client
	// Patience bounds how long all repetitions of a call wait in all. Reach bounds it for those of a call that never reached
	// the service.
	Patience, Reach time.Duration
	// Trying is told of each try; what it returns is called once that is answered. Failed is told why a call is tried
	// again. They may be nil.
	Trying func() (answered func())
	Failed func(why error)
}

// A Request is one call.
type Request struct {
	Method, Path string
	Query        url.Values
	Body         any    // sent as JSON; nil: none
	IfMatch      string // an entity tag; empty: none
	IfNoneMatch  string
	Key          string // Idempotency-Key; empty: none
	// Repeatable says that a POST without a key does nothing more if it is made again.
	Repeatable bool
}

// A Response is what a call was answered with. Its status is 2xx or 304.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// A RefusedError is an answer of 4xx.
type RefusedError struct {
	Status   int
	Document []byte // as it came; as a rule a problem document
	Problem
	// Repeated reports whether the call was sent before, with an outcome that is not known.
	Repeated bool
}

// A Problem is what the command reads of a problem document.
type Problem struct {
	Code   string       `json:"code"`
	Detail string       `json:"detail"`
	Errors []InputFault `json:"errors"`
}

// An InputFault is one thing that is wrong with a request.
type InputFault struct {
	Pointer   string `json:"pointer"`
	Parameter string `json:"parameter"`
	Detail    string `json:"detail"`
}

func (r *RefusedError) Error() string {
	if r.Detail == "" {
		return "the service answered " + strconv.Itoa(r.Status)
	}
	text := r.Detail + " (" + r.Code + ")"
	for _, f := range r.Errors {
		text += "\n  " + f.Pointer + f.Parameter + " " + f.Detail
	}
	return text
}

// An Unknown is a call whose outcome is not known, or that the service kept putting off.
type Unknown struct {
	Cause    error
	Document []byte // the last answer; nil: none
}

func (u *Unknown) Error() string { return u.Cause.Error() }
func (u *Unknown) Unwrap() error { return u.Cause }

// How long to wait before a call is repeated where the service does not say.
const (
	pauseFirst = 200 * time.Millisecond
	pauseMost  = 5 * time.Second
)

// Do makes a call.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return Response{}, err
		}
	}
	waited, pause := time.Duration(0), pauseFirst
	renew, repeated := false, false
	for {
		a, err := c.once(ctx, r, body, renew)
		wait, patience := pause, c.Patience
		pause = min(2*pause, pauseMost)
		switch {
		case err != nil && ctx.Err() != nil:
			return Response{}, ctx.Err()
		case err != nil:
			if _, ok := errors.AsType[*url.Error](err); !ok {
				return Response{}, err // no call was made
			}
			lost := &UnreachableError{URL: c.URL, Cause: err}
			if lost.Sent() {
				repeated = true
			} else {
				patience = min(patience, c.Reach)
			}
			err = &Unknown{Cause: lost}
		case a.Status < 400:
			return a, nil
		case a.Status == http.StatusUnauthorized && !renew:
			renew = true
			continue
		case a.Status == http.StatusTooManyRequests:
			wait = after(a.Header, wait)
			err = &Unknown{Cause: refusal(a, repeated), Document: a.Body}
		case a.Status >= 500:
			wait = after(a.Header, wait)
			err, repeated = &Unknown{Cause: refusal(a, repeated), Document: a.Body}, true
		default:
			return a, refusal(a, repeated)
		}
		if waited += wait; waited > patience || r.Method == http.MethodPost && r.Key == "" && !r.Repeatable && repeated {
			return a, err
		}
		if c.Failed != nil {
			c.Failed(err)
		}
		select {
		case <-ctx.Done():
			return Response{}, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// refusal reads an answer that is no success.
func refusal(a Response, repeated bool) *RefusedError {
	r := &RefusedError{Status: a.Status, Document: a.Body, Repeated: repeated}
	_ = json.Unmarshal(a.Body, &r.Problem) // what is no document has no code
	return r
}

// after is how long the service asks to wait.
func after(h http.Header, otherwise time.Duration) time.Duration {
	if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil && n >= 0 {
		return time.Duration(n)*time.Second + 50*time.Millisecond
	}
	return otherwise
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 8 << 20

func (c *Client) once(ctx context.Context, r Request, body []byte, renew bool) (Response, error) {
	token, err := c.Token(ctx, renew)
	if err != nil {
		return Response{}, err
	}
	target := c.URL + r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, target, bytes.NewReader(body))
	if err != nil {
		return Response{}, fmt.Errorf("api: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for name, value := range map[string]string{"If-Match": r.IfMatch, "If-None-Match": r.IfNoneMatch, "Idempotency-Key": r.Key} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Trying != nil {
		defer c.Trying()()
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return Response{}, &url.Error{Op: r.Method, URL: target, Err: err}
	}
	if res.StatusCode/100 == 3 && res.StatusCode != http.StatusNotModified {
		return Response{}, fmt.Errorf("%s leads elsewhere, to %q; give the address of the API itself", c.URL, res.Header.Get("Location"))
	}
	return Response{Status: res.StatusCode, Header: res.Header, Body: text}, nil
}

// Get reads a resource.
func Get[T any](ctx context.Context, c *Client, path string, query url.Values) (v T, a Response, err error) {
	a, err = c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
	if err == nil {
		err = a.Into(&v)
	}
	return v, a, err
}

// Into reads the answer's body.
func (a Response) Into(v any) error {
	if err := json.Unmarshal(a.Body, v); err != nil {
		return &Unknown{Cause: fmt.Errorf("the service's answer cannot be read: %w", err), Document: a.Body}
	}
	return nil
}

// A List is what was read of a list.
type List struct {
	Items []json.RawMessage `json:"items"`
	// More reports whether items are left out, and Next is the path at which the list goes on, if there is one.
	More bool   `json:"more"`
	Next string `json:"next,omitempty"`
}

// pageSize is how many items a page has at most.
const pageSize = 100

// outlast is how long the pages behind the first may wait for the limit of calls in a minute.
const outlast = time.Minute + time.Second

// List reads the first items of a list, most at most; with 0, all of them.
func (c *Client) List(ctx context.Context, path string, query url.Values, most int) (List, error) {
	list := List{Items: []json.RawMessage{}}
	if query = maps.Clone(query); query == nil {
		query = url.Values{}
	}
	for {
		size := pageSize
		if most > 0 {
			size = min(size, most-len(list.Items))
		}
		query.Set("limit", strconv.Itoa(size))
		page, _, err := Get[List](ctx, c, path, query)
		if err != nil {
			return list, err
		}
		c = c.patient()
		list.Items, list.Next, list.More = append(list.Items, page.Items...), page.Next, page.Next != ""
		if page.Next == "" || most > 0 && len(list.Items) >= most {
			return list, nil
		}
		if path, query, err = behind(page.Next); err != nil {
			return list, err
		}
	}
}

// patient is the client for the pages behind the first.
func (c *Client) patient() *Client {
	if c.Patience >= outlast {
		return c
	}
	patient := *c
	patient.Patience = outlast
	return &patient
}

// Items reads what a list holds.
func Items[T any](list List) ([]T, error) {
	items := make([]T, len(list.Items))
	for i, text := range list.Items {
		if err := json.Unmarshal(text, &items[i]); err != nil {
			return nil, &Unknown{Cause: fmt.Errorf("the service's answer cannot be read: %w", err), Document: text}
		}
	}
	return items, nil
}

// Pages hands over the pages of a list until each returns false.
func (c *Client) Pages(ctx context.Context, path string, query url.Values, each func(Response) (more bool, err error)) error {
	for {
		var page List
		a, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
		if err != nil {
			return err
		}
		if more, err := each(a); err != nil || !more {
			return err
		}
		if err := a.Into(&page); err != nil || page.Next == "" {
			return err
		}
		if path, query, err = behind(page.Next); err != nil {
			return err
		}
	}
}

// behind takes the address of the next page apart. A page names the path as this client knows it, behind a prefix such
// as a stage.
func behind(next string) (path string, query url.Values, err error) {
	at, err := url.Parse(next[max(strings.Index(next, "/api/"), 0):])
	if err != nil {
		return "", nil, &Unknown{Cause: err}
	}
	return at.Path, at.Query(), nil
}
