package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
)

// A refusal is a bad request and the required answer.
type refusal struct {
	name, method, path, body string
	header                   []string
	code                     problem.Code
	faults                   []string // "place code", in any order; nil: not checked
}

const (
	channel  = "/api/ota/release-channels/gateway-x/stable"
	rollouts = "/api/ota/rollouts"
	noSuch   = rollouts + "/0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"
	munich   = "/api/factories/munich-1"
	methods  = munich + "/production-methods"
)

// bodies are refused by every operation with a body, no matter which fields it has.
func bodies(method, path string) []refusal {
	deep := strings.Repeat(`{"a":`, 17) + "1" + strings.Repeat("}", 17)
	list := []refusal{
		{name: "empty", body: "", header: []string{"Content-Type", "application/json"}, code: problem.InvalidJSON},
		{name: "null", body: "null", code: problem.ValidationFailed, faults: []string{"body: type"}},
		{name: "array", body: `[]`, code: problem.ValidationFailed, faults: []string{"body: type"}},
		{name: "string", body: `"x"`, code: problem.ValidationFailed, faults: []string{"body: type"}},
		{name: "cut short", body: `{"name":`, code: problem.InvalidJSON},
		{name: "trailing bytes", body: `{} x`, code: problem.InvalidJSON},
		{name: "invalid UTF-8", body: "{\"name\":\"\xff\"}", code: problem.InvalidJSON},
		{name: "deep nesting", body: deep, code: problem.InvalidJSON},
		{name: "17 KiB", body: `{"name":"` + strings.Repeat("a", 17<<10) + `"}`, code: problem.BodyTooLarge},
		{name: "white space", body: "  ", code: problem.InvalidJSON},
		{name: "form", body: "name=a", header: []string{"Content-Type", "application/x-www-form-urlencoded"}, code: problem.UnsupportedMediaType},
		{name: "no content type", body: "{}", header: []string{"Content-Type", ""}, code: problem.UnsupportedMediaType},
		{name: "charset latin1", body: "{}", header: []string{"Content-Type", "application/json; charset=latin1"}, code: problem.UnsupportedMediaType},
	}
	for i := range list {
		list[i].method, list[i].path = method, path
	}
	return list
}

