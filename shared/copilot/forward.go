package copilot

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/secret"
)

// Lambda accepts 6 MB for the whole answer, head included, in which the body is a JSON string. Text grows when it is
// escaped. A body that is not text is sent as base64, a third larger.
const (
	maxAnswer  = 4 << 20   // bytes of a body
	maxEncoded = 5_900_000 // bytes of the string
)

// maxQuestion is the most bytes of a body that are forwarded. A body arrives as base64 in an event of at most 6 MiB.
const maxQuestion = 4_500_000

// Methods are those that the assistant accepts.
var Methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// A Forwarder forwards calls to the assistant. It is safe for concurrent use.
type Forwarder struct {
	settings  Settings
	transport http.RoundTripper
	now       func() time.Time
	secret    secret.Cached
	breakers  breakers
}

// New makes a forwarder. secrets reads the secret that the settings name.
func New(s Settings, secrets secret.Manager, now func() time.Time) *Forwarder {
	return &Forwarder{settings: s, now: now, transport: newConnections(),
		secret: secret.Cached{ID: s.SecretID, Client: secrets, Now: now, Check: checkHeader}}
}

// Forward sends the request on and returns what writes the answer. rest is the path after /api/copilot/, as the caller
// encoded it; it is appended to the assistant's own path.
//
// Errors: UNAVAILABLE if there is no assistant, if its secret cannot be read, and for 30 s after two calls in a row
// of the caller's organization took too long; TIMEOUT if it does not answer in time; BAD_GATEWAY if it cannot be reached or its answer cannot be
// forwarded; VALIDATION_FAILED for a path that would leave the assistant's, METHOD_NOT_ALLOWED, BODY_TOO_LARGE.
func (f *Forwarder) Forward(r *http.Request, rest string, caller auth.Principal, requestID string) (http.HandlerFunc, error) {
	// Faults of the call itself are reported whether or not there is an assistant.
	if !slices.Contains(Methods, r.Method) {
		return nil, problem.New(problem.MethodNotAllowed, "The assistant accepts only %s.", strings.Join(Methods, ", ")).Allowing(Methods)
	}
	if r.ContentLength > maxQuestion {
		return nil, problem.New(problem.BodyTooLarge, "The body is larger than %d bytes, the most that is forwarded to the assistant.", maxQuestion)
	}
	if f.settings.URL == nil {
		return nil, problem.New(problem.Unavailable, "No assistant is set up here.").After(time.Minute)
	}
	target, err := f.target(rest)
	if err != nil {
		return nil, problem.Invalid([]problem.Fault{{Parameter: "proxy", Code: "format", Detail: "must be a path without . and .. segments, however they are written"}})
	}
	if rest := f.breakers.rest(callerOf(caller), f.now()); rest > 0 {
		return nil, problem.New(problem.Unavailable, "The assistant takes too long to answer. Calls of your organization to it are paused.").After(rest)
	}
	known := f.settings.Secret
	if known == "" {
		if known, err = f.secret.Get(r.Context()); err != nil {
			return nil, problem.Wrap(err, problem.Unavailable, "The assistant cannot be asked at the moment.").After(secret.Retry)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), f.settings.Timeout)
	defer cancel()
	answer := &buffered{header: http.Header{}}
	var failed error
	proxy := &httputil.ReverseProxy{
		Transport: f.transport,
		ErrorLog:  log.New(io.Discard, "", 0), // ErrorHandler reports failures
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = target.Scheme, target.Host
			p.Out.URL.Path, p.Out.URL.RawPath = target.Path, target.RawPath
			// API Gateway passes the query on decoded. A space is written as %20 again, because a plus sign means a
			// space only in forms.
			p.Out.URL.RawQuery = strings.ReplaceAll(p.In.URL.RawQuery, "+", "%20")
			p.Out.Host = ""
			identify(p.Out.Header, caller, requestID, known)
		},
		ModifyResponse: readWhole,
		ErrorHandler:   func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err },
	}
	proxy.ServeHTTP(answer, r.WithContext(ctx))
	f.breakers.ended(callerOf(caller), timedOut(ctx, failed), f.now())
	switch {
	case failed != nil && ctx.Err() != nil:
		return nil, problem.Wrap(failed, problem.Timeout, "The assistant took too long to answer.")
	case failed != nil:
		return nil, problem.Wrap(failed, problem.BadGateway, "The assistant could not be reached, or its answer could not be forwarded.")
	}
	return answer.replay, nil
}

