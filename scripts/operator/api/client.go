// Package api calls the service for the operator's command.
//
// A call is repeated while that is safe: after 429, because nothing was done, and after an unclear outcome if a
// second call has no further effect. It ends with an answer, a *RefusedError, or an *Unknown.
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
	// URL is the address of the API, without a slash at the end.
	URL string
	// Token returns an access token; with renew, a different one from the last.
	Token func(ctx context.Context, renew bool) (string, error)
	HTTP  *http.Client
	// Patience limits the total wait of all repetitions of a call. Reach limits it while the call has not reached the
	// service.
	Patience, Reach time.Duration
	// Trying is called at each try, and the function that it returns once the try is answered. Failed is called with the
	// reason before each retry. Both may be nil.
	Trying func() (answered func())
	Failed func(why error)
}

// A Request is one call.
type Request struct {
	Method, Path string // without a method, it is a GET
	Query        url.Values
	Body         any    // sent as JSON; nil: none
	IfMatch      string // an entity tag; empty: none
	IfNoneMatch  string
	Key          string // Idempotency-Key; empty: none
	// Repeatable marks a POST without a key that has no further effect if it is repeated.
	Repeatable bool
}

// A Response is the answer to a call. Its status is 2xx or 304.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// A RefusedError is an answer of 4xx.
type RefusedError struct {
	Status   int
	Document []byte // unchanged; usually a problem document
	Problem
	// Repeated reports whether the call was sent before with an unknown outcome.
	Repeated bool
}

// A Problem is the part of a problem document that the command reads.
type Problem struct {
	Code   string       `json:"code"`
	Detail string       `json:"detail"`
	Errors []InputFault `json:"errors"`
}

// An InputFault is one fault of a request.
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

// An Unknown is a call with an unknown outcome, or one that the service kept delaying.
type Unknown struct {
	Cause    error
	Document []byte // the last answer; nil: none
}

func (u *Unknown) Error() string { return u.Cause.Error() }
func (u *Unknown) Unwrap() error { return u.Cause }

// The wait before a call is repeated, if the service does not give one.
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
		case a.Status == http.StatusTooManyRequests, a.Status < 500 && a.Header.Get("Retry-After") != "":
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

// refusal reads an error answer.
func refusal(a Response, repeated bool) *RefusedError {
	r := &RefusedError{Status: a.Status, Document: a.Body, Repeated: repeated}
	_ = json.Unmarshal(a.Body, &r.Problem) // other bodies have no code
	return r
}

// after is the wait that the service asks for.
func after(h http.Header, otherwise time.Duration) time.Duration {
	if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil && n >= 0 {
		return time.Duration(n)*time.Second + 50*time.Millisecond
	}
	return otherwise
}

// maxAnswer is the largest answer, in bytes.
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

// A Caller makes calls.
type Caller interface {
	Do(ctx context.Context, r Request) (Response, error)
}

// Get reads a resource.
func Get[T any](ctx context.Context, c Caller, path string, query url.Values) (v T, a Response, err error) {
	a, err = c.Do(ctx, Request{Path: path, Query: query})
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

// A List is the part of a list that was read.
type List struct {
	Items []json.RawMessage `json:"items"`
	// More reports whether the list has more items, and Next is the path of the next ones, if there is one.
	More bool   `json:"more"`
	Next string `json:"next,omitempty"`
}

// pageSize is the most items of a page.
const pageSize = 100

// outlast is how long the pages after the first may wait for the limit of calls per minute.
const outlast = time.Minute + time.Second

// List reads at most the first most items of a list; with 0, all of them.
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

// patient is the client for the pages after the first.
func (c *Client) patient() *Client {
	if c.Patience >= outlast {
		return c
	}
	patient := *c
	patient.Patience = outlast
	return &patient
}

// Items decodes the items of a list.
func Items[T any](list List) ([]T, error) {
	items := make([]T, len(list.Items))
	for i, text := range list.Items {
		if err := json.Unmarshal(text, &items[i]); err != nil {
			return nil, &Unknown{Cause: fmt.Errorf("the service's answer cannot be read: %w", err), Document: text}
		}
	}
	return items, nil
}

// All reads the first most items of a list; with 0, all of them.
func All[T any](ctx context.Context, c *Client, path string, query url.Values, most int) (items []T, err error) {
	list, err := c.List(ctx, path, query, most)
	if err == nil {
		items, err = Items[T](list)
	}
	return items, err
}

// Path fills names into a path with a %s for each; further names are not used.
func Path(pattern string, names ...string) string {
	for _, name := range names {
		pattern = strings.Replace(pattern, "%s", url.PathEscape(name), 1)
	}
	return pattern
}

// ChannelPath is the path of a channel.
func ChannelPath(name string) string {
	edgeType, channel, _ := ChannelName(name)
	return Path("/api/ota/release-channels/%s/%s", edgeType, channel)
}

// ChannelName splits the name of a channel. ok reports whether it is one.
func ChannelName(name string) (edgeType, channel string, ok bool) {
	edgeType, channel, _ = strings.Cut(name, "/")
	return edgeType, channel, edgeType != "" && channel != "" && !strings.Contains(channel, "/")
}

// RolloutPath is the path of a rollout.
func RolloutPath(id string) string { return Path("/api/ota/rollouts/%s", id) }

// EdgePath is the path of a box.
func EdgePath(id string) string { return Path("/api/edges/%s", id) }

// behind splits the address of the next page. A page may put a prefix, such as a deployment's, before the path that
// this client knows.
func behind(next string) (path string, query url.Values, err error) {
	at, err := url.Parse(next[max(strings.Index(next, "/api/"), 0):])
	if err != nil {
		return "", nil, &Unknown{Cause: err}
	}
	return at.Path, at.Query(), nil
}