func refusals(rollout string) []refusal {
	good := release("1.2.0", digest("d"))
	field := func(name, value string) string {
		fields := map[string]string{"currentVersion": `"1.2.0"`, "artifactUrl": `"https://a.example/x"`, "sha256": `"` + digest("d") + `"`}
		fields[name] = value
		return fmt.Sprintf(`{"currentVersion":%s,"artifactUrl":%s,"sha256":%s}`, fields["currentVersion"], fields["artifactUrl"], fields["sha256"])
	}
	list := []refusal{
		{"publish: all fields missing", "PUT", channel, `{}`, nil, problem.ValidationFailed,
			[]string{"body:/currentVersion required", "body:/artifactUrl required", "body:/sha256 required"}},
		{"publish: every kind of fault at once", "PUT", "/api/ota/release-channels/gate%2Fway/..?force=1",
			`{"currentVersion":"a b","ArtifactUrl":"x","sha256":null,"sha256":"y","more":[1]}`, []string{"If-Match", "3"}, problem.ValidationFailed,
			[]string{"edgeType format", "channel format", "If-Match format", "force unknown", "body:/currentVersion format",
				"body:/artifactUrl required", "body:/ArtifactUrl unknown", "body:/sha256 type", "body:/sha256 duplicate", "body:/more unknown"}},
		{"publish: http", "PUT", channel, field("artifactUrl", `"http://a.example/x"`), nil, problem.ValidationFailed, []string{"body:/artifactUrl format"}},
		{"publish: relative", "PUT", channel, field("artifactUrl", `"/x"`), nil, problem.ValidationFailed, []string{"body:/artifactUrl format"}},
		{"publish: credentials", "PUT", channel, field("artifactUrl", `"https://u:p@a.example/x"`), nil, problem.ValidationFailed, []string{"body:/artifactUrl format"}},
		{"publish: 3,000 characters", "PUT", channel, field("artifactUrl", `"https://a.example/`+strings.Repeat("x", 2982)+`"`), nil, problem.ValidationFailed, []string{"body:/artifactUrl length"}},
		{"publish: host that begins with a dot", "PUT", channel, field("artifactUrl", `"https://.a/"`), nil, problem.ValidationFailed, []string{"body:/artifactUrl format"}},
		{"publish: host with an empty label", "PUT", channel, field("artifactUrl", `"https://a..b/"`), nil, problem.ValidationFailed, []string{"body:/artifactUrl format"}},
		{"publish: host that begins with a hyphen", "PUT", channel, field("artifactUrl", `"https://-a.b/"`), nil, problem.ValidationFailed, []string{"body:/artifactUrl format"}},
		{"publish: 63 digits", "PUT", channel, field("sha256", `"`+strings.Repeat("a", 63)+`"`), nil, problem.ValidationFailed, []string{"body:/sha256 format"}},
		{"publish: 65 digits", "PUT", channel, field("sha256", `"`+strings.Repeat("a", 65)+`"`), nil, problem.ValidationFailed, []string{"body:/sha256 format"}},
		{"publish: no hex", "PUT", channel, field("sha256", `"`+strings.Repeat("g", 64)+`"`), nil, problem.ValidationFailed, []string{"body:/sha256 format"}},
		{"publish: other bytes", "PUT", channel, release("1.0.0", digest("e")), nil, problem.ReleaseImmutable, nil},
		{"publish: other bytes on a new channel", "PUT", "/api/ota/release-channels/gateway-x/beta", release("1.0.0", digest("e")), nil, problem.ReleaseImmutable, nil},
		{"publish: stale If-Match", "PUT", channel, good, []string{"If-Match", `"7"`}, problem.PreconditionFailed, nil},
		{"publish: weak If-Match", "PUT", channel, good, []string{"If-Match", `W/"1"`}, problem.PreconditionFailed, nil},
		{"publish: If-None-Match on what is there", "PUT", channel, good, []string{"If-None-Match", "*"}, problem.PreconditionFailed, nil},
		{"publish: If-Match on what is not there", "PUT", "/api/ota/release-channels/gateway-x/beta", good, []string{"If-Match", "*"}, problem.PreconditionFailed, nil},
		{"publish: edge type with a space", "PUT", "/api/ota/release-channels/gate%20way/stable", good, nil, problem.ValidationFailed, []string{"edgeType format"}},
		{"publish: channel of 65 characters", "PUT", "/api/ota/release-channels/gateway-x/" + strings.Repeat("c", 65), good, nil, problem.ValidationFailed, []string{"channel format"}},
		{"publish: channel with a slash", "PUT", "/api/ota/release-channels/gateway-x/a%2Fb", good, nil, problem.ValidationFailed, []string{"channel format"}},
		{"publish: channel ..", "PUT", "/api/ota/release-channels/gateway-x/..", good, nil, problem.ValidationFailed, []string{"channel format"}},

		{"start: no such channel", "POST", rollouts, plan("gateway-x", "nowhere", "1.1.0"), nil, problem.NotFound, nil},
		{"start: never published", "POST", rollouts, plan("gateway-x", "canary", "9.9.9"), nil, problem.ReleaseNotPublished, nil},
		{"start: one is active", "POST", rollouts, plan("gateway-x", "stable", "1.1.0"), nil, problem.RolloutActive, nil},
		{"start: bad fields", "POST", rollouts, plan("", "a/b", " "), nil, problem.ValidationFailed,
			[]string{"body:/edgeType format", "body:/channel format", "body:/targetVersion format"}},
		{"start: key of 256 characters", "POST", rollouts, plan("gateway-x", "canary", "1.0.0"), []string{"Idempotency-Key", strings.Repeat("k", 256)}, problem.ValidationFailed, []string{"Idempotency-Key format"}},

		{"move: nothing asked", "PATCH", rollout, `{}`, nil, problem.ValidationFailed, []string{"body: required"}},
		{"move: skips a stage", "PATCH", rollout, `{"staged_percent":50}`, nil, problem.InvalidStateTransition, nil},
		{"move: skips and completes", "PATCH", rollout, `{"staged_percent":100,"status":"completed"}`, nil, problem.InvalidStateTransition, nil},
		{"move: unknown status", "PATCH", rollout, `{"status":"paused"}`, nil, problem.ValidationFailed, []string{"body:/status format"}},
		{"move: status null", "PATCH", rollout, `{"status":null,"staged_percent":10}`, nil, problem.ValidationFailed, []string{"body:/status type"}},
		{"move: stale If-Match", "PATCH", rollout, `{"staged_percent":10}`, []string{"If-Match", `"9"`}, problem.PreconditionFailed, nil},
		{"move: halt beside no stage", "PATCH", rollout, `{"status":"halted","staged_percent":11}`, nil, problem.ValidationFailed, []string{"body:/staged_percent range"}},
		{"move: camel case", "PATCH", rollout, `{"stagedPercent":10}`, nil, problem.ValidationFailed, []string{"body: required", "body:/stagedPercent unknown"}},
		{"move: id is no UUID", "PATCH", rollouts + "/42", `{"staged_percent":10}`, nil, problem.ValidationFailed, []string{"id format"}},
		{"move: no such rollout", "PATCH", noSuch, `{"staged_percent":10}`, nil, problem.NotFound, nil},

		{"factory: another organization", "PUT", munich, `{"organizationId":"rival","name":"Mine"}`, nil, problem.Conflict, nil},
		{"factory: bad slug and fields", "PUT", "/api/factories/Munich_1", `{"organizationId":"a b","name":" "}`, nil, problem.ValidationFailed,
			[]string{"factoryId format", "body:/organizationId format", "body:/name length"}},
		{"factory: name that nobody sees", "PUT", munich, "{\"organizationId\":\"acme\",\"name\":\"\u200b\u2060\"}", nil, problem.ValidationFailed, []string{"body:/name format"}},
		{"factory: name that reads from right to left", "PUT", munich, "{\"organizationId\":\"acme\",\"name\":\"Plant \u202etset\"}", nil, problem.ValidationFailed, []string{"body:/name format"}},
		{"factory: stale If-Match", "PUT", munich, `{"organizationId":"acme","name":"New"}`, []string{"If-Match", `"2"`}, problem.PreconditionFailed, nil},

		{"method: bad fields", "POST", methods, `{"productId":"42","name":"a\u0000b"}`, nil, problem.ValidationFailed, []string{"body:/productId format", "body:/name format"}},
		{"method: name of 201 characters", "POST", methods, `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"` + strings.Repeat("ä", 201) + `"}`, nil, problem.ValidationFailed, []string{"body:/name length"}},
		{"method: no such factory", "POST", "/api/factories/nowhere/production-methods", method, nil, problem.NotFound, nil},

		{"read: unknown parameter", "GET", channel + "?verbose=1", "", nil, problem.ValidationFailed, []string{"verbose unknown"}},
		{"read: no such channel", "GET", "/api/ota/release-channels/gateway-x/nowhere", "", nil, problem.NotFound, nil},
		{"read: rollout id is no UUID", "GET", rollouts + "/42", "", nil, problem.ValidationFailed, []string{"id format"}},
		{"read: no such rollout", "GET", noSuch, "", nil, problem.NotFound, nil},
		{"read: no such factory", "GET", "/api/factories/nowhere", "", nil, problem.NotFound, nil},
		{"read: no such method", "GET", methods + "/0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a", "", nil, problem.NotFound, nil},
		{"no such route", "GET", "/api/nowhere", "", nil, problem.NotFound, nil},
		{"no such method on a route", "DELETE", channel, "", nil, problem.MethodNotAllowed, nil},
	}
	for _, n := range []string{"10.5", `"10"`, "-1", "0", "11", "101", "1e400", "null", "true", "{}", "1000000000000000000000"} {
		list = append(list, refusal{name: "move: staged_percent " + n, method: "PATCH", path: rollout, body: `{"staged_percent":` + n + `}`, code: problem.ValidationFailed})
	}
	for _, at := range [][2]string{{"PUT", channel}, {"POST", rollouts}, {"PATCH", rollout}, {"PUT", munich}, {"POST", methods}} {
		list = append(list, bodies(at[0], at[1])...)
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
	all := refusals(path)
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			caller := owner
			if strings.Contains(r.path, "/production-methods") {
				caller = engineer
			}
			p := caller.Do(t, r.method, r.path, r.body, r.header...).Refused(t, r.code)
			if r.faults != nil {
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
				if !slices.Equal(got, r.faults) {
					t.Errorf("faults %q, want %q", got, r.faults)
				}
			}
			if after := w.State(t); after != before {
				t.Errorf("something was written:\nbefore %s\nafter  %s", before, after)
			}
		})
	}
	t.Logf("%d refusals", len(all))
}

