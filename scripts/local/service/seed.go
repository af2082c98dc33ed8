package service

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"wavegate/shared/access/auth"
)

// demo are the requests of Seed, in order. The factory's organization is acme.
var demo = []struct{ path, body string }{
	{"/api/factories/munich-1", `{"organizationId":"acme","name":"Munich 1"}`},
	{"/api/ota/release-channels/gateway-x/stable", `{"currentVersion":"1.0.0",` +
		`"artifactUrl":"https://artifacts.example.com/gateway-x/1.0.0.tar.gz",` +
		`"sha256":"6f1b3a4c5d2e7f80918273645546372819a0b1c2d3e4f5061728394a5b6c7d8e"}`},
}

// Seed makes a small demo through the API, as a platform owner: the organization acme with the
// factory munich-1, and the edge type gateway-x at 1.0.0 on its channel stable. Existing
// resources stay unchanged.
func (s *Service) Seed(ctx context.Context) error {
	bearer, err := s.Bearer("seed", "acme", auth.PlatformOwner)
	if err != nil {
		return err
	}
	for _, d := range demo {
		status, answer, err := s.ask(ctx, bearer, http.MethodGet, d.path, "")
		if err == nil && status == http.StatusNotFound {
			status, answer, err = s.ask(ctx, bearer, http.MethodPut, d.path, d.body)
		}
		if err != nil {
			return err
		}
		if status/100 != 2 {
			return fmt.Errorf("service: seeding %s was answered with %d: %s", d.path, status, answer)
		}
	}
	return nil
}

func (s *Service) ask(ctx context.Context, bearer, method, path, body string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", bearer)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}
