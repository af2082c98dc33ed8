// Package copilot forwards calls to the assistant, which runs elsewhere. Method, path, query, body and
// answer pass unchanged but for hop-by-hop headers; the caller's token stays here, and who calls goes
// along in headers that a client cannot set, with a secret by which the upstream knows that they are
// true.
package copilot

import (
	"net"
	"net/url"
	"time"

	"wavegate/shared/platform/setting"
)

// Settings are where the assistant is and how it is spoken to.
type Settings struct {
	URL *url.URL // nil: there is no assistant
	// SecretID names the secret in Secrets Manager by which the upstream knows the service.
	SecretID string
	// Secret is the secret itself, for local runs. It wins over SecretID.
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
		r.Fault("%s is %q; it is scheme, host and path alone", setting.CopilotURL, text)
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		r.Fault("%s is %q; only https keeps the secret", setting.CopilotURL, text)
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
