package copilot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"wavegate/shared/platform/credentials"
)

const (
	// secretAge is how long a secret is used before it is read again. A rotation arrives within it,
	// without a deploy.
	secretAge = 5 * time.Minute
	// secretGrace is how long a secret that was read serves on while it cannot be read again.
	secretGrace = time.Hour
	// secretRetry is how long to wait after a failed read, in which the old secret serves.
	secretRetry = 10 * time.Second
	// secretTimeout bounds a read.
	secretTimeout = 2 * time.Second
)

// Secrets reads secrets. *secretsmanager.Client is one.
type Secrets interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// NewSecrets makes a client of Secrets Manager from the variables that Lambda gives every function, and
// AWS_ENDPOINT_URL_SECRETS_MANAGER where another service stands in for it.
func NewSecrets() Secrets {
	o := secretsmanager.Options{
		Region:           os.Getenv("AWS_REGION"),
		Credentials:      credentials.FromEnvironment(),
		HTTPClient:       &http.Client{},
		RetryMaxAttempts: 2,
	}
	if url := os.Getenv("AWS_ENDPOINT_URL_SECRETS_MANAGER"); url != "" {
		o.BaseEndpoint = aws.String(url)
	}
	return secretsmanager.New(o)
}

// A secret is what the upstream knows the service by, as it was last read. Its age goes by the wall clock:
// the monotonic one stands still while a container is frozen.
type secret struct {
	id      string
	secrets Secrets
	now     func() time.Time

	mu        sync.Mutex
	value     string
	read      time.Time // when value was read
	notBefore time.Time // no other try before
}

// get gives the secret, read again when it is five minutes old.
func (s *secret) get(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().Round(0)
	age := now.Sub(s.read)
	usable := s.value != "" && age >= 0 && age < secretGrace
	if usable && (age < secretAge || now.Before(s.notBefore)) {
		return s.value, nil
	}
	value, err := s.fetch(ctx)
	switch {
	case err == nil:
		s.value, s.read = value, now
	case !usable:
		return "", err
	default:
		s.notBefore = now.Add(secretRetry)
	}
	return s.value, nil
}

func (s *secret) fetch(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	out, err := s.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.id})
	if err != nil {
		return "", fmt.Errorf("copilot: read the secret: %w", err)
	}
	value := aws.ToString(out.SecretString)
	if !fitsHeader(value) {
		return "", errors.New("copilot: the secret is not of printable ASCII without a percent sign")
	}
	return value, nil
}

// fitsHeader tells whether a secret can be sent as it is.
func fitsHeader(value string) bool { return value != "" && identityValue(value) == value }
