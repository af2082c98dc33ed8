package main

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"wavegate/shared/platform/dynamo"
	production "wavegate/shared/production/method"
)

const inMunich = " /api/factories/munich-1"

// content is a content with everything that one may have.
const content = `{"form":1,"basis":{"quantity":1,"unit":"kg"},"attributes":{"drawing":"D-1"},"steps":[{"id":"10","name":"<step>","equipment":{"machines":["press-1","press-2"]},` +
	`"setup":"PT5M","run":{"time":"PT1M","per":{"quantity":1,"unit":"kg"}},"parameters":[{"id":"force","name":"Force","target":5,"min":4,"max":6,"unit":"kN","critical":true,` +
	`"overrides":[{"machine":"press-2","target":4.5}]}],"inputs":[{"material":"STEEL","quantity":1.5,"unit":"kg","lotTracked":true}],` +
	`"outputs":[{"material":"PART","quantity":1,"unit":"kg"}],"checks":[{"id":"c1","name":"Length","target":10,"min":9,"max":11,"unit":"mm","every":{"quantity":10,"unit":"kg"},"standard":"ISO 1","critical":false}],` +
	`"instructions":"Press once.","documents":[{"title":"Drawing","url":"https://docs.example.com/1","sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","machines":["press-1"]}],"attributes":{"tool":"T-1"}},` +
	`{"id":"20","name":"Deburr","equipment":{"class":"press"},"run":{"time":"PT1M","per":{"quantity":1,"unit":"kg"}}}]}`

// A bench is a method, which is edited by eric.
type bench struct {
	*world
	name string
}

func methodBody(name string) string {
	return fmt.Sprintf(`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":%q}`, name)
}

func (w *world) method(name string, header ...string) bench {
	a := w.do(created, "eric", "POST"+inMunich+"/production-methods", methodBody(name), header...)
	w.values[name] = path.Base(a.Header.Get("Location"))
	return bench{w, name}
}

func (b bench) path(version int) string {
	return fmt.Sprintf("%s/production-methods/<%s>/versions/%d", inMunich, b.name, version)
}

// save saves a content and keeps its hash.
func (b bench) save(version int, step string, want int) {
	b.values["step"] = step
	b.do(want, "eric", "PUT"+b.path(version)+"/content", content)
	b.values["hash"] = strings.Trim(b.do(ok, "eric", "GET"+b.path(version)+"/content", "").Header.Get("ETag"), `"`)
}

// move moves a version; more are further fields of the body.
func (b bench) move(by string, version int, status, more string) {
	if status == "trial" || status == "released" {
		more += `,"contentSha256":"<hash>"`
	}
	b.do(ok, by, "PATCH"+b.path(version), fmt.Sprintf(`{"status":%q,"reason":"pressed and measured"%s}`, status, more))
}

// review saves a new version and submits it.
func (b bench) review(version int, step string) {
	b.save(version, step, created)
	b.move("emma", version, "in_review", "")
}

// says is what a machine says about the first version.
func (b bench) says(code, state, more string, want int) {
	b.do(want, "box:box-21", "PUT"+inMunich+"/machines/"+code+"/methods/<"+b.name+">/report",
		fmt.Sprintf(`{"version":1,"contentSha256":"<hash>","state":%q%s}`, state, more))
}

