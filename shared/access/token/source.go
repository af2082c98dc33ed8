package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A source is where an issuer's keys are: at the URL in the settings or, if there is none, at the URL in the issuer's
// own description.
type source struct{ issuer, url string }

func (i Issuer) source() source { return source{issuer: i.Name, url: i.JWKSURL} }

// keys fetches the key set.
func (s source) keys(ctx context.Context, client *http.Client) (map[string]key, error) {
	url := s.url
	if url == "" {
		var err error
		if url, err = s.discover(ctx, client); err != nil {
			return nil, err
		}
	}
	set, err := get(ctx, client, url)
	if err != nil {
		return nil, fmt.Errorf("key set: %w", err)
	}
	return parseKeySet(set)
}

// discover asks the issuer where its keys are (OpenID Connect Discovery 1.0 §4). The description must be the issuer's
// own (§4.3); otherwise one issuer could pass off its keys as those of another.
func (s source) discover(ctx context.Context, client *http.Client) (string, error) {
	text, err := get(ctx, client, strings.TrimSuffix(s.issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	m, err := readObject(text)
	if err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	if issuer, err := m.text("issuer"); err != nil || issuer != s.issuer {
		return "", fmt.Errorf("discovery: the description is that of the issuer %.255q", issuer)
	}
	url, err := m.text("jwks_uri")
	if err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	if fault := urlFault(url); fault != "" {
		return "", fmt.Errorf("discovery: jwks_uri %s", fault)
	}
	return url, nil
}

// maxFetched bounds a key set and a description, in bytes.
const maxFetched = 256 << 10

func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFetched+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxFetched {
		return nil, errors.New("too large")
	}
	return body, nil
}
