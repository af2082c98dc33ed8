package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
)

// kinds are the things that have names, with the command that lists them. They are in order: each one comes after the
// one that contains it.
var kinds = []struct{ word, path, lists string }{
	{"channel", "/api/ota/release-channels/{0}/{1}", "status"},
	{"rollout", "/api/ota/rollouts/{0}", "rollouts list"},
	{"box", "/api/edges/{0}", "boxes CHANNEL"},
	{"enrolment", "/api/edge-enrolments/{0}", "enrol list"},
	{"factory", "/api/factories/{0}", "factories list"},
	{"machine", "/api/factories/{0}/machines/{1}", "machines list FACTORY"},
	{"product", "/api/factories/{0}/products/{1}", "products list FACTORY"},
	{"method", "/api/factories/{0}/production-methods/{1}", "methods list FACTORY"},
	{"version", "/api/factories/{0}/production-methods/{1}/versions/{2}", "methods versions FACTORY METHOD"},
}

// missing returns the text of an error for a person. If something does not exist, it names that thing and similar
// names.
func missing(ctx context.Context, r *run.Run, err error) string {
	refused, ok := errors.AsType[*api.RefusedError](err)
	var document struct{ Instance string }
	if !ok || !run.Missing(err) || json.Unmarshal(refused.Document, &document) != nil {
		return err.Error()
	}
	instance, _, _ := strings.Cut(document.Instance[max(strings.Index(document.Instance, "/api/"), 0):], "?")
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	c := r.Call(nil)
	c.Client.Patience = 0
	for _, k := range kinds {
		values, rest, ok := run.Match(k.path, instance)
		if !ok {
			continue
		}
		if _, err := c.Get(ctx, strings.TrimSuffix(instance, "/"+rest)); !run.Missing(err) {
			continue // it exists, or that is unknown
		}
		var names []string
		for i := range len(values) {
			name, _ := url.PathUnescape(values[strconv.Itoa(i)]) // it is from the path of a call
			names = append(names, name)
		}
		if k.word == "channel" { // it has one name of two parts
			names = []string{strings.Join(names, "/")}
		}
		more := c.Near(ctx, strings.ToUpper(k.word), names)
		if more == "" {
			more = ", or you are not allowed to see it; see wavegate " + k.lists
		}
		return "there is no " + k.word + " " + names[len(names)-1] + more + " (" + refused.Code + ")"
	}
	return err.Error()
}
