package calls

import (
	"fmt"
	"net/http"
	"strings"

	"wavegate/shared/access/auth"
)

// A Row is a call of an operation in one of the ways that cost differently.
type Row struct {
	Operation string
	Case      string // empty: there is but one
	Status    int    // what the call is answered with
	// Prepare makes what the call acts on and returns the call. Each time it is a new one.
	Prepare func(*World) (Request, error)
}

// Name is the operation and the case.
func (r Row) Name() string {
	if r.Case == "" {
		return r.Operation
	}
	return r.Operation + ": " + r.Case
}

// page is what every list of the rows is asked for; each has at least so many items and one more.
const page = "limit=10"

const pageItems = 11

// Rows are the calls, in the order of the table of operations.
var Rows = []Row{
	{"publish-release", "new channel", 201, func(w *World) (Request, error) {
		return publish(w.Name("gateway"), "stable", "1.0.0"), nil
	}},
	{"publish-release", "next version", 204, func(w *World) (Request, error) {
		edgeType, err := w.channel()
		return publish(edgeType, "stable", "1.1.0"), err
	}},
	{"publish-release", "nothing new", 204, func(w *World) (Request, error) {
		edgeType, err := w.channel()
		return publish(edgeType, "stable", "1.0.0"), err
	}},
	{"get-release-channel", "", 200, func(w *World) (Request, error) {
		edgeType, err := w.channel()
		return get(Owner, channelPath(edgeType, "stable")), err
	}},
	{"start-rollout", "", 201, func(w *World) (Request, error) { return w.plan() }},
	{"start-rollout", "Idempotency-Key", 201, func(w *World) (Request, error) {
		r, err := w.plan()
		r.Header = [2]string{"Idempotency-Key", w.Name("start")}
		return r, err
	}},
	{"update-rollout", "promote", 204, func(w *World) (Request, error) { return w.move(`{"staged_percent":10}`) }},
	{"update-rollout", "halt", 204, func(w *World) (Request, error) { return w.move(`{"status":"halted"}`) }},
	{"update-rollout", "complete at 100", 204, func(w *World) (Request, error) {
		r, err := w.move(`{"status":"completed"}`)
		for _, stage := range []string{"10", "50", "100"} {
			raise := r
			raise.Body = `{"staged_percent":` + stage + `}`
			if err == nil {
				_, err = w.Must(raise)
			}
		}
		return r, err
	}},
	{"get-rollout", "", 200, func(w *World) (Request, error) {
		r, err := w.move("")
		r.Method = http.MethodGet
		return r, err
	}},
	{"put-factory", "new", 201, func(w *World) (Request, error) { return register(w.Name("munich"), "acme"), nil }},
	{"get-factory", "", 200, func(w *World) (Request, error) { return w.inFactory(Engineer, "") }},
	{"create-production-method", "", 201, func(w *World) (Request, error) { return w.method() }},
	{"create-production-method", "Idempotency-Key", 201, func(w *World) (Request, error) {
		r, err := w.method()
		r.Header = [2]string{"Idempotency-Key", w.Name("create")}
		return r, err
	}},
	{"get-production-method", "", 200, func(w *World) (Request, error) {
		r, err := w.method()
		if err != nil {
			return r, err
		}
		made, err := w.Must(r)
		return get(Engineer, made.Header.Get("Location")), err
	}},
	{"list-release-channels", "10 of a page", 200, func(w *World) (Request, error) {
		edgeType := w.Name("gateway")
		return get(Owner, "/api/ota/release-channels?"+page+"&edgeType="+edgeType), w.times(func(n int) Request {
			return publish(edgeType, fmt.Sprintf("channel-%02d", n), "1.0.0")
		})
	}},
	{"list-rollouts", "10 of a page", 200, func(w *World) (Request, error) {
		var err error
		for range pageItems {
			if err == nil {
				_, err = w.move("")
			}
		}
		return get(Owner, "/api/ota/rollouts?"+page), err
	}},
	{"list-factories", "10 of a page", 200, func(w *World) (Request, error) {
		organization := w.Name("acme")
		return get(Caller{"anna", organization, auth.OrganizationAdmin}, "/api/factories?"+page), w.times(func(int) Request {
			return register(w.Name("munich"), organization)
		})
	}},
	{"list-production-methods", "10 of a page", 200, func(w *World) (Request, error) {
		r, err := w.method()
		if err != nil {
			return r, err
		}
		return get(Engineer, r.Path+"?"+page), w.times(func(int) Request { return r })
	}},
	{"list-machines", "10 of a page", 200, func(w *World) (Request, error) {
		r, err := w.machines()
		return get(Engineer, r.Path+"?"+page), err
	}},
	{"list-machines", "10 of a page, offset 10", 200, func(w *World) (Request, error) {
		r, err := w.machines()
		return get(Engineer, r.Path+"?offset=10&"+page), err
	}},
	{"put-machine", "new", 201, func(w *World) (Request, error) { return w.machine() }},
	{"get-machine", "", 200, func(w *World) (Request, error) {
		r, err := w.machine()
		if err == nil {
			_, err = w.Must(r)
		}
		return get(Engineer, r.Path), err
	}},
	{"list-factory-audit-events", "10 of a page", 200, func(w *World) (Request, error) {
		r, err := w.machines()
		return get(Admin, strings.Replace(r.Path, "/machines", "/audit-events", 1)+"?"+page), err
	}},
	{"list-audit-events", "10 of a page", 200, func(w *World) (Request, error) {
		return get(Owner, "/api/audit-events?"+page), w.times(func(int) Request { return register(w.Name("munich"), "acme") })
	}},
	{"put-rate-limit", "new", 201, func(w *World) (Request, error) { return arrange(w.Name("user")), nil }},
	{"get-rate-limit", "", 200, func(w *World) (Request, error) {
		r := arrange(w.Name("user"))
		_, err := w.Must(r)
		return get(Owner, r.Path), err
	}},
	{"delete-rate-limit", "", 204, func(w *World) (Request, error) {
		r := arrange(w.Name("user"))
		_, err := w.Must(r)
		return Request{Caller: Owner, Method: http.MethodDelete, Path: r.Path}, err
	}},
	{"get-my-rate-limits", "", 200, func(*World) (Request, error) { return get(Engineer, "/api/rate-limits/me"), nil }},
	{"put-edge", "new", 201, func(w *World) (Request, error) { return assign(w.Name("edge"), "gateway-x", "stable"), nil }},
	{"put-edge", "moved", 204, func(w *World) (Request, error) {
		r := assign(w.Name("edge"), "gateway-x", "stable")
		_, err := w.Must(r)
		return assign(strings.TrimPrefix(r.Path, "/api/edges/"), "gateway-x", "canary"), err
	}},
	{"get-edge", "", 200, func(w *World) (Request, error) {
		r := assign(w.Name("edge"), "gateway-x", "stable")
		_, err := w.Must(r)
		return get(Owner, r.Path), err
	}},
	{"list-edges", "10 of a page", 200, func(w *World) (Request, error) {
		edgeType := w.Name("gateway")
		return get(Owner, "/api/edges?edgeType="+edgeType+"&channel=stable&"+page), w.times(func(int) Request {
			return assign(w.Name("edge"), edgeType, "stable")
		})
	}},
	{"get-manifest", "the container reads the channel", 200, func(w *World) (Request, error) { return w.poll() }},
	{"get-manifest", "the container knows the channel", 200, func(w *World) (Request, error) {
		r, err := w.poll()
		if err == nil {
			_, err = w.Must(r)
		}
		return r, err
	}},
	{"get-manifest", "nothing new, 304", 304, func(w *World) (Request, error) {
		r, err := w.poll()
		if err != nil {
			return r, err
		}
		a, err := w.Must(r)
		r.Header = [2]string{"If-None-Match", a.Header.Get("ETag")}
		return r, err
	}},
	{"copilot", "", 200, func(*World) (Request, error) { return get(Engineer, "/api/copilot/threads"), nil }},
}

