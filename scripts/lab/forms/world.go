package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/timestamp"
)

// A world is the local service with the functions of some version of the code, and everyone who calls it.
type world struct {
	*service.Service
	// values are what calls name in angle brackets: times, and what earlier answers said.
	values map[string]string
	// after is called after each call that was answered as expected; it may be nil.
	after func(what string) error
	err   error // the first one; nothing is called after it
}

// open starts a world. Boxes may poll at any time, each poll reads its channel, and policies may have seconds.
func open(ctx context.Context, functions string) (*world, error) {
	keys, err := os.MkdirTemp("", "wavegate-forms")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(keys)
	issuers, err := devissuer.Load(keys)
	if err != nil {
		return nil, err
	}
	s, err := service.Start(ctx, service.Options{
		Functions: functions, Issuers: issuers, Bell: "127.0.0.1:0",
		Environment: func(function string) []string {
			env := []string{setting.ChannelCacheSeconds.Assign(0), setting.GuardIntervalSeconds.Assign(1),
				"LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000",
				setting.EdgesPerOrganization.Assign(2000)} // so that the boxes are counted
			if function == "get-machine-methods" { // its answer must not depend on the age of methods
				env = append(env, setting.IdlePollIntervalSeconds.Assign(setting.Ranges[setting.PollIntervalSeconds].Default))
			}
			return env
		},
	})
	if err != nil {
		return nil, err
	}
	later := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	return &world{Service: s, values: map[string]string{
		"soon": later(time.Hour), "tomorrow": later(24 * time.Hour), "in a week": later(7 * 24 * time.Hour),
	}}, nil
}

// people are the callers with names, as organization and role.
var people = map[string]devissuer.Claims{
	"olga": {Organization: "wavegate", Roles: []string{"platform_owner"}},
	"otto": {Organization: "wavegate", Roles: []string{"platform_owner"}},
	"vera": {Organization: "wavegate", Roles: []string{"platform_viewer"}},
	"anna": {Organization: "acme", Roles: []string{"organization_admin"}, More: map[string]any{"name": "Anna Admin", "auth_time": time.Now().Add(-time.Minute).Unix()}},
	"alma": {Organization: "acme", Roles: []string{"organization_admin"}},
	"ines": {Organization: "acme", Roles: []string{"fleet_installer"}},
	"eric": {Organization: "acme", Roles: []string{"production_engineer"}},
	"emma": {Organization: "acme", Roles: []string{"production_engineer"}, More: map[string]any{"name": "Emma Engineer"}},
}

// bearer is the Authorization header of a caller: a person, a box by its issuer ("box:ID"), or with a token or code
// ("token:VALUE").
func (w *world) bearer(by string) (string, error) {
	if name, ok := strings.CutPrefix(by, "token:"); ok {
		scheme := "Bearer "
		if strings.HasPrefix(w.values[name], string(boxtoken.Gateway)) {
			scheme = "GatewayToken "
		}
		return scheme + w.values[name], nil
	}
	c, known := people[by]
	c.User = by
	if id, ok := strings.CutPrefix(by, "box:"); ok {
		c, known = devissuer.Claims{User: id, Roles: []string{"edge"}}, true
	}
	if !known {
		return "", fmt.Errorf("nobody is called %s", by)
	}
	text, err := w.Token(c)
	return "Bearer " + text, err
}

// fill replaces names in angle brackets by values.
func (w *world) fill(text string) string {
	for name, value := range w.values {
		text = strings.ReplaceAll(text, "<"+name+">", value)
	}
	return text
}

// ask makes a call: a method and a path, such as "GET /api/edges". The header has alternating names and values.
func (w *world) ask(by, call, body string, header ...string) (harness.Answer, error) {
	method, path, _ := strings.Cut(w.fill(call), " ")
	bearer, err := w.bearer(by)
	if err != nil {
		return harness.Answer{}, err
	}
	return (&harness.Caller{URL: w.URL, Bearer: bearer}).Patiently(method, path, w.fill(body), header...)
}

// do makes a call that must be answered with a status.
func (w *world) do(want int, by, call, body string, header ...string) (a harness.Answer) {
	if w.err != nil {
		return harness.Answer{Header: http.Header{}}
	}
	a, err := w.ask(by, call, body, header...)
	if err == nil && a.Status != want {
		err = fmt.Errorf("answered %d, want %d: %s", a.Status, want, a.Body)
	}
	w.done(by+": "+call, err)
	return a
}

// done ends a step.
func (w *world) done(what string, err error) {
	if err == nil && w.after != nil {
		err = w.after(what)
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s: %w", what, err)
	}
}

// tick counts the rollouts, and has the guard judge them.
func (w *world) tick() {
	if w.err == nil {
		w.done(operations.Tick, w.RunTask(context.Background(), operations.Tick))
	}
}

// pass waits until a time that the policies name has passed.
func (w *world) pass() {
	if w.err == nil {
		time.Sleep(1100 * time.Millisecond)
	}
}

// edit changes an attribute of an item directly, as if time had passed.
func (w *world) edit(p place, name string, change func(any) (any, error)) {
	if w.err != nil {
		return
	}
	item, err := p.get(context.Background(), w.DB)
	if err == nil {
		var value any
		if value, err = change(item[name]); err == nil {
			err = p.set(context.Background(), w.DB, name, value)
		}
	}
	w.done(fmt.Sprintf("%v: %s", p, name), err)
}

// earlier makes a time earlier.
func earlier(by time.Duration) func(any) (any, error) {
	return func(v any) (any, error) {
		t, err := time.Parse(time.RFC3339Nano, fmt.Sprint(v))
		return timestamp.Text(t.Add(-by)), err
	}
}

// token makes a token from a name, the same one each time, and keeps it and its hash as values.
func (w *world) token(kind boxtoken.Prefix, subject, name string) {
	secret := sha256.Sum256([]byte(name))
	text := strings.Join([]string{string(kind), subject, base64.RawURLEncoding.EncodeToString(secret[:])}, ":")
	sum := sha256.Sum256([]byte(text))
	w.values[name], w.values[name+" sha256"] = text, hex.EncodeToString(sum[:])
}

// digest is the hash of a name.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}