// timedOut reports whether a call failed because the assistant took too long, either to answer or to accept the
// connection.
func timedOut(ctx context.Context, failed error) bool {
	var network net.Error
	return failed != nil && (ctx.Err() != nil || errors.As(failed, &network) && network.Timeout())
}

// target is the assistant's URL for a path. Dot segments are refused, however they are written: they would lead out of
// the configured part of the assistant.
func (f *Forwarder) target(rest string) (*url.URL, error) {
	path, err := url.PathUnescape(rest)
	if err != nil {
		return nil, err
	}
	if leadsOut(path) {
		return nil, errors.New("copilot: a dot segment")
	}
	u := *f.settings.URL
	base := strings.TrimSuffix(u.EscapedPath(), "/")
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + path
	u.RawPath = base + "/" + rest
	return &u, nil
}

// leadsOut reports whether any server might find a dot segment in a decoded path. Some servers treat a backslash as a
// slash. Some ignore what follows a semicolon, or white space and control characters. Some accept overlong UTF-8. Some
// decode again, and skip what they cannot decode.
func leadsOut(path string) bool {
	for _, segment := range strings.Split(overlong.Replace(path), "/") {
		name, _, _ := strings.Cut(segment, ";")
		name = strings.TrimFunc(name, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
		if name == "." || name == ".." {
			return true
		}
	}
	again := decoded(path)
	return again != path && leadsOut(again)
}

// overlong replaces what some servers read as a dot or a slash.
var overlong = strings.NewReplacer("\xc0\xae", ".", "\xe0\x80\xae", ".", "\xc0\xaf", "/", "\xe0\x80\xaf", "/", `\`, "/")

// decoded is a path with its percent-encoded bytes decoded. A percent sign that encodes nothing stays.
func decoded(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if i+2 < len(path) && path[i] == '%' {
			if c, err := hex.DecodeString(path[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// readWhole reads an answer to its end while a failure can still be reported.
func readWhole(res *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("copilot: the answer has more than %d bytes", maxAnswer)
	}
	// No byte grows to more than six, so the bytes rarely have to be counted.
	if len(`""`)+6*len(body) > maxEncoded && utf8.Valid(body) {
		// A string always marshals.
		if text, _ := json.Marshal(string(body)); len(text) > maxEncoded {
			return fmt.Errorf("copilot: the answer has %d bytes once it is escaped", len(text))
		}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	res.Trailer = nil
	return nil
}

// passed are the headers of an answer that reach the caller: those that a client needs to read the body, to repeat a
// call and to make a conditional one. All others stay here, because the API's origin is also that of the operator's
// page: there, a header such as Set-Cookie, Clear-Site-Data or Service-Worker-Allowed would speak for this service.
// Location and Link name paths of the assistant, which mean nothing here.
var passed = []string{"Allow", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Etag", "Retry-After"}

// A buffered answer is written to the caller once it is complete.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *buffered) Header() http.Header { return b.header }

func (b *buffered) WriteHeader(status int) {
	// Informational answers come before the real one and are not forwarded.
	if status >= http.StatusOK && b.status == 0 {
		b.status = status
	}
}

func (b *buffered) Write(p []byte) (int, error) { return b.body.Write(p) }

func (b *buffered) replay(w http.ResponseWriter, _ *http.Request) {
	for _, name := range passed {
		if values, has := b.header[name]; has {
			w.Header()[name] = slices.Clone(values)
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(b.status)
	if b.body.Len() == 0 {
		return // writing nothing would add a Content-Type
	}
	// The writer is Lambda's own buffer, which accepts everything.
	_, _ = w.Write(b.body.Bytes())
}
