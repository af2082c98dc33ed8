package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"wavegate/shared/platform/setting"
)

// Limits are the default limits: requests in any 60 s.
type Limits struct {
	User                int // of one user, copilot calls included
	Organization        int // of the people and integrations of one organization together
	CopilotUser         int // copilot calls of one user
	CopilotOrganization int // copilot calls of one organization
}

// Highest is the highest limit that a subject can have.
const Highest = setting.HighestLimit

// Settings are what a function's limiter is set to.
type Settings struct {
	Limits
	// Deadline bounds a request's stay in the limiter, except where a connection has to be made.
	Deadline time.Duration
}

// ReadSettings reads the settings of the limiter.
func ReadSettings(r *setting.Reader) Settings {
	s := Settings{
		Limits: Limits{
			User:                r.Number(setting.LimitUser),
			Organization:        r.Number(setting.LimitOrganization),
			CopilotUser:         r.Number(setting.LimitCopilotUser),
			CopilotOrganization: r.Number(setting.LimitCopilotOrganization),
		},
		Deadline: time.Duration(r.Number(setting.LimitDeadlineMS)) * time.Millisecond,
	}
	if err := s.Validate(); err != nil {
		r.Fault("%w", err)
	}
	return s
}

// Validate tells all that makes no sense in the limits taken together.
func (l Limits) Validate() error {
	var errs []error
	within := func(inner setting.Name, n int, outer setting.Name, m int) {
		if n > m {
			errs = append(errs, fmt.Errorf("%s (%d) is more than %s (%d), which every such request counts against as well", inner, n, outer, m))
		}
	}
	within(setting.LimitUser, l.User, setting.LimitOrganization, l.Organization)
	within(setting.LimitCopilotUser, l.CopilotUser, setting.LimitUser, l.User)
	within(setting.LimitCopilotUser, l.CopilotUser, setting.LimitCopilotOrganization, l.CopilotOrganization)
	within(setting.LimitCopilotOrganization, l.CopilotOrganization, setting.LimitOrganization, l.Organization)
	return errors.Join(errs...)
}

// Keys of items. Names are hashed, so that no name a token may carry makes an item grow.
func userKey(user string) string                 { return "user#" + digest(user) }
func organizationKey(organization string) string { return "org#" + digest(organization) }
func copilotKey(key string) string               { return "copilot#" + key }

func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
