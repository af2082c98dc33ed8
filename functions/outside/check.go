package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
)

// A checker looks at an API.
type checker struct {
	api    string // its base URL
	login  string // Cognito's, in the stage's region
	client *http.Client
}

// check runs every check that it has accounts for, and returns what failed: a stranger is refused, a person signs in
// and reads, and a box polls.
func (c checker) check(ctx context.Context, known Known) []error {
	var faults []error
	try := func(step string, err error) bool {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", step, err))
		}
		return err == nil
	}
	try("a stranger is refused", c.get(ctx, "/api/ota/release-channels?limit=1", "", http.StatusUnauthorized))
	if known.Username != "" {
		token, err := c.logIn(ctx, known)
		if try("a person signs in", err) {
			try("a person reads", c.get(ctx, "/api/ota/release-channels?limit=1", token, http.StatusOK))
		}
	}
	if known.EdgeID != "" {
		try("a box polls", c.get(ctx, "/api/edges/"+url.PathEscape(known.EdgeID)+"/update/manifest", known.BoxToken, http.StatusOK, http.StatusNotModified))
	}
	return faults
}

// get requests a path of the API, and expects one of the statuses.
func (c checker) get(ctx context.Context, path, token string, want ...int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api+path, nil)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20)); err != nil {
		return err
	}
	if !slices.Contains(want, answer.StatusCode) {
		return fmt.Errorf("answered %d, want %v", answer.StatusCode, want)
	}
	return nil
}

// logIn returns an access token of the person.
func (c checker) logIn(ctx context.Context, known Known) (string, error) {
	body, err := json.Marshal(map[string]any{
		"AuthFlow": "USER_PASSWORD_AUTH", "ClientId": known.ClientID,
		"AuthParameters": map[string]string{"USERNAME": known.Username, "PASSWORD": known.Password},
	})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.login, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.1")
	request.Header.Set("X-Amz-Target", "AWSCognitoIdentityProviderService.InitiateAuth")
	answer, err := c.client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var result struct {
		AuthenticationResult struct{ AccessToken string }
	}
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("answered %d", answer.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&result); err != nil {
		return "", err
	}
	if result.AuthenticationResult.AccessToken == "" {
		return "", fmt.Errorf("got no token: the account needs more than a password")
	}
	return result.AuthenticationResult.AccessToken, nil
}
