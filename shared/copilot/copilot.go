// Package copilot forwards calls to the assistant, which runs elsewhere. Method, path, query and body pass unchanged, and
// so do the status and the body of the answer. Of the answer's headers, only a few pass. The caller's token is not
// forwarded. Headers that a client cannot set tell the assistant who calls, and a secret proves that they come from this
// service.
package copilot

import (
	"net"
	"net/url"
	"time"

	"wavegate/shared/platform/setting"
)

// Settings say where the assistant is and how to call it.
type Settings struct {
	URL *url.URL // nil: there is no assistant
	// SecretID names the secret in Secrets Manager that proves to the assistant that the service calls.
	SecretID string
	// Secret is the secret itself, for local runs. It takes precedence over SecretID.
	Secret  string
	Timeout time.Duration
}

// ReadSettings reads the settings of the copilot.
func ReadSettings(r *setting.Values) Settings {
	s := Settings{
		SecretID: r.Text(setting.CopilotSecretID),
		Secret:   r.Text(setting.CopilotSecret),
		Timeout:  time.Duration(r.Number(setting.CopilotTimeoutSeconds)) * time.Second,
	}
	text := r.Text(setting.CopilotURL)
	if text == "" {
		return s
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		r.Fault("%s is no URL: %w", setting.CopilotURL, err)
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		r.Fault("%s is %q; it must be only scheme, host and path", setting.CopilotURL, text)
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		r.Fault("%s is %q; it must use https, to protect the secret", setting.CopilotURL, text)
	case s.Secret == "" && s.SecretID == "":
		r.Fault("%s must be set with %s", setting.CopilotSecretID, setting.CopilotURL)
	case s.Secret != "" && !fitsHeader(s.Secret):
		r.Fault("%s must be printable ASCII without a percent sign", setting.CopilotSecret)
	default:
		s.URL = u
	}
	return s
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
