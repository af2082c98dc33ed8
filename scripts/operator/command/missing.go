package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
)

// said returns the text of an error for a person. If something does not exist, it names that thing and similar names.
func (a *app) said(ctx context.Context, err error) string {
	r, ok := errors.AsType[*api.RefusedError](err)
	if !ok || r.Status != http.StatusNotFound {
		return err.Error()
	}
	var document struct{ Instance string }
	if json.Unmarshal(r.Document, &document) != nil {
		return err.Error()
	}
	c, failed := a.client()
	if failed != nil {
		return err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	c.Patience = 0
	for _, k := range kinds {
		path, names, ok := k.in(document.Instance)
		if !ok {
			continue
		}
		if _, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: path}); !isMissing(err) {
			continue // it exists, or that is unknown
		}
		name := names[len(names)-1]
		more := didYouMean(name, k.near(ctx, a, c, names))
		if more == "" {
			more = ", or you are not allowed to see it; see wavegate " + k.lists
		}
		return "there is no " + k.word + " " + name + more + " (" + r.Code + ")"
	}
	return err.Error()
}

// A kind of things that have names.
type kind struct {
	word, path string // the path of one, with * for each name
	lists      string // the command that lists them
	near       func(ctx context.Context, a *app, c *api.Client, names []string) []string
}

// kinds are in order: each one comes after the one that contains it.
var kinds = []kind{
	{"channel", "/api/ota/release-channels/*/*", "status", func(ctx context.Context, a *app, c *api.Client, _ []string) []string {
		return a.channelNames(ctx, c)
	}},
	{"rollout", "/api/ota/rollouts/*", "rollouts list", nobody},
	{"box", "/api/edges/*", "boxes CHANNEL", func(ctx context.Context, a *app, c *api.Client, names []string) []string {
		found := a.boxNames(ctx, c, names[0][:(len(names[0])+1)/2])
		if len(near(names[0], found)) == 0 {
			found = a.boxNames(ctx, c, names[0][:1])
		}
		return found
	}},
	{"enrolment", "/api/edge-enrolments/*", "enrol list", nobody},
	{"factory", "/api/factories/*", "factories list", func(ctx context.Context, a *app, c *api.Client, _ []string) []string {
		return a.factoryNames(ctx, c)
	}},
	{"machine", "/api/factories/*/machines/*", "machines list FACTORY", func(ctx context.Context, _ *app, c *api.Client, names []string) []string {
		return namesIn(ctx, c, factoryPath(names[0])+"/machines", nil, "code")
	}},
	{"method", "/api/factories/*/production-methods/*", "methods list FACTORY", func(ctx context.Context, _ *app, c *api.Client, names []string) []string {
		return namesIn(ctx, c, factoryPath(names[0])+"/production-methods", nil, "methodId")
	}},
	{"version", "/api/factories/*/production-methods/*/versions/*", "methods versions FACTORY METHOD", nobody},
}

func nobody(context.Context, *app, *api.Client, []string) []string { return nil }

// in takes the names out of the path of a call to such a thing, or to something in it. A channel has one name of two
// parts.
func (k kind) in(instance string) (path string, names []string, ok bool) {
	instance = instance[max(strings.Index(instance, "/api/"), 0):]
	instance, _, _ = strings.Cut(instance, "?")
	parts, pattern := strings.Split(instance, "/"), strings.Split(k.path, "/")
	if len(parts) < len(pattern) {
		return "", nil, false
	}
	for i, p := range pattern {
		switch {
		case p == "*":
			name, err := url.PathUnescape(parts[i])
			if err != nil {
				return "", nil, false
			}
			names = append(names, name)
		case p != parts[i]:
			return "", nil, false
		}
	}
	if k.word == "channel" {
		names = []string{strings.Join(names, "/")}
	}
	return strings.Join(parts[:len(pattern)], "/"), names, true
}

// namesIn returns the names on the first page of a list; none if it cannot be read.
func namesIn(ctx context.Context, c *api.Client, path string, query url.Values, field string) (names []string) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", "100")
	page, _, err := api.Get[struct{ Items []map[string]any }](ctx, c, path, query)
	if err != nil {
		return nil
	}
	for _, item := range page.Items {
		if name, ok := item[field].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
