package lambdahttp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
)

// A Call is one request.
type Call struct {
	Reader    *input.Reader
	Request   *http.Request
	RequestID string
	SourceIP  string
	// Authorizer is what the authorizer says about the caller. It comes from the event, because anyone can send a
	// header.
	Authorizer map[string]any
	// Header is sent with the answer, whatever it is.
	Header http.Header
	// Attributes are added to the call's log line.
	Attributes []slog.Attr
	waited     time.Duration // by Wait
	path       string        // as the caller asked, with any prefix before /api
	host       string        // with the scheme before it
}

// Wait waits for a time, which does not count as the call's own. It returns TIMEOUT if the call has to end before.
func (c *Call) Wait(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.waited += d
		return nil
	case <-c.Context().Done():
		return problem.Wrap(context.Cause(c.Context()), problem.Timeout,
			"The change was made, but some boxes may still be told what was there before. Repeat the call to wait for that.")
	}
}

func newCall(r *http.Request, event events.APIGatewayProxyRequest, takes input.Takes) *Call {
	for name, value := range event.PathParameters {
		r.SetPathValue(name, value)
	}
	return &Call{
		Request: r, Reader: input.Of(r, takes), Header: http.Header{}, Authorizer: event.RequestContext.Authorizer,
		RequestID: event.RequestContext.RequestID, SourceIP: event.RequestContext.Identity.SourceIP,
		path: asked(event), host: host(r, event),
	}
}

// asked is the path that the caller asked for. On the default stage URL it begins with the
// stage, which the event's own path does not contain.
func asked(event events.APIGatewayProxyRequest) string {
	if event.RequestContext.Path != "" {
		return event.RequestContext.Path
	}
	return event.Path
}

// Context ends shortly before the function's timeout.
func (c *Call) Context() context.Context { return c.Request.Context() }

// Href turns a path of the service, which begins with /api, into one that the caller can follow.
// It adds the prefix of the caller's own path, such as a stage.
func (c *Call) Href(path string) string {
	prefix, _, found := strings.Cut(c.path, "/api/")
	if !found {
		return path
	}
	return prefix + path
}

// Self is the URL that the caller asked for, without a slash at its end, for a client that follows only complete URLs.
func (c *Call) Self() string { return c.host + strings.TrimSuffix(c.path, "/") }

// host is the scheme and the host with which the gateway was called.
func host(r *http.Request, event events.APIGatewayProxyRequest) string {
	scheme := "https://"
	if r.Header.Get("X-Forwarded-Proto") == "http" { // set by the gateway itself, for local runs
		scheme = "http://"
	}
	return scheme + event.RequestContext.DomainName
}

// An Answer is a successful answer.
type Answer struct {
	Status int
	Header http.Header
	// Body is sent as JSON. Nil means no body. A json.RawMessage is sent as it is; with a Content-Type in Header it
	// may be other text.
	Body any
	// ETag is the entity tag of the answer to a GET. It is compared with If-None-Match.
	ETag string
	// NotModified, if set, decides whether the caller already has the answer, instead of If-None-Match.
	NotModified *bool
	// Wait is how long the caller is asked to wait before its next call; 0 means that the answer does not say. It is
	// counted as the metric Waits.
	Wait time.Duration
	// Serve, if set, writes the whole answer; the fields above are then ignored.
	Serve http.HandlerFunc
}

// OK answers a GET with a resource and its entity tag.
func OK(body any, etag string) Answer {
	return Answer{Status: http.StatusOK, Body: body, ETag: etag}
}

// Present answers with what holds at this moment, which nothing may keep.
func Present(body any) Answer {
	return Answer{Status: http.StatusOK, Header: http.Header{"Cache-Control": {"no-store"}}, Body: body}
}

// Empty answers with a status and no body.
func Empty(status int) Answer { return Answer{Status: status} }

// OKIf answers 200 with a body if there is something to say, and otherwise 204.
func OKIf(some bool, body any) Answer {
	if some {
		return OK(body, "")
	}
	return Empty(http.StatusNoContent)
}

// Stored answers a PUT: 201 for a new resource, 204 for an existing one (RFC 9110 §9.3.4).
func Stored(created bool) Answer {
	if created {
		return Empty(http.StatusCreated)
	}
	return Empty(http.StatusNoContent)
}

// Created answers a POST with the path of the new resource.
func Created(location string) Answer {
	return Answer{Status: http.StatusCreated, Header: http.Header{"Location": {location}}}
}

// write sends the answer. Caches may only keep it for the caller, and must revalidate it.
// Revalidation is cheap if the entity tag is unchanged.
func (a Answer) write(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	if h.Get("Cache-Control") == "" {
		if r.Method == http.MethodGet {
			h.Set("Cache-Control", "private, no-cache")
		} else {
			h.Set("Cache-Control", "no-store")
		}
	}
	if a.ETag != "" {
		h.Set("ETag", a.ETag)
		if a.NotModified != nil && *a.NotModified || a.NotModified == nil && input.NotModified(r, a.ETag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return nil
	}
	// Answers are not HTML, so a URL keeps its &, and a person can follow it too.
	body, encoded := a.Body.(json.RawMessage)
	if !encoded {
		var err error
		if body, err = timestamp.JSON(a.Body); err != nil {
			return fmt.Errorf("lambdahttp: encode the answer: %w", err)
		}
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.Status)
	_, err := w.Write(body)
	return err
}

func writeProblem(w http.ResponseWriter, p *problem.Error, instance, requestID string) {
	h := w.Header()
	for name, values := range p.Header() {
		h[name] = values
	}
	// A Document has only fields that can be encoded.
	body, _ := json.Marshal(p.Document(instance, requestID))
	w.WriteHeader(problem.ClassOf(p.Code).Status)
	_, _ = w.Write(body)
}
