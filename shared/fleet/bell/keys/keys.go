// Package keys reads the bell's secrets. Only the functions that need them import it: the client of Secrets Manager takes
// a fifth of a millisecond of a function's start.
package keys

import (
	"context"
	"fmt"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/secret"
	"wavegate/shared/platform/setting"
)

// Keys caches the secrets of the deployment. They are safe for concurrent use.
type Keys struct {
	fixed           bell.Secret // for local runs
	present, before secret.Cached
}

// Read makes keys from the settings bell.KeySettings. A deployment without a bell has none.
func Read(r *setting.Values, client secret.Manager, now func() time.Time) *Keys {
	id, fixed := r.Text(setting.BellSecretID), r.Text(setting.BellSecret)
	if fixed != "" && len(fixed) < bell.LeastSecret {
		r.Fault("%s has %d characters; it must have %d or more", setting.BellSecret, len(fixed), bell.LeastSecret)
	}
	return &Keys{
		fixed:   bell.Secret(fixed),
		present: secret.Cached{ID: id, Client: client, Now: now, Check: check},
		before:  secret.Cached{ID: id, Client: client, Now: now, Check: check, Before: true},
	}
}

// Missing reports whether no secret is configured.
func (k *Keys) Missing() bool { return k.fixed == "" && k.present.ID == "" }

func check(value string) error {
	if len(value) < bell.LeastSecret {
		return fmt.Errorf("the bell's secret has %d characters; it must have %d or more", len(value), bell.LeastSecret)
	}
	return nil
}

// Present is the secret that addresses are made with. It returns UNAVAILABLE.
func (k *Keys) Present(ctx context.Context) (bell.Secret, error) {
	if k.fixed != "" {
		return k.fixed, nil
	}
	return read(ctx, &k.present)
}

// Valid returns the secrets of all addresses that the bell answers at. It returns UNAVAILABLE.
func (k *Keys) Valid(ctx context.Context) (bell.Secrets, error) {
	present, err := k.Present(ctx)
	if err != nil || k.fixed != "" {
		return bell.Secrets{present}, err
	}
	before, err := read(ctx, &k.before)
	if err != nil {
		return nil, err
	}
	if before == "" {
		return bell.Secrets{present}, nil
	}
	return bell.Secrets{present, before}, nil
}

func read(ctx context.Context, s *secret.Cached) (bell.Secret, error) {
	value, err := s.Get(ctx)
	if err != nil {
		return "", problem.Wrap(err, problem.Unavailable, "The bell is not available at the moment.").After(secret.Retry)
	}
	return bell.Secret(value), nil
}
