package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/operator/api"
	"wavegate/shared/access/auth"
)

// api finds the deployed API and returns its address.
func (l *played) api(ctx context.Context) (address string, end func(), err error) {
	resources, err := l.cloud.resources(ctx, l.version.service())
	if err != nil {
		return "", nil, err
	}
	for _, r := range resources {
		if r.Type == "AWS::ApiGateway::RestApi" {
			address, end, err = l.cloud.front(r.Physical)
			return address + "/" + stage, end, err
		}
	}
	return "", nil, errors.New("there is no API")
}

// channels reads the release channels through the API, and counts them.
func (l *played) channels(ctx context.Context) (int, error) {
	address, end, err := l.api(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	issuers, err := devissuer.Load("")
	if err != nil {
		return 0, err
	}
	token, err := issuers.Token(devissuer.Claims{User: "olga", Organization: "wavegate", Roles: []string{string(auth.PlatformOwner)}})
	if err != nil {
		return 0, err
	}
	c := &api.Client{URL: address, HTTP: http.DefaultClient, Token: func(context.Context, bool) (string, error) { return token, nil }}
	list, _, err := api.Get[struct{ Items []any }](ctx, c, "/api/ota/release-channels", url.Values{"limit": {"100"}})
	return len(list.Items), err
}

// test runs tests of a commit's end-to-end suite on the deployed API.
func (l *played) test(ctx context.Context, of *source, name string) error {
	address, end, err := l.api(ctx)
	if err != nil {
		return err
	}
	defer end()
	// The emulator does not support routes for any method, such as the assistant's.
	c := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^"+name+"$", "-skip", "//^copilot$", "./scripts/e2e")
	c.Dir = of.root
	c.Env = append(os.Environ(), "E2E_URL="+address, devissuer.DirEnv+"="+filepath.Join(l.root, ".dev"))
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	passed := strings.Count(string(out), "--- PASS: ")
	if passed == 0 {
		return fmt.Errorf("no test ran: %s", out)
	}
	say("%d tests on the deployed API", passed)
	return nil
}
