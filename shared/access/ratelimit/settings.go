package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Limits are the default limits: requests in any 60 s.
type Limits struct {
	User                int // of one user, copilot calls included
	Organization        int // of the people and integrations of one organization together
	CopilotUser         int // copilot calls of one user
	CopilotOrganization int // copilot calls of one organization
}

// Highest is the highest limit that a subject can have. One item takes about 1,000 writes a second
// before DynamoDB throttles its partition; beyond 30,000 requests a minute a subject's count would
// have to be spread over several items.
const Highest = 30_000

// Defaults are the limits where no setting says otherwise. The specification names those of a user.
var Defaults = Limits{User: 600, Organization: 6000, CopilotUser: 30, CopilotOrganization: 300}

// Settings are what a function's limiter is set to.
type Settings struct {
	Limits
	// Deadline bounds a request's stay in the limiter, save a container's first.
	Deadline time.Duration
}

// The settings, as variables of a function's environment.
const (
	EnvUser                = "LIMIT_USER"
	EnvOrganization        = "LIMIT_ORGANIZATION"
	EnvCopilotUser         = "LIMIT_COPILOT_USER"
	EnvCopilotOrganization = "LIMIT_COPILOT_ORGANIZATION"
	// EnvDeadline is in milliseconds. Only a machine that is far slower than AWS needs it.
	EnvDeadline = "LIMIT_DEADLINE_MS"
)

// The deadline's default and the most that it may be. A request waits so long when the store hangs.
const (
	defaultDeadline = 100 * time.Millisecond
	longestDeadline = 5 * time.Second
)

// Environment lists the variables with their values, for what starts the functions.
func (l Limits) Environment() map[string]string {
	settings := map[string]string{}
	for _, f := range l.fields() {
		settings[f.env] = strconv.Itoa(*f.value)
	}
	return settings
}

// SettingsFromEnv reads the settings from the environment. What is not set has its default. The
// error names all that makes no sense; a function must not start with it.
func SettingsFromEnv() (Settings, error) {
	s := Settings{Limits: Defaults, Deadline: defaultDeadline}
	milliseconds := int(s.Deadline.Milliseconds())
	var errs []error
	for _, f := range append(s.fields(), field{EnvDeadline, &milliseconds}) {
		text := os.Getenv(f.env)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s is %q, not a whole number", f.env, text))
			continue
		}
		*f.value = n
	}
	s.Deadline = time.Duration(milliseconds) * time.Millisecond
	if s.Deadline <= 0 || s.Deadline > longestDeadline {
		errs = append(errs, fmt.Errorf("%s is %d; it is 1 to %d", EnvDeadline, milliseconds, longestDeadline.Milliseconds()))
	}
	return s, errors.Join(append(errs, s.Validate())...)
}

// Validate tells all that makes no sense in the limits.
func (l Limits) Validate() error {
	var errs []error
	for _, f := range l.fields() {
		if *f.value < 1 || *f.value > Highest {
			errs = append(errs, fmt.Errorf("%s is %d; a limit is 1 to %d requests a minute", f.env, *f.value, Highest))
		}
	}
	within := func(inner string, n int, outer string, m int) {
		if n > m {
			errs = append(errs, fmt.Errorf("%s (%d) is more than %s (%d), which every such request counts against as well", inner, n, outer, m))
		}
	}
	within(EnvUser, l.User, EnvOrganization, l.Organization)
	within(EnvCopilotUser, l.CopilotUser, EnvUser, l.User)
	within(EnvCopilotUser, l.CopilotUser, EnvCopilotOrganization, l.CopilotOrganization)
	within(EnvCopilotOrganization, l.CopilotOrganization, EnvOrganization, l.Organization)
	return errors.Join(errs...)
}

type field struct {
	env   string
	value *int
}

func (l *Limits) fields() []field {
	return []field{
		{EnvUser, &l.User},
		{EnvOrganization, &l.Organization},
		{EnvCopilotUser, &l.CopilotUser},
		{EnvCopilotOrganization, &l.CopilotOrganization},
	}
}

// Keys of items. Names are hashed, so that no name a token may carry makes an item grow.
func userKey(user string) string                 { return "user#" + digest(user) }
func organizationKey(organization string) string { return "org#" + digest(organization) }
func copilotKey(key string) string               { return "copilot#" + key }

func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
