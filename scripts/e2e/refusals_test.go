package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A refusal is a bad request and the required answer.
type refusal struct {
	name, method, path, body string
	header                   []string
	code                     problem.Code
	faults                   []string // "place code", in any order; none: not checked
}

const (
	channel  = "/api/ota/release-channels/gateway-x/stable"
	rollouts = "/api/ota/rollouts"
	noSuch   = rollouts + "/0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"
	munich   = "/api/factories/munich-1"
	methods  = munich + "/production-methods"
)

// invalid is a request with faults.
func invalid(name, method, path, body string, faults ...string) refusal {
	return refusal{name: name, method: method, path: path, body: body, code: problem.ValidationFailed, faults: faults}
}

// refusals are requests whose answer depends on what is stored, and of each kind of fault one; see bad-input.jsonl for
// the others.
func refusals(rollout string) []refusal {
	const channels = "/api/ota/release-channels/gateway-x/"
	good, other := release("1.2.0", digest("d")), release("1.0.0", digest("e"))
	list := []refusal{
		invalid("publish: all fields missing", "PUT", channel, `{}`,
			"body:/currentVersion required"),
		invalid("publish: what describes bytes, and no digest", "PUT", channel, `{"currentVersion":"1.2.0","sizeBytes":5}`,
			"body:/sha256 required"),
		{"publish: every kind of fault at once", "PUT", "/api/ota/release-channels/gate%2Fway/..?force=1",
			`{"currentVersion":"a b","ArtifactUrl":"x","sha256":null,"sha256":"y","more":[1]}`, []string{"If-Match", "3"},
			problem.ValidationFailed, []string{"edgeType format", "channel format", "If-Match format", "force unknown",
				"body:/currentVersion format", "body:/ArtifactUrl unknown", "body:/sha256 type",
				"body:/sha256 duplicate", "body:/more unknown"}},
		invalid("publish: host that begins with a dot", "PUT", channel, strings.Replace(good, "artifacts", ".artifacts", 1),
			"body:/artifactUrl format"),
		{"publish: other bytes", "PUT", channel, other, nil, problem.ReleaseImmutable, nil},
		{"publish: other bytes on a new channel", "PUT", channels + "beta", other, nil, problem.ReleaseImmutable, nil},
		{"publish: stale If-Match", "PUT", channel, good, []string{"If-Match", `"7"`}, problem.PreconditionFailed, nil},
		{"publish: weak If-Match", "PUT", channel, good, []string{"If-Match", `W/"1"`}, problem.PreconditionFailed, nil},
		{"publish: If-None-Match on what is there", "PUT", channel, good, []string{"If-None-Match", "*"},
			problem.PreconditionFailed, nil},
		{"publish: If-Match on what is not there", "PUT", channels + "beta", good, []string{"If-Match", "*"},
			problem.PreconditionFailed, nil},
		invalid("publish: channel with a slash", "PUT", channels+"a%2Fb", good, "channel format"),
		{"publish: form", "PUT", channel, "name=a", []string{"Content-Type", "application/x-www-form-urlencoded"},
			problem.UnsupportedMediaType, nil},
		{"publish: invalid UTF-8", "PUT", channel, "{\"name\":\"\xff\"}", nil, problem.InvalidJSON, nil},

		{"start: no such channel", "POST", rollouts, plan("gateway-x", "nowhere", "1.1.0"), nil, problem.NotFound, nil},
		{"start: never published", "POST", rollouts, plan("gateway-x", "canary", "9.9.9"), nil, problem.ReleaseNotPublished, nil},
		{"start: one is active", "POST", rollouts, plan("gateway-x", "stable", "1.1.0"), nil, problem.RolloutActive, nil},
		{"start: key of 256 characters", "POST", rollouts, plan("gateway-x", "canary", "1.0.0"),
			[]string{"Idempotency-Key", strings.Repeat("k", 256)}, problem.ValidationFailed, []string{"Idempotency-Key format"}},

		invalid("move: nothing asked", "PATCH", rollout, `{}`, "body: required"),
		{"move: skips a stage", "PATCH", rollout, `{"staged_percent":50}`, nil, problem.InvalidStateTransition, nil},
		{"move: skips and completes", "PATCH", rollout, `{"staged_percent":100,"status":"completed"}`, nil,
			problem.InvalidStateTransition, nil},
		{"move: stale If-Match", "PATCH", rollout, `{"staged_percent":10}`, []string{"If-Match", `"9"`},
			problem.PreconditionFailed, nil},
		invalid("move: halt beside no stage", "PATCH", rollout, `{"status":"halted","staged_percent":11}`,
			"body:/staged_percent range"),
		invalid("move: camel case", "PATCH", rollout, `{"stagedPercent":10}`, "body: required", "body:/stagedPercent unknown"),
		{"move: no such rollout", "PATCH", noSuch, `{"staged_percent":10}`, nil, problem.NotFound, nil},

		{"factory: another organization", "PUT", munich, `{"organizationId":"rival","name":"Mine"}`, nil, problem.Conflict, nil},
		invalid("factory: name that reads from right to left", "PUT", munich,
			"{\"organizationId\":\"acme\",\"name\":\"Plant \u202etset\"}", "body:/name format"),
		{"factory: stale If-Match", "PUT", munich, `{"organizationId":"acme","name":"New"}`, []string{"If-Match", `"2"`},
			problem.PreconditionFailed, nil},
		{"method: no such factory", "POST", "/api/factories/nowhere/production-methods", method, nil, problem.NotFound, nil},

		{"read: no such channel", "GET", channels + "nowhere", "", nil, problem.NotFound, nil},
		{"read: no such rollout", "GET", noSuch, "", nil, problem.NotFound, nil},
		{"read: no such factory", "GET", "/api/factories/nowhere", "", nil, problem.NotFound, nil},
		{"read: no such method", "GET", methods + "/0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a", "", nil, problem.NotFound, nil},
		{"no such route", "GET", "/api/nowhere", "", nil, problem.NotFound, nil},
		{"no such method on a route", "DELETE", channel, "", nil, problem.MethodNotAllowed, nil},
	}
	for _, n := range []string{"10.5", `"10"`, "-1", "0", "11", "101", "1e400", "null", "true", "{}", "1000000000000000000000"} {
		list = append(list, invalid("move: staged_percent "+n, "PATCH", rollout, `{"staged_percent":`+n+`}`))
	}
	return list
}

