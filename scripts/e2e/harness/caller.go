package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A Caller calls the API as one user.
type Caller struct {
	URL    string
	Bearer string // the Authorization header; empty: not sent
}

// As makes a caller with roles, in an organization or none.
func (t Target) As(tb testing.TB, user, organization string, roles ...auth.Role) *Caller {
	tb.Helper()
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	token := expect.Value(t.Token(devissuer.Claims{User: user, Organization: organization, Roles: names, TTL: time.Hour}))(tb)
	return &Caller{URL: t.URL, Bearer: "Bearer " + token}
}

// Nobody is a caller without a token.
func (t Target) Nobody() *Caller { return &Caller{URL: t.URL} }

// Owner is a platform owner.
func (t Target) Owner(tb testing.TB) *Caller {
	return t.As(tb, "olga", "wavegate", auth.PlatformOwner)
}

// Engineer is a production engineer of an organization.
func (t Target) Engineer(tb testing.TB, organization string) *Caller {
	return t.As(tb, "eric", organization, auth.ProductionEngineer)
}

// Admin is an organization's admin.
func (t Target) Admin(tb testing.TB, organization string) *Caller {
	return t.As(tb, "anna", organization, auth.OrganizationAdmin)
}

// Program is the sub of a program that the local service knows.
const Program = "repo:acme/firmware:ref:refs/heads/main"

// With is a caller with a token of its own.
func (t Target) With(scheme, token string) *Caller {
	return &Caller{URL: t.URL, Bearer: scheme + " " + token}
}

// Box is an edge device.
func (t Target) Box(tb testing.TB, edgeID string) *Caller { return t.As(tb, edgeID, "", auth.Edge) }

// An Answer to a call.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// An Exchange is a request and its answer.
type Exchange struct {
	Request *http.Request // its body is read; see Body
	Body    []byte
	Answer  Answer
}

var (
	observersMu sync.Mutex
	observers   []func(Exchange)
)

// observe passes every exchange of every caller of the run to see, which must be safe for concurrent use.
func observe(see func(Exchange)) {
	observersMu.Lock()
	defer observersMu.Unlock()
	observers = append(observers, see)
}

// client keeps connections for the many callers of a race.
var client = &http.Client{
	Transport: &http.Transport{MaxIdleConnsPerHost: 256, MaxConnsPerHost: 0},
	Timeout:   time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	},
}

// Do sends a request; header has alternating names and values. The path can be anything that can be sent in a request
// line.
func (c *Caller) Do(t testing.TB, method, path, body string, header ...string) Answer {
	t.Helper()
	a, err := c.Patiently(method, path, body, header...)
	expect.Must(t, err == nil, "%s %s: %v", method, path, err)
	return a
}

// Patiently is Try that polls again, as a box does, if the answer has no entity tag: its report could not be written in
// time, as happens on a busy machine.
func (c *Caller) Patiently(method, path, body string, header ...string) (a Answer, err error) {
	for range 20 {
		a, err = c.Try(method, path, body, header...)
		if err != nil || a.Status != http.StatusOK || a.Header.Get("ETag") != "" || !strings.Contains(path, "/update/manifest") {
			break
		}
	}
	return a, err
}

// Try sends a request once. Goroutines, which must not end the test, use it.
func (c *Caller) Try(method, path, body string, header ...string) (Answer, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, c.URL, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	// The path is sent unchanged: no cleaning, no second encoding.
	prefix := r.URL.Path
	path, query, _ := strings.Cut(path, "?")
	r.URL.Opaque = prefix + path
	r.URL.RawQuery = query
	if c.Bearer != "" {
		r.Header.Set("Authorization", c.Bearer)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Status: res.StatusCode, Header: res.Header, Body: b}
	observersMu.Lock()
	all := observers
	observersMu.Unlock()
	for _, see := range all {
		see(Exchange{Request: r, Body: []byte(body), Answer: a})
	}
	return a, nil
}

