package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
)

// A page answers a path that is open to anyone.
type page struct {
	function string
	throttle Throttle
}

// pages are the pages that the settings ask for, by path.
func (s *service) pages() map[string]page {
	pages := map[string]page{}
	if s.settings.Docs {
		for _, path := range operations.DocsPaths {
			pages[path] = page{operations.Docs, docsThrottle}
		}
	}
	if s.settings.Console != "" {
		for _, path := range operations.ConsolePaths {
			pages[path] = page{operations.Console, consoleThrottle}
		}
	}
	return pages
}

// addConsole makes the function that serves the operator's page, if the settings ask for it.
func (s *service) addConsole() {
	if s.settings.Console == "" {
		return
	}
	// The text has parts that are known only at deploy time, so it cannot be parsed as a URL.
	scheme, rest, _ := strings.Cut(s.login.TokenEndpoint, "://")
	host, _, _ := strings.Cut(rest, "/")
	env := map[string]*string{string(setting.LoginOrigin): jsii.String(scheme + "://" + host)}
	if store := s.artifactSettings()[setting.ArtifactStoreURL]; store != nil {
		env[string(setting.ArtifactStoreURL)] = store
	}
	s.add(helper(operations.Console, "Serve the operator's page", env))
}

// readConsole reads the base URL of the API, where the operator's page is; empty: there is no page. The pool's login sends
// people back to the page, so it needs the URL. Without a domain, the first deploy makes that URL, and the template cannot
// refer to it: the API publishes how people sign in, so it already refers to the login.
func readConsole(r *reader, s Settings) string {
	given := ""
	if v, ok := r.value("console"); ok {
		given = fmt.Sprint(v)
	}
	switch {
	case given == "", given == "false":
		return ""
	case s.Login == nil && !s.OwnUserPool():
		r.fault("console: nobody could sign in to the page; set login")
	case given != "true":
		if u, err := url.Parse(given); err != nil || !absolute(given, "https") || strings.HasSuffix(u.Path, "/") {
			r.fault("console: %q is not true, false or the API's https URL without a slash at the end (output ApiUrl)", given)
		}
		if s.Domain.Name != "" {
			r.fault("console: set it to true; the domain is the page's address")
		}
		return given
	case s.Domain.Name != "":
		return "https://" + s.Domain.Name
	case s.Login == nil:
		r.fault("console: the pool's login needs the page's address: deploy without console first, then set it to the output ApiUrl")
	}
	return given
}
