// Package secret reads secrets from Secrets Manager and keeps them for a while.
package secret

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
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"wavegate/shared/platform/credentials"
)

const (
	// age is how long a secret is used before it is read again. A rotation arrives within it, without a deploy.
	age = 5 * time.Minute
	// grace is how long the last value of a secret is used while the secret cannot be read again.
	grace = time.Hour
	// Retry is how long to wait after a failed read. The old value is used meanwhile.
	Retry = 10 * time.Second
	// timeout bounds a read.
	timeout = 2 * time.Second
)

// A Manager reads secrets. *secretsmanager.Client is one.
type Manager interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// NewClient makes a client of Secrets Manager from the variables that Lambda gives every function, and
// AWS_ENDPOINT_URL_SECRETS_MANAGER if another service replaces it.
func NewClient() Manager {
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

// A Cached is a secret as it was last read. Its age is measured by the wall clock, because the monotonic clock stops
// while a container is frozen. It is safe for concurrent use.
type Cached struct {
	// ID names the secret.
	ID string
	// Before selects the previous value, which is empty if there is none.
	Before bool
	Client Manager
	Now    func() time.Time
	// Check returns an error for a value that cannot be used. The error must not show the value.
	Check func(value string) error

	mu        sync.Mutex
	value     string
	read      time.Time // when value was read
	notBefore time.Time // no other try before
}

// Get returns the secret, and reads it again when it is five minutes old.
func (s *Cached) Get(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now().Round(0)
	old := now.Sub(s.read)
	usable := !s.read.IsZero() && old >= 0 && old < grace
	if usable && (old < age || now.Before(s.notBefore)) {
		return s.value, nil
	}
	value, err := s.fetch(ctx)
	switch {
	case err == nil:
		s.value, s.read = value, now
	case !usable:
		return "", err
	default:
		s.notBefore = now.Add(Retry)
	}
	return s.value, nil
}

func (s *Cached) fetch(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	in := &secretsmanager.GetSecretValueInput{SecretId: &s.ID}
	if s.Before {
		in.VersionStage = aws.String("AWSPREVIOUS")
	}
	out, err := s.Client.GetSecretValue(ctx, in)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing && s.Before {
		return "", nil // it was never rotated
	}
	if err != nil {
		return "", fmt.Errorf("secret: read: %w", err)
	}
	value := aws.ToString(out.SecretString)
	if err := s.Check(value); err != nil {
		return "", fmt.Errorf("secret: %w", err)
	}
	return value, nil
}
