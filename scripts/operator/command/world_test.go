package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/scripts/operator/command"
	"wavegate/scripts/operator/login"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/testing/conform"
	"wavegate/shared/testing/expect"
)

// A desk is a person at a terminal with a service.
type desk struct {
	*testing.T
	*harness.World
	dir  string
	disk tokenfile.Disk
	env  map[string]string
	// asks is set if a person can be asked; typed is their answer.
	asks  bool
	typed io.Reader
	// seen is called before every call is made, and can stop it.
	seen func(*http.Request) error
	// answered is called with every answer of the service.
	answered func(r *http.Request, status int)
	// answers answers calls instead of the service, which answers itself after nil and no error.
	answers func(*http.Request) (*http.Response, error)
	// after is the clock for the command's messages while it waits; nil: a real one.
	after func(time.Duration, func()) func()
}

// newDesk starts a service, at which olga is signed in.
func newDesk(t *testing.T, change ...func(*service.Options)) *desk {
	t.Helper()
	d := &desk{T: t, World: harness.New(t, change...), dir: t.TempDir(), env: map[string]string{}, typed: strings.NewReader("")}
	d.does("login", d.Target.URL, "--as", "olga").is(run.Done)
	return d
}

// settings sets environment variables of the functions.
func settings(list ...string) func(*service.Options) {
	return func(o *service.Options) { o.Environment = func(string) []string { return list } }
}

// A result is the outcome of a run of the command.
type result struct {
	*testing.T
	args     []string
	code     int
	out, err string
}

// does runs the command.
func (d *desk) does(args ...string) result {
	d.Helper()
	return d.runs(d.Context(), args...)
}

func (d *desk) runs(ctx context.Context, args ...string) result {
	d.Helper()
	return d.changed(ctx, func(*run.Environment) {}, args...)
}

// changed runs the command in a changed environment.
func (d *desk) changed(ctx context.Context, change func(*run.Environment), args ...string) result {
	d.Helper()
	var out, problems bytes.Buffer
	e := d.environment(&out, &problems)
	change(&e)
	code := command.Run(ctx, args, e)
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(escapes.ReplaceAllString(strings.TrimSpace(line), "")); n > e.Width() && args[0] == "status" && !strings.HasPrefix(line, "{") {
			d.Errorf("wavegate %q has a line of %d columns: %s", args, n, line)
		}
	}
	return result{d.T, args, code, out.String(), problems.String()}
}

func (d *desk) environment(out, problems io.Writer) run.Environment {
	after := d.after
	if after == nil {
		after = run.Process().After
	}
	return run.Environment{
		Terminal: terminal.Terminal{In: d.typed, Out: out, Err: problems, Asks: d.asks, Width: func() int { return 80 }},
		After:    after,
		Getenv:   func(name string) string { return d.env[name] },
		Files:    login.Files{Dir: d.dir}, Cache: filepath.Join(d.dir, "cache"), Disk: d.disk,
		HTTP: &http.Client{Transport: checked{d}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Open: func(context.Context, string) error { return nil }, Patience: 3 * time.Second,
	}
}

// is fails unless the run exited with the code.
func (r result) is(code int) result {
	r.Helper()
	if r.code != code {
		r.Fatalf("wavegate %q exited with %d, want %d\n%s%s", r.args, r.code, code, r.out, r.err)
	}
	return r
}

// says fails unless the run printed the texts.
func (r result) says(texts ...string) result {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(r.out, text) {
			r.Errorf("wavegate %q does not say %q:\n%s", r.args, text, r.out)
		}
	}
	return r
}

// warns fails unless the run wrote the texts to standard error.
func (r result) warns(texts ...string) result {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			r.Errorf("wavegate %q does not warn of %q:\n%s", r.args, text, r.err)
		}
	}
	return r
}

// into reads the JSON document that the run printed, or with --json its error.
func (r result) into(v any) {
	r.Helper()
	text := r.out
	if r.code != run.Done && text == "" {
		text = r.err
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		r.Fatalf("wavegate %q does not print one document: %v\n%s%s", r.args, err, r.out, r.err)
	}
}

// not fails if the run printed one of the texts.
func (r result) not(texts ...string) {
	r.Helper()
	for _, text := range texts {
		if strings.Contains(r.out, text) {
			r.Errorf("wavegate %q says %q:\n%s", r.args, text, r.out)
		}
	}
}