// TestRefusals_SayEverythingAndWriteNothing sends every bad request and compares the stored data before and after.
func TestRefusals_SayEverythingAndWriteNothing(t *testing.T) {
	w := harness.New(t)
	owner, engineer := w.Owner(t), w.Engineer(t, "acme")
	path := start(t, owner, "gateway-x")
	factory(t, w, "munich-1", "acme")
	engineer.Post(t, methods, method).Is(t, http.StatusCreated)
	before := w.State(t)
	for _, r := range refusals(path) {
		t.Run(r.name, func(t *testing.T) {
			caller := owner
			if strings.Contains(r.path, "/production-methods") {
				caller = engineer
			}
			p := caller.Do(t, r.method, r.path, r.body, r.header...).Refused(t, r.code)
			if len(r.faults) > 0 {
				var got []string
				for _, f := range p.Errors {
					place := f.Parameter
					if place == "" {
						place = "body:" + f.Pointer
					}
					got = append(got, place+" "+f.Code)
				}
				slices.Sort(got)
				slices.Sort(r.faults)
				expect.Equal(t, got, r.faults, "faults")
			}
			expect.Equal(t, w.State(t), before, "the stored data is")
		})
	}
}

// TestAccepted_OddButRight sends requests that look wrong but are right.
func TestAccepted_OddButRight(t *testing.T) {
	_, owner := begin(t)
	upper := fmt.Sprintf(`{"currentVersion":"1.0.0","artifactUrl":"https://artifacts.example/1.0.0.tar.gz","sha256":%q}`,
		strings.ToUpper(digest("a")))
	const strange = "Application/JSON; charset=UTF-8"
	owner.Put(t, channel, upper, "Content-Type", strange).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway%2Dx/stable", upper, "If-Match", `"1"`).Is(t, http.StatusNoContent)
	if got := owner.Get(t, channel).Object(t); got["sha256"] != digest("a") || got["revision"] != 2.0 { // each publication is a change
		t.Errorf("the channel is %v", got)
	}
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	path := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0"), "Content-Type", strange).Made(t)
	owner.Patch(t, path, `{"staged_percent":10.0}`).Is(t, http.StatusNoContent)
	owner.Patch(t, path, "\n{\"staged_percent\" : 1e1 }\n").Is(t, http.StatusNoContent)
	owner.Patch(t, rollouts+"/"+strings.ToUpper(id(path)), `{"staged_percent":50}`, "If-Match", `"1", "2"`).Is(t, http.StatusNoContent)
	owner.Patch(t, path, `{"status":"halted","staged_percent":1}`).Is(t, http.StatusNoContent)
	owner.Get(t, path).Has(t, `{"staged_percent":50,"status":"halted","revision":4}`)
	tag := owner.Get(t, channel).Header.Get("ETag")
	owner.Put(t, channel, upper, "If-Match", tag).Is(t, http.StatusNoContent)
	owner.Get(t, channel).Has(t, `{"revision":3}`)
}

// TestRefusals_ManyFaults_AreBounded sends bodies of 15 KB with a fault in every field.
func TestRefusals_ManyFaults_AreBounded(t *testing.T) {
	_, owner := begin(t)
	for name, field := range map[string]string{"short names": "f%04d", "long names": "f%04d" + strings.Repeat("ä", 400),
		"names to escape": "f%04d" + strings.Repeat("\\u0001", 60)} {
		t.Run(name, func(t *testing.T) {
			fields, size := []string{}, 0
			for n := 0; size < 15_000; n++ {
				f := fmt.Sprintf(`"`+field+`":1`, n)
				fields, size = append(fields, f), size+len(f)+1
			}
			a := owner.Put(t, channel, "{"+strings.Join(fields, ",")+"}")
			p := a.Refused(t, problem.ValidationFailed)
			if len(a.Body) > problem.MaxDocument || len(p.Errors) > problem.MaxFaults || len(p.Errors) == 0 {
				t.Errorf("%d fields were answered by %d faults in %d bytes", len(fields), len(p.Errors), len(a.Body))
			}
			all := len(fields) + 1 // that is missing
			if left := all - len(p.Errors); strings.Contains(p.Detail, fmt.Sprintf("%d more faults are not listed", left)) != (left > 0) {
				t.Errorf("of %d faults %d are listed, and the detail says %q", all, len(p.Errors), p.Detail)
			}
		})
	}
}
