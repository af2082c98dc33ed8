package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
)

// A page is what answers a path that is open to anyone.
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

// addConsole makes the function that serves the operator's page, where the settings ask for it.
func (s *service) addConsole() {
	if s.settings.Console == "" {
		return
	}
	// The text has parts that only a deploy knows, so it is no URL yet.
	scheme, rest, _ := strings.Cut(s.login.TokenEndpoint, "://")
	host, _, _ := strings.Cut(rest, "/")
	s.add(helper(operations.Console, "Serve the operator's page", map[string]*string{string(setting.LoginOrigin): jsii.String(scheme + "://" + host)}))
}

// readConsole reads where the operator's page is, the base URL of the API; empty: there is no page. The pool's
// login sends people back to the page, so it has to know the URL. That of a stage without a domain is made up
// by its first deploy, and the login cannot refer to it: the API tells how people log in, so it refers to the
// login.
func readConsole(r *reader, s Settings) string {
	given := ""
	if v, ok := r.value("console"); ok {
		given = fmt.Sprint(v)
	}
	switch {
	case given == "", given == "false":
		return ""
	case s.Login == nil && !s.OwnUserPool():
		r.fault("console: nobody could sign in to the page; say by login how people log in")
	case given != "true":
		if u, err := url.Parse(given); err != nil || !absolute(given, "https") || strings.HasSuffix(u.Path, "/") {
			r.fault("console: %q is neither true nor false nor the API's https URL without a slash at its end (output ApiUrl)", given)
		}
		if s.Domain.Name != "" {
			r.fault("console: say true; the domain tells where the page is")
		}
		return given
	case s.Domain.Name != "":
		return "https://" + s.Domain.Name
	case s.Login == nil:
		r.fault("console: the pool's login has to know where the page is: give the API's URL, which is the output ApiUrl of a deploy without it")
	}
	return given
}