// methods makes methods with versions in every state.
func (w *world) methods() {
	for _, m := range []struct{ code, body string }{
		{"press-1", `{"name":"Press 1","classes":["press"],"edgeId":"box-21"}`},
		{"press-2", `{"name":"Press 2","classes":["press","laser"],"edgeId":"box-21"}`},
		{"oven-1", `{"name":"Oven 1"}`},
	} {
		w.do(created, "eric", "PUT"+inMunich+"/machines/"+m.code, m.body)
	}
	w.do(done, "eric", "PUT"+inMunich+"/machines/oven-1", `{"name":"Oven 1","classes":["oven"],"edgeId":"box-27"}`)
	w.do(done, "eric", "PUT"+inMunich+"/machines/oven-1", `{"name":"Oven","edgeId":null}`)
	w.do(done, "eric", "PUT"+inMunich+"/machines/oven-1", `{"name":"Oven","classes":["oven","kiln"],"edgeId":null}`)
	w.do(done, "eric", "PUT"+inMunich+"/machines/oven-1", `{"name":"Oven","edgeId":"box-27"}`)
	w.method("empty", "Idempotency-Key", "method")

	draft := w.method("draft")
	draft.save(1, "Press", created)
	draft.save(1, "Press twice", done)
	draft.move("emma", 1, "in_review", "")
	draft.move("emma", 1, "draft", "")

	w.method("in review").review(1, "Press")

	trial := w.method("on trial")
	trial.review(1, "Press")
	trial.move("anna", 1, "trial", `,"machines":["press-1"],"effectiveFrom":"2099-01-01T00:00:00Z"`)
	trial.move("anna", 1, "trial", `,"machines":["press-1","press-2"]`)

	m := w.method("released")
	m.review(1, "Press")
	m.move("anna", 1, "trial", `,"machines":["press-1"]`)
	m.move("anna", 1, "released", `,"firstArticle":{"reference":"FAI-7","sha256":"<hash>"}`)
	m.move("alma", 1, "released", "")
	m.says("press-1", "loaded", `,"order":"PO-1"`, created)
	m.says("press-1", "running", `,"order":"PO-1","detail":"piece 1"`, done)
	m.says("press-2", "refused", `,"detail":"tool is missing"`, created)
	m.review(2, "Press hard")
	m.move("anna", 2, "released", `,"effectiveFrom":"2099-01-01T00:00:00Z"`)

	for _, name := range []string{"stopped", "unconfirmed"} {
		stopped := w.method(name)
		stopped.review(1, "Press")
		stopped.move("anna", 1, "released", "")
		stopped.says("press-1", "loaded", "", created)
		stopped.says("press-2", "loaded", "", created)
		stopped.move("anna", 1, "withdrawn", "")
		stopped.says("press-2", "loaded", "", http.StatusConflict)
		stopped.says("press-2", "finished", "", done)
	}
	w.edit(place{dynamo.Progress, "recalls", w.fill("munich-1/<unconfirmed>/1")}, "since", earlier(production.ConfirmWithin))
	w.tick()

	finished := w.method("finished")
	finished.review(1, "Press")
	finished.move("anna", 1, "released", "")
	finished.review(2, "Press hard")
	finished.move("anna", 2, "released", "")
	finished.move("alma", 2, "released", "")
	finished.move("anna", 2, "withdrawn", `,"orders":"finish","reinstate":1`)
	finished.move("anna", 2, "withdrawn", `,"orders":"stop"`)
	w.recalls()
}

// recalls makes recalls that concern some machines or nobody, and all that machines and people say about them.
func (w *world) recalls() {
	w.do(done, "anna", "PUT"+inMunich+"/machines/oven-1", `{"name":"Oven","classes":["kiln"]}`)
	w.do(done, "anna", "PUT"+inMunich+"/machines/oven-1", `{"name":"Oven","classes":["kiln","press"],"admission":{"reason":"inspected"}}`)
	some := w.method("some machines")
	some.review(1, "Press")
	some.move("anna", 1, "trial", `,"machines":["press-1","oven-1"]`)
	for order := range 22 {
		some.says("press-1", "running", fmt.Sprintf(`,"order":"PO-%d"`, order), []int{done, created}[max(0, 1-order)])
	}
	some.says("press-2", "running", `,"order":"PO-1"`, created) // deviates
	some.move("anna", 1, "withdrawn", "")
	w.do(created, "anna", "PUT"+some.path(1)+"/machines/oven-1/confirmation", `{"reason":"removed at the machine"}`)

	others := w.method("not all machines")
	others.review(1, "Press")
	others.move("anna", 1, "released", "")
	w.do(created, "eric", "PUT"+inMunich+"/machines/oven-2", `{"name":"Oven 2","classes":["press"]}`)
	others.move("anna", 1, "withdrawn", "")

	one := w.method("one machine")
	one.review(1, "Press")
	one.move("anna", 1, "trial", `,"machines":["press-1"]`)
	one.move("anna", 1, "withdrawn", "")

	nobody := w.method("nobody")
	nobody.review(1, "Press")
	nobody.move("anna", 1, "released", `,"effectiveFrom":"2099-01-01T00:00:00Z"`)
	nobody.move("anna", 1, "withdrawn", "")

	many := w.method("many versions")
	for version := 1; version <= 17; version++ {
		many.review(version, fmt.Sprint("Press ", version))
		many.move("anna", version, "released", "")
		many.do([]int{done, created}[max(0, 2-version)], "box:box-21", "PUT"+inMunich+"/machines/press-1/methods/<many versions>/report",
			fmt.Sprintf(`{"version":%d,"contentSha256":"<hash>","state":"finished"}`, version))
	}

	again := w.method("reported again")
	again.review(1, "Press")
	again.move("anna", 1, "trial", `,"machines":["press-1"]`)
	again.move("anna", 1, "withdrawn", "")
	again.says("press-1", "finished", "", created)
	w.edit(place{dynamo.Progress, "recalls", w.fill("munich-1/<reported again>/1")}, "since", earlier(production.ConfirmWithin))
	w.tick()
	again.says("press-1", "running", `,"order":"PO-1"`, http.StatusConflict)

	bytes := w.method("other bytes")
	bytes.review(1, "Press")
	bytes.move("anna", 1, "trial", `,"machines":["press-1"]`)
	bytes.values["hash"] = strings.Repeat("b", 64)
	bytes.says("press-1", "running", `,"order":"PO-1"`, http.StatusConflict)
	bytes.says("press-1", "running", `,"order":"PO-2"`, http.StatusConflict)
}
