package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"wavegate/shared/platform/setting"
)

// Limits are the default limits, in requests in any 60 s.
type Limits struct {
	User                int // of one user, copilot calls included
	Organization        int // of the people and integrations of one organization together
	CopilotUser         int // copilot calls of one user
	CopilotOrganization int // copilot calls of one organization
	Boxes               int // of the boxes of one organization together; 0: they are not counted
}

// highest is the highest limit that can be set.
const highest = setting.HighestLimit

// Settings are the settings of a function's limiter.
type Settings struct {
	Limits
	// Deadline bounds the time of a request in the limiter, except if it must first connect to
	// the store.
	Deadline time.Duration
}

// ReadSettings reads the settings of the limiter.
func ReadSettings(r *setting.Values) Settings {
	s := Settings{
		Limits: Limits{
			User:                r.Number(setting.LimitUser),
			Organization:        r.Number(setting.LimitOrganization),
			CopilotUser:         r.Number(setting.LimitCopilotUser),
			CopilotOrganization: r.Number(setting.LimitCopilotOrganization),
			Boxes:               r.Number(setting.LimitBoxes),
		},
		Deadline: time.Duration(r.Number(setting.LimitDeadlineMS)) * time.Millisecond,
	}
	if err := s.Validate(); err != nil {
		r.Fault("%w", err)
	}
	return s
}

// Validate returns all contradictions between the limits.
func (l Limits) Validate() error {
	var errs []error
	within := func(inner setting.Name, n int, outer setting.Name, m int) {
		if n > m {
			errs = append(errs, fmt.Errorf("%s (%d) is more than %s (%d), which every such request counts against as well", inner, n, outer, m))
		}
	}
	within(setting.LimitUser, l.User, setting.LimitOrganization, l.Organization)
	within(setting.LimitUser, l.User, setting.LimitBoxes, l.Boxes)
	within(setting.LimitCopilotUser, l.CopilotUser, setting.LimitUser, l.User)
	within(setting.LimitCopilotUser, l.CopilotUser, setting.LimitCopilotOrganization, l.CopilotOrganization)
	within(setting.LimitCopilotOrganization, l.CopilotOrganization, setting.LimitOrganization, l.Organization)
	return errors.Join(errs...)
}

// Names are hashed in keys, so that a long name in a token cannot make an item grow.
func userKey(user string) string { return "user#" + digest(user) }

func organizationKey(organization string) string { return "org#" + digest(organization) }
func copilotKey(key string) string               { return "copilot#" + key }

func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