func get(c Caller, path string) Request {
	return Request{Caller: c, Method: http.MethodGet, Path: path}
}

func put(c Caller, path, body string) Request {
	return Request{Caller: c, Method: http.MethodPut, Path: path, Body: body}
}

func channelPath(edgeType, channel string) string {
	return "/api/ota/release-channels/" + edgeType + "/" + channel
}

func publish(edgeType, channel, version string) Request {
	return put(Owner, channelPath(edgeType, channel), fmt.Sprintf(
		`{"currentVersion":%q,"artifactUrl":"https://artifacts.example.com/%s/%s.tar.gz","sha256":%q}`,
		version, edgeType, version, strings.Repeat("a", 63)+version[2:3]))
}

func register(factory, organization string) Request {
	return put(Owner, "/api/factories/"+factory, fmt.Sprintf(`{"organizationId":%q,"name":"Munich, hall 1"}`, organization))
}

func arrange(user string) Request {
	return put(Owner, "/api/rate-limits/users/"+user, `{"limit":1200}`)
}

func assign(box, edgeType, channel string) Request {
	return put(Owner, "/api/edges/"+box, fmt.Sprintf(`{"edgeType":%q,"channel":%q,"organizationId":"acme"}`, edgeType, channel))
}

// channel makes a channel at 1.0.0 and returns its edge type.
func (w *World) channel() (edgeType string, err error) {
	edgeType = w.Name("gateway")
	_, err = w.Must(publish(edgeType, "stable", "1.0.0"))
	return edgeType, err
}