// Get sends a GET.
func (c *Caller) Get(t testing.TB, path string, header ...string) Answer {
	t.Helper()
	return c.Do(t, http.MethodGet, path, "", header...)
}

// Put sends a PUT with a JSON body.
func (c *Caller) Put(t testing.TB, path, body string, header ...string) Answer {
	t.Helper()
	return c.Do(t, http.MethodPut, path, body, header...)
}

// Post sends a POST with a JSON body.
func (c *Caller) Post(t testing.TB, path, body string, header ...string) Answer {
	t.Helper()
	return c.Do(t, http.MethodPost, path, body, header...)
}

// Patch sends a PATCH with a JSON body.
func (c *Caller) Patch(t testing.TB, path, body string, header ...string) Answer {
	t.Helper()
	return c.Do(t, http.MethodPatch, path, body, header...)
}

// Is fails the test unless the answer has the status, and no body if the status has none.
func (a Answer) Is(t testing.TB, status int) Answer {
	t.Helper()
	expect.Must(t, a.Status == status, "answered %d %s, want %d", a.Status, a.Body, status)
	if (status == http.StatusNoContent || status == http.StatusNotModified) && len(a.Body) > 0 {
		t.Fatalf("answered %d with a body: %s", status, a.Body)
	}
	// The contract says which 201 have a body, and every answer is checked against it.
	if kind := a.Header.Get("Content-Type"); status == http.StatusCreated && len(a.Body) > 0 && kind != "application/json" {
		t.Fatalf("answered %d as %s: %s", status, kind, a.Body)
	}
	// Another target may add a type to every answer.
	if kind := a.Header.Get("Content-Type"); os.Getenv("E2E_URL") == "" && (status == http.StatusNoContent || status == http.StatusNotModified) && kind != "" {
		t.Fatalf("answered %d, without content, as %s", status, kind)
	}
	return a
}

// Refused fails the test unless the answer is a complete problem document with the code, and returns it.
func (a Answer) Refused(t testing.TB, code problem.Code) problem.Document {
	t.Helper()
	kind := problem.ClassOf(code)
	a.Is(t, kind.Status)
	got := a.Header.Get("Content-Type")
	expect.Must(t, got == problem.ContentType, "the problem comes as %q: %s", got, a.Body)
	d, err := a.Problem()
	expect.Must(t, err == nil, "no problem document: %v: %s", err, a.Body)
	if d.Code != code || d.Status != kind.Status || d.Title == "" || d.Detail == "" || d.Type != code.Type() || d.RequestID == "" {
		t.Fatalf("the problem is %s, want %s", a.Body, code)
	}
	return d
}

// Problem reads a problem document strictly.
func (a Answer) Problem() (problem.Document, error) {
	var d problem.Document
	dec := json.NewDecoder(bytes.NewReader(a.Body))
	dec.DisallowUnknownFields()
	err := dec.Decode(&d)
	return d, err
}

// Into reads a JSON answer into v.
func (a Answer) Into(t testing.TB, v any) {
	t.Helper()
	err := json.Unmarshal(a.Body, v)
	expect.Must(t, err == nil, "the body is not what was expected: %v: %s", err, a.Body)
}

// Made fails the test unless the call made something, and returns its path.
func (a Answer) Made(t testing.TB) string {
	t.Helper()
	return a.Is(t, http.StatusCreated).Header.Get("Location")
}

// Has checks some members of the JSON object in the answer. A null stands for a member that is not there.
func (a Answer) Has(t testing.TB, members string) {
	t.Helper()
	var want map[string]any
	expect.OK(t, json.Unmarshal([]byte(members), &want))
	object, got := a.Object(t), map[string]any{}
	for name := range want {
		got[name] = object[name]
	}
	expect.Equal(t, got, want, "the answer %d %s", a.Status, a.Body)
}

// Object reads a JSON object.
func (a Answer) Object(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	a.Into(t, &m)
	return m
}
