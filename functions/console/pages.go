package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/lambdahttp"
)

//go:embed page
var sources embed.FS

// mediaTypes are those of the files that a browser asks for. The licences of the vendored modules are not served.
var mediaTypes = map[string]string{
	".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
}

// comments are whole lines of comments, which no browser needs. What others wrote is served as it is.
var comments = regexp.MustCompile(`(?m)^[\t ]*//.*\n|^[\t ]*/\*\*(?s:.*?)\*/[\t ]*\n`)

// A site is the page and its files by name. The version is a hash of all their bytes.
type site struct {
	page    []byte
	files   map[string][]byte
	version string
}

// read takes the site from the embedded sources. Modules refer to each other by relative paths, so only the page has to
// know the version.
func read(store string) site {
	s := site{files: map[string][]byte{}}
	sum := sha256.New()
	err := fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		switch {
		case path.Base(name) == "index.html":
			s.page = text
		case path.Ext(name) == ".mjs" && path.Dir(name) == "page":
			s.files[path.Base(name)] = comments.ReplaceAll(text, nil)
		case mediaTypes[path.Ext(name)] != "":
			s.files[path.Base(name)] = text
		}
		return err
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	s.version = fmt.Sprintf("%x", sum.Sum(nil)[:8])
	s.page = bytes.ReplaceAll(s.page, []byte("{version}"), []byte(s.version))
	s.page = bytes.ReplaceAll(s.page, []byte("{stages}"), fmt.Append(nil, cohort.Stages)) // as [1 10 …]
	s.page = bytes.ReplaceAll(s.page, []byte("{may}"), []byte(rights(store)))
	s.page = bytes.ReplaceAll(s.page, []byte("{policy}"), []byte(html.EscapeString(string(guard.Default().JSON()))))
	return s
}

// upload is the operation that begins the upload of an artifact.
const upload = "put-artifact"

// rights lists who may call what, as "role role=operation operation;…", so that the page offers nobody an action that
// the service would refuse. Without a store of artifacts, nobody uploads one.
func rights(store string) string {
	ids := map[string][]string{}
	for _, op := range table.All {
		if op.ID == upload && store == "" {
			continue
		}
		roles := make([]string, len(op.Roles))
		for i, role := range op.Roles {
			roles[i] = string(role)
		}
		key := strings.Join(roles, " ")
		ids[key] = append(ids[key], op.ID)
	}
	var groups []string
	for _, roles := range slices.Sorted(maps.Keys(ids)) {
		groups = append(groups, roles+"="+strings.Join(ids[roles], " "))
	}
	return strings.Join(groups, ";")
}

// policy lets the page load its own files and call its own service, the login and the store of artifacts, and nothing else.
// No script can turn text into markup.
func policy(others ...string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		strings.Join(strings.Fields("connect-src 'self' "+strings.Join(others, " ")), " ") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
}

// pages answers operations.ConsolePaths. missing answers every other path, and the files of other versions: then the
// page must be loaded again.
func pages(s site, policy string, missing http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", missing)
	mux.HandleFunc("GET "+operations.ConsolePath, func(w http.ResponseWriter, r *http.Request) {
		lambdahttp.WriteFile(w, r, "text/html; charset=utf-8", "no-cache", s.page)
	})
	mux.HandleFunc("GET "+operations.ConsolePath+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "../console")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	mux.HandleFunc("GET "+operations.ConsolePath+"/{version}/{file}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("file")
		text, ok := s.files[name]
		if !ok || r.PathValue("version") != s.version {
			missing(w, r)
			return
		}
		lambdahttp.WriteFile(w, r, mediaTypes[path.Ext(name)], "public, max-age=31536000, immutable", text)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, lambdahttp.SecurityHeaders())
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		mux.ServeHTTP(w, r)
	})
}
