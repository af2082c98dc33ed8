package service

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/auth"
)

var functions string

func TestMain(m *testing.M) {
	var err error
	if functions, err = Build(context.Background(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, change ...func(*Options)) *Service {
	t.Helper()
	issuers, err := devissuer.Load(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Functions: functions, Issuers: issuers}
	for _, c := range change {
		c(&o)
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// do sends a request as a platform owner and returns status and body.
func do(t *testing.T, s *Service, method, path, body string) (int, string) {
	t.Helper()
	bearer, err := s.Bearer("ann", "acme", auth.PlatformOwner)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", bearer)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func TestStart_ServesTheAPIWithRealFunctions(t *testing.T) {
	s := start(t)
	if status, body := do(t, s, "PUT", "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`); status != 201 {
		t.Fatalf("%d %s\n%s", status, body, strings.Join(s.Logs("put-factory"), "\n"))
	}
	status, body := do(t, s, "GET", "/api/factories/munich-1", "")
	if status != 200 || !strings.Contains(body, `"munich-1"`) {
		t.Fatalf("%d %s\n%s", status, body, strings.Join(s.Logs("get-factory"), "\n"))
	}
	if refused := s.Front.Refused(); len(refused) > 0 {
		t.Errorf("the store front refused: %q", refused)
	}
	if len(s.Logs("get-factory")) == 0 {
		t.Error("the function's log was not kept")
	}
}

func TestStop_LeavesNoProcess(t *testing.T) {
	s := start(t)
	do(t, s, "GET", "/api/factories/munich-1", "")
	pids := s.PIDs()
	if len(pids) != 2 {
		t.Fatalf("%d processes, want the authorizer's and the function's", len(pids))
	}
	s.Stop()
	if left := slices.DeleteFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) != nil }); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	if _, err := http.Get(s.URL + "/api/factories/munich-1"); err == nil {
		t.Error("something still answers")
	}
}
