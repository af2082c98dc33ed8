// Package calls runs the service for measurements, and makes calls of it.
package calls

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/scripts/samples"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/dynamolocal"
)

// Options say what a World runs on.
type Options struct {
	Functions string             // where the functions are built
	Store     *dynamolocal.Store // nil: an embedded one
	Processes int                // of each function, at most
	// Bell is set if the service is to have a bell.
	Bell bool
	// Log receives each line that a function writes; nil: nobody does.
	Log func(function, line string)
}

// A World is a running service with the highest limits that can be set. Its calls are made one at a time.
type World struct {
	*service.Service
	client    http.Client
	assistant *httptest.Server
	made      int
	bearers   map[samples.Caller]string
}

// Start runs a service. Close ends it.
func Start(ctx context.Context, o Options) (*World, error) {
	keys, err := os.MkdirTemp("", "wavegate-keys")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(keys)
	issuers, err := devissuer.Load(keys)
	if err != nil {
		return nil, err
	}
	w := &World{client: http.Client{Timeout: time.Minute}, bearers: map[samples.Caller]string{}}
	w.assistant = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	settings := []string{
		"COPILOT_URL=" + w.assistant.URL, "COPILOT_SECRET=a-secret-of-this-measurement-alone",
	}
	for _, limit := range []setting.Name{setting.LimitUser, setting.LimitOrganization, setting.LimitCopilotUser, setting.LimitCopilotOrganization} {
		settings = append(settings, limit.Assign(setting.HighestLimit))
	}
	bell := ""
	if o.Bell {
		bell = "127.0.0.1:0"
	}
	w.Service, err = service.Start(ctx, service.Options{
		Functions: o.Functions, Store: o.Store, Issuers: issuers, Processes: o.Processes, Log: o.Log, Bell: bell,
		Environment: func(string) []string { return settings },
	})
	if err != nil {
		w.assistant.Close()
		return nil, err
	}
	return w, nil
}

// Close ends the service.
func (w *World) Close() {
	w.Stop()
	w.assistant.Close()
	w.client.CloseIdleConnections()
}

// An Answer is the answer to a call.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do makes a call.
func (w *World) Do(c samples.Call) (Answer, error) {
	bearer, err := w.bearer(c.By)
	if err != nil {
		return Answer{}, err
	}
	q, err := http.NewRequest(c.Method, w.URL+c.Path, strings.NewReader(c.Body))
	if err != nil {
		return Answer{}, err
	}
	q.Header.Set("Authorization", bearer)
	if c.Body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	if c.Header[0] != "" {
		q.Header.Set(c.Header[0], c.Header[1])
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
func (w *World) Must(c samples.Call) (Answer, error) {
	a, err := w.Do(c)
	if err == nil && a.Status/100 != 2 {
		err = fmt.Errorf("calls: %s %s was answered with %d: %s", c.Method, c.Path, a.Status, a.Body)
	}
	return a, err
}

// bearer makes one token for each caller.
func (w *World) bearer(c samples.Caller) (string, error) {
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

// Name makes a new name that begins with a stem. All names of a stem have the same length.
func (w *World) Name(stem string) string {
	w.made++
	return fmt.Sprintf("%s-%06d", stem, w.made)
}