// answer answers a call instead of the service.
func answer(r *http.Request, status int, body string, header ...string) *http.Response {
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
	for i := 0; i < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

// checked compares every exchange of the command with the service's contract.
type checked struct{ *desk }

var (
	checkerOnce sync.Once
	checker     *conform.Checker
	errChecker  error
)

func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.seen != nil {
		if err := c.seen(r); err != nil {
			return nil, err
		}
	}
	if c.answers != nil {
		if res, err := c.answers(r); res != nil || err != nil {
			return res, err
		}
	}
	if r.URL.Host == "artifacts.example" { // every file there has one byte
		return answer(r, http.StatusPartialContent, "x", "Content-Range", "bytes 0-0/1"), nil
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasPrefix(r.URL.Path, "/api/") {
		return res, err
	}
	if c.answered != nil {
		c.answered(r, res.StatusCode)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(text))
	if checkerOnce.Do(func() { checker, errChecker = conform.New() }); errChecker != nil {
		return nil, errChecker
	}
	if err := checker.Check(conform.Exchange{
		Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header, Body: body,
		Status: res.StatusCode, Answer: res.Header, AnswerBody: text,
	}); err != nil {
		c.Errorf("the command or the service does not keep the contract: %v", err)
	}
	return res, nil
}

// at is the same desk in a subtest.
func (d *desk) at(t *testing.T) *desk {
	other := *d
	other.T = t
	return &other
}

// as returns the desk of another person at the same service: a platform owner, unless options of login say otherwise.
func (d *desk) as(user string, options ...string) *desk {
	d.Helper()
	other := *d
	other.dir = d.TempDir()
	other.does(append([]string{"login", d.Target.URL, "--as", user}, options...)...).is(run.Done)
	return &other
}

// with returns the desk with environment variables, given as names and values.
func (d *desk) with(variables ...string) *desk {
	other := *d
	other.env = map[string]string{}
	for i := 0; i < len(variables); i += 2 {
		other.env[variables[i]] = variables[i+1]
	}
	return &other
}

// nobody is the desk of somebody who is not signed in.
func (d *desk) nobody() *desk {
	other := *d
	other.dir = d.TempDir()
	return &other
}

// publishing is a command that publishes a version on a channel, and publish runs it, confirmed.
func publishing(channel, version string) []string {
	return []string{"publish", channel, version, "--url", "https://artifacts.example/" + version, "--sha256", digest(version[2:3])}
}

func (d *desk) publish(channel, version string) result {
	d.Helper()
	return d.does(append(publishing(channel, version), "--confirm", channel)...)
}

// digest is a SHA-256 digest.
func digest(c string) string { return strings.Repeat(c, 64) }

// publishes publishes 1.0.0 on stable and 1.1.0 on canary.
func (d *desk) publishes() {
	d.Helper()
	d.publish("gateway-x/stable", "1.0.0").is(run.Done)
	d.publish("gateway-x/canary", "1.1.0").is(run.Done)
}

// starts starts a rollout of 1.1.0 on stable, with some boxes on the channel.
func (d *desk) starts(boxes int) {
	d.Helper()
	d.publishes()
	if boxes > 0 {
		d.does("register", d.file("boxes.csv", csv(boxes)), "--yes").is(run.Done)
	}
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
}

// csv is a file of boxes.
func csv(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("box-%04d", i+1)
	}
	return csvOf(ids)
}

func csvOf(ids []string) string {
	return "edgeId,edgeType,channel,organizationId\n" + strings.Join(ids, ",gateway-x,stable,acme\n") + ",gateway-x,stable,acme\n"
}

// file writes a file of the desk's directory, and returns its path.
func (d *desk) file(name, text string) string {
	d.Helper()
	path := filepath.Join(d.dir, name)
	expect.OK(d, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// last is the last rollout on stable, and rollout its id.
func (d *desk) last() map[string]any {
	d.Helper()
	list := d.Owner(d.T).Get(d.T, "/api/ota/rollouts?edgeType=gateway-x&channel=stable").Object(d.T)["items"].([]any)
	return list[0].(map[string]any)
}

func (d *desk) rollout() string {
	d.Helper()
	return d.last()["id"].(string)
}

// stands fails unless the last rollout on stable has a status and a stage.
func (d *desk) stands(status string, percent float64) {
	d.Helper()
	r := d.last()
	expect.Equal(d, []any{r["status"], r["staged_percent"]}, []any{status, percent}, "the rollout is")
}
