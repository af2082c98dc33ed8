package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"wavegate/scripts/local/gateway"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations/table"
)

// A target is the service that is fuzzed, with an assistant that answers anything.
type target struct {
	service   *service.Service
	assistant *httptest.Server
	root      string // the project
	scratch   string // a directory that is deleted with it
	contract  string // the contract as schemathesis reads it
	config    string // what schemathesis checks

	mu      sync.Mutex
	crashes []string
}

// startTarget starts the target with the highest possible limits, because requests come faster than from a person.
func startTarget(ctx context.Context) (*target, error) {
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	root, err := service.Root()
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "wavegate-fuzz-")
	if err != nil {
		return nil, err
	}
	t := &target{root: root, scratch: scratch, contract: filepath.Join(scratch, "openapi.yaml"), config: filepath.Join(scratch, "schemathesis.toml"), assistant: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"answer":"yes"}`))
	}))}
	environment := []string{
		"LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000", "LIMIT_COPILOT_USER=30000", "LIMIT_COPILOT_ORGANIZATION=30000",
		"COPILOT_URL=" + t.assistant.URL, "COPILOT_SECRET=of-the-fuzzer",
	}
	if err = errors.Join(t.rewrite(), t.configure()); err == nil {
		t.service, err = service.Start(ctx, service.Options{
			Functions:   functions,
			Environment: func(string) []string { return environment },
			Access:      t.see,
		})
	}
	if err == nil {
		err = t.service.Seed(ctx)
	}
	if err != nil {
		t.stop()
		return nil, err
	}
	return t, nil
}

func (t *target) stop() {
	if t.service != nil {
		t.service.Stop()
	}
	t.assistant.Close()
	_ = os.RemoveAll(t.scratch)
}

// see records calls that the gateway had to answer because a function crashed, hung or gave a malformed answer.
func (t *target) see(a gateway.Access) {
	if a.Response == "" || a.Status < http.StatusInternalServerError {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crashes = append(t.crashes, fmt.Sprintf("%s %s: %d, %s: %v", a.Method, a.Path, a.Status, a.Response, a.Cause))
}

// faults reports what went wrong behind the answers.
func (t *target) faults() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []error
	for _, c := range t.crashes {
		all = append(all, errors.New("a function failed: "+c))
	}
	for _, f := range table.Functions() {
		if i := slices.IndexFunc(t.service.Logs(f), func(line string) bool { return strings.Contains(line, "panic") }); i >= 0 {
			all = append(all, fmt.Errorf("%s panicked: %s", f, t.service.Logs(f)[i]))
		}
	}
	if refused := t.service.Front.Refused(); len(refused) > 0 {
		all = append(all, fmt.Errorf("functions asked for what their rows do not grant: %q", refused))
	}
	return errors.Join(all...)
}
