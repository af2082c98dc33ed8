// Package calls runs the service for measurements, and has the samples' calls made on it.
package calls

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo/dynamolocal"
	"wavegate/shared/platform/setting"
)

// Options say what a World runs on.
type Options struct {
	Functions string             // where the functions are built
	Store     *dynamolocal.Store // nil: an embedded one
	Processes int                // of each function, at most
	// Log receives each line that a function writes; nil: nobody does.
	Log func(function, line string)
}

// A World is a running service whose limits are out of the way, and callers of it.
type World struct {
	*service.Service
	client  *http.Client
	close   []func()
	made    atomic.Int64
	mu      sync.Mutex
	bearers map[Caller]string
}

// Start runs a service; Close ends it.
func Start(ctx context.Context, o Options) (w *World, err error) {
	w = &World{bearers: map[Caller]string{}, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 512}, Timeout: time.Minute}}
	defer func() {
		if err != nil {
			w.Close()
			w = nil
		}
	}()
	keys, err := os.MkdirTemp("", "wavegate-keys")
	if err != nil {
		return w, err
	}
	defer os.RemoveAll(keys)
	issuers, err := devissuer.Load(keys)
	if err != nil {
		return w, err
	}
	assistant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	w.close = append(w.close, assistant.Close)
	settings := []string{
		"COPILOT_URL=" + assistant.URL, "COPILOT_SECRET=a-secret-of-this-measurement-alone",
		setting.LimitDeadlineMS.Assign(setting.Numbers[setting.LimitDeadlineMS].Most),
	}
	for _, limit := range []setting.Name{setting.LimitUser, setting.LimitOrganization, setting.LimitCopilotUser, setting.LimitCopilotOrganization} {
		settings = append(settings, limit.Assign(setting.HighestLimit))
	}
	w.Service, err = service.Start(ctx, service.Options{
		Functions: o.Functions, Store: o.Store, Issuers: issuers, Processes: o.Processes, Log: o.Log,
		Environment: func(string) []string { return settings },
	})
	if err != nil {
		return w, err
	}
	w.close = append(w.close, w.Stop)
	return w, nil
}

// Close ends all that Start started.
func (w *World) Close() {
	for i := len(w.close) - 1; i >= 0; i-- {
		w.close[i]()
	}
	w.client.CloseIdleConnections()
}

// A Caller is who calls: a user with a role in an organization, or a box.
type Caller = samples.Caller

// The callers of the benchmarks' own calls.
var (
	Owner    = samples.Owner
	Engineer = Caller{User: "eric", Organization: "acme", Role: auth.ProductionEngineer}
	Admin    = Caller{User: "anna", Organization: "acme", Role: auth.OrganizationAdmin}
)

// Box is the caller that a box is.
func Box(id string) Caller { return Caller{User: id, Role: auth.Edge} }

// A Request is a call that is about to be made.
type Request struct {
	Caller             Caller
	Method, Path, Body string
	Header             [2]string // a further one; empty: none
}

// An Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do makes a call.
func (w *World) Do(r Request) (Answer, error) {
	bearer, err := w.bearer(r.Caller)
	if err != nil {
		return Answer{}, err
	}
	q, err := http.NewRequest(r.Method, w.URL+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return Answer{}, err
	}
	q.Header.Set("Authorization", bearer)
	if r.Body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	if r.Header[0] != "" {
		q.Header.Set(r.Header[0], r.Header[1])
	}
	res, err := w.client.Do(q)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return Answer{res.StatusCode, res.Header, b}, err
}

// Must makes a call that has to succeed.
func (w *World) Must(r Request) (Answer, error) {
	a, err := w.Do(r)
	if err == nil && a.Status/100 != 2 {
		err = fmt.Errorf("calls: %s %s was answered with %d: %s", r.Method, r.Path, a.Status, a.Body)
	}
	return a, err
}

func (w *World) bearer(c Caller) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b, ok := w.bearers[c]; ok {
		return b, nil
	}
	t, err := w.Token(devissuer.Claims{User: c.User, Organization: c.Organization, Roles: []string{string(c.Role)}, TTL: 2 * time.Hour})
	if err != nil {
		return "", err
	}
	w.bearers[c] = "Bearer " + t
	return w.bearers[c], nil
}

// Name makes a name that is new and as long as every other of its stem.
func (w *World) Name(stem string) string { return fmt.Sprintf("%s-%06d", stem, w.made.Add(1)) }