// plan makes a channel and the start of a rollout on it.
func (w *World) plan() (Request, error) {
	edgeType, err := w.channel()
	if err == nil {
		_, err = w.Must(publish(edgeType, "canary", "1.1.0"))
	}
	return Request{Caller: Owner, Method: http.MethodPost, Path: "/api/ota/rollouts",
		Body: fmt.Sprintf(`{"edgeType":%q,"channel":"stable","targetVersion":"1.1.0"}`, edgeType)}, err
}

// move makes a rollout and a change of it.
func (w *World) move(body string) (Request, error) {
	r, err := w.plan()
	if err != nil {
		return r, err
	}
	a, err := w.Must(r)
	return Request{Caller: Owner, Method: http.MethodPatch, Path: a.Header.Get("Location"), Body: body}, err
}

// inFactory makes a factory and a GET of it, or of something below it.
func (w *World) inFactory(c Caller, below string) (Request, error) {
	r := register(w.Name("munich"), "acme")
	_, err := w.Must(r)
	return get(c, r.Path+below), err
}

func (w *World) method() (Request, error) {
	r, err := w.inFactory(Engineer, "/production-methods")
	r.Method, r.Body = http.MethodPost, `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Milling"}`
	return r, err
}

func (w *World) machine() (Request, error) {
	r, err := w.inFactory(Engineer, "/machines/"+w.Name("press"))
	r.Method, r.Body = http.MethodPut, `{"name":"Press 1"}`
	return r, err
}

// machines makes a factory with a page of machines and one more.
func (w *World) machines() (Request, error) {
	r, err := w.inFactory(Engineer, "/machines")
	if err != nil {
		return r, err
	}
	return r, w.times(func(int) Request { return put(Engineer, r.Path+"/"+w.Name("press"), `{"name":"Press 1"}`) })
}

// poll makes a box on a channel of its own and its poll.
func (w *World) poll() (Request, error) {
	edgeType, err := w.channel()
	if err != nil {
		return Request{}, err
	}
	box := w.Name("edge")
	_, err = w.Must(assign(box, edgeType, "stable"))
	return get(Box(box), "/api/edges/"+box+"/update/manifest?installed=1.0.0"), err
}

// times makes as many calls as fill a page and one more.
func (w *World) times(call func(n int) Request) error {
	for n := range pageItems {
		if _, err := w.Must(call(n)); err != nil {
			return err
		}
	}
	return nil
}
