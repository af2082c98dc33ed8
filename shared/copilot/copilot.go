// Package copilot forwards calls to the assistant, which runs elsewhere. Method, path, query, body and
// answer pass unchanged but for hop-by-hop headers; the caller's token stays here, and who calls goes
// along in headers that a client cannot set, with a secret by which the upstream knows that they are
// true.
package copilot

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"
)

// The settings, as variables of the function's environment.
const (
	// EnvURL is the upstream, an absolute https URL (http on loopback); empty: there is none.
	EnvURL = "COPILOT_URL"
	// EnvSecret is what the upstream knows the service by; it is required with a URL.
	EnvSecret = "COPILOT_SECRET"
	// EnvTimeout is how many seconds the upstream may take to answer, 1 to 27; the gateway waits no
	// longer than 29.
	EnvTimeout = "COPILOT_TIMEOUT_SECONDS"
)

const (
	defaultTimeout = 25 * time.Second
	longestTimeout = 27 * time.Second
)

// Settings are where the assistant is and how it is spoken to.
type Settings struct {
	URL     *url.URL // nil: there is no assistant
	Secret  string
	Timeout time.Duration
}

// SettingsFromEnv reads the settings. The error tells what makes no sense; a function must not start
// with it.
func SettingsFromEnv() (Settings, error) {
	s := Settings{Secret: os.Getenv(EnvSecret), Timeout: defaultTimeout}
	if text := os.Getenv(EnvTimeout); text != "" {
		n, err := strconv.Atoi(text)
		s.Timeout = time.Duration(n) * time.Second
		if err != nil || s.Timeout < time.Second || s.Timeout > longestTimeout {
			return s, fmt.Errorf("%s is %q, not a number of seconds from 1 to %d", EnvTimeout, text, longestTimeout/time.Second)
		}
	}
	text := os.Getenv(EnvURL)
	if text == "" {
		return s, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return s, fmt.Errorf("%s is no URL: %w", EnvURL, err)
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return s, fmt.Errorf("%s is %q; it is scheme, host and path alone", EnvURL, text)
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return s, fmt.Errorf("%s is %q; only https keeps the secret", EnvURL, text)
	case s.Secret == "" || identityValue(s.Secret) != s.Secret:
		return s, errors.New(EnvSecret + " must be set with " + EnvURL + ", in printable ASCII without a percent sign")
	}
	s.URL = u
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