// TestAccepted_OddButRight sends requests that look wrong but are right.
func TestAccepted_OddButRight(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	upper := fmt.Sprintf(`{"currentVersion":"1.0.0","artifactUrl":"https://artifacts.example/1.0.0.tar.gz","sha256":%q}`, strings.ToUpper(digest("a")))
	const strange = "Application/JSON; charset=UTF-8"
	owner.Put(t, channel, upper, "Content-Type", strange).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway%2Dx/stable", upper, "If-Match", `"1"`).Is(t, http.StatusNoContent)
	if got := owner.Get(t, channel).Object(t); got["sha256"] != digest("a") || got["revision"] != 1.0 {
		t.Errorf("the channel is %v", got)
	}
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	path := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0"), "Content-Type", strange).Is(t, http.StatusCreated).Header.Get("Location")
	owner.Patch(t, path, `{"staged_percent":10.0}`).Is(t, http.StatusNoContent)
	owner.Patch(t, path, "\n{\"staged_percent\" : 1e1 }\n").Is(t, http.StatusNoContent)
	owner.Patch(t, rollouts+"/"+strings.ToUpper(id(path)), `{"staged_percent":50}`, "If-Match", `"1", "2"`).Is(t, http.StatusNoContent)
	owner.Patch(t, path, `{"status":"halted","staged_percent":1}`).Is(t, http.StatusNoContent)
	if got := owner.Get(t, path).Object(t); got["staged_percent"] != 50.0 || got["status"] != "halted" || got["revision"] != 4.0 {
		t.Errorf("the rollout is %v", got)
	}
	tag := owner.Get(t, channel).Header.Get("ETag")
	owner.Put(t, channel, upper, "If-Match", tag).Is(t, http.StatusNoContent)
	if got := owner.Get(t, channel).Object(t); got["revision"] != 2.0 {
		t.Errorf("the channel after everyone was called back is %v", got)
	}
}

// TestRefusals_ManyFaults_AreBounded sends bodies of 15 KB with a fault in every field.
func TestRefusals_ManyFaults_AreBounded(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	for name, field := range map[string]string{"short names": "f%04d", "long names": "f%04d" + strings.Repeat("ä", 400), "names to escape": "f%04d" + strings.Repeat("\\u0001", 60)} {
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
			all := len(fields) + 3 // that are missing
			if left := all - len(p.Errors); strings.Contains(p.Detail, fmt.Sprintf("%d more faults are not listed", left)) != (left > 0) {
				t.Errorf("of %d faults %d are listed, and the detail says %q", all, len(p.Errors), p.Detail)
			}
		})
	}
}
