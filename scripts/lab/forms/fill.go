package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/lab/upgrade"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/bell"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
)

// fillAll makes resources of every kind, in every state. Whoever adds a kind or an attribute adds the calls that store
// it at the end of one of these functions.
func (w *world) fillAll() error {
	w.factories()
	w.boxes()
	w.rollouts()
	w.judged()
	w.worked()
	w.ddi()
	w.tokens()
	w.enrolments()
	w.methods()
	w.quotas()
	w.form()
	w.rings()
	w.artifacts()
	w.everyOperation()
	return w.err
}

// everyOperation makes what a deployment is filled with before an upgrade: the samples of all operations, and a fleet.
func (w *world) everyOperation() {
	if w.err != nil {
		return
	}
	d := upgrade.Deployment{Target: harness.Target{URL: w.URL, Token: w.Token}, Has: func(string) bool { return true }, After: w.after}
	w.err = d.Fill()
}

// rings moves more boxes than are called one by one, so that the whole channel rings.
func (w *world) rings() {
	const boxes, atOnce = bell.MostCalls + 8, 26
	for _, factory := range []string{"munich-1", "lyon-1"} {
		for first := 0; first < boxes; first += atOnce {
			batch := make([]string, atOnce)
			for i := range batch {
				batch[i] = fmt.Sprintf(`{"edgeId":"box-w-%03d","edgeType":"gateway-w","channel":"stable","organizationId":"acme","factoryId":%q}`, first+i, factory)
			}
			w.do(ok, "olga", "POST /api/edges", `{"edges":[`+strings.Join(batch, ",")+`]}`)
		}
	}
}

// form gives the data the form of this code, as ./scripts/migrate does.
func (w *world) form() {
	if w.err != nil {
		return
	}
	err := os.Setenv(dynamo.Progress.EnvName(), dynamolocal.TableName(dynamo.Progress))
	if err == nil { // as a function that may write there, so that the write is seen
		client := dynamolocal.Client(w.Front.URL(), storefront.AccessKey(operations.Tick))
		err = dynamo.RaiseForm(context.Background(), dynamo.Open(client, time.Now))
	}
	w.done("the form", err)
}

const (
	created = http.StatusCreated
	done    = http.StatusNoContent
	ok      = http.StatusOK
)

// released is the body of a publication.
func released(version, more string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://artifacts.example.com/%[1]s.tar","sha256":%q%s}`, version, digest(version), more)
}

// described has all that a publication may say.
const described = `,"sizeBytes":1048576,"sha1":"356a192b7913b04c54574d18c28d46e6395428ab","md5":"c4ca4238a0b923820dcc509a6f75849b",` +
	`"part":"os","artifactHttpUrl":"http://artifacts.example.com/os.tar","downloadWithoutToken":true`

func onChannel(edgeType, channel, more string) string {
	return fmt.Sprintf(`{"edgeType":%q,"channel":%q,"organizationId":"acme"%s}`, edgeType, channel, more)
}

func (w *world) factories() {
	w.do(created, "olga", "PUT /api/factories/munich-1", `{"organizationId":"acme","name":"Munich 1","methodApproval":"four-eyes"}`)
	w.do(done, "olga", "PUT /api/factories/munich-1", `{"organizationId":"acme","name":"Munich, hall 1"}`)
	w.do(created, "olga", "PUT /api/factories/lyon-1", `{"organizationId":"acme","name":"Lyon 1"}`)
	w.do(done, "anna", "PUT /api/factories/lyon-1", fmt.Sprintf(`{"organizationId":"acme","name":"Lyon 1","updates":{"timeZone":"Europe/Paris",`+
		`"windows":[{"days":["sun"],"from":"04:00","to":"08:00"}],"pausedUntil":%q,"reason":"stocktaking"}}`, time.Now().Add(72*time.Hour).UTC().Format(time.RFC3339)))
	w.do(created, "olga", "PUT /api/factories/osaka-1", `{"organizationId":"rival","name":"Osaka 1","methodApproval":"single"}`)
}

const channel = "PUT /api/ota/release-channels/"

// twoBoxes is a batch of boxes, one with a token.
const twoBoxes = `{"edges":[{"edgeId":"box-23","edgeType":"gateway-x","channel":"stable","organizationId":"acme","tokenSha256":"<token of box-23 sha256>"},` +
	`{"edgeId":"box-24","edgeType":"gateway-x","channel":"stable","organizationId":"rival"}]}`

// boxes registers boxes on gateway-x/stable, moves one and retires two. One was registered again.
func (w *world) boxes() {
	w.do(created, "olga", channel+"gateway-x/stable", released("0.9.0", ""))
	w.do(done, "olga", channel+"gateway-x/stable", released("1.0.0", described+`,"reason":"the first series"`))
	for _, version := range []string{"1.1.0", "1.2.0", "1.3.0", "1.4.0"} {
		w.do(map[bool]int{true: created, false: done}[version == "1.1.0"], "olga", channel+"gateway-x/canary", released(version, described))
	}
	for n := range 12 {
		w.do(created, "olga", fmt.Sprintf("PUT /api/edges/box-%02d", n+1), onChannel("gateway-x", "stable", ""))
	}
	w.do(created, "anna", "PUT /api/edges/box-21", onChannel("gateway-x", "stable", `,"factoryId":"munich-1","issuer":"https://fleet.wavegate.localhost"`))
	w.do(done, "anna", "PUT /api/edges/box-21", onChannel("gateway-x", "stable", `,"factoryId":"munich-1","issuer":null`))
	w.do(created, "olga", "PUT /api/edges/box-22", onChannel("gateway-x", "stable", ""))
	w.do(done, "olga", "PUT /api/edges/box-22", onChannel("gateway-x", "beta", `,"factoryId":"lyon-1"`))
	w.token(boxtoken.Box, "box-23", "token of box-23")
	for range 2 {
		w.do(ok, "olga", "POST /api/edges", twoBoxes, "Idempotency-Key", "boxes")
	}
	for id, polls := range map[string][]string{"box-13": slices.Repeat([]string{"1.0.0"}, 11), "box-14": {"0.9.0", "1.0.0", "0.9.0", "1.0.0", "0.9.0"}} {
		w.do(created, "olga", "PUT /api/edges/"+id, onChannel("gateway-x", "stable", ""))
		for _, version := range polls { // both are restless
			w.poll(id, version)
		}
	}
	for _, id := range []string{"box-25", "box-26"} {
		w.do(created, "olga", "PUT /api/edges/"+id, onChannel("gateway-x", "stable", ""))
		w.poll(id, "1.0.0")
		w.do(done, "olga", "DELETE /api/edges/"+id, "")
	}
	w.do(created, "olga", "PUT /api/edges/box-26", onChannel("gateway-x", "stable", ""))
	w.do(created, "olga", "PUT /api/edges/box-27", onChannel("gateway-x", "stable", "")) // listens
	w.do(ok, "box:box-27", "GET /api/edges/box-27/update/manifest?bell=true&installed=1.0.0", "")
	w.do(done, "olga", "PUT /api/edges/box-27", onChannel("gateway-x", "stable", `,"factoryId":"munich-1"`))
	w.do(created, "olga", "PUT /api/edges/box-28", onChannel("gateway-x", "nowhere", ""))
}

// poll polls as a box that runs a version; empty: it does not say.
func (w *world) poll(id, installed string) {
	query := ""
	if installed != "" {
		query = "?installed=" + installed
	}
	w.do(ok, "box:"+id, "GET /api/edges/"+id+"/update/manifest"+query, "")
}

// report reports on the update to 1.1.0.
func (w *world) report(id string, attempt int, outcome, more string) {
	w.do(ok, "box:"+id, "PUT /api/edges/"+id+"/update/report", fmt.Sprintf(`{"version":"1.1.0","attempt":%d,"outcome":%q%s}`, attempt, outcome, more))
}

// start starts a rollout and keeps its id under a name.
func (w *world) start(name, edgeType, channel, version, more string, header ...string) {
	a := w.do(created, "olga", "POST /api/ota/rollouts",
		fmt.Sprintf(`{"edgeType":%q,"channel":%q,"targetVersion":%q%s}`, edgeType, channel, version, more), header...)
	w.values[name] = path.Base(a.Header.Get("Location"))
}

// move changes a rollout, in one or more steps.
func (w *world) move(by, name string, bodies ...string) {
	for _, body := range bodies {
		w.do(done, by, "PATCH /api/ota/rollouts/<"+name+">", body)
	}
}

var toAll = []string{`{"staged_percent":10}`, `{"staged_percent":50,"reason":"all is well"}`, `{"staged_percent":100,"overrideReason":"before the holidays"}`}

// rollouts starts rollouts that people move. Boxes end up in every state.
func (w *world) rollouts() {
	const halt = `{"status":"halted","reason":"boxes do not boot"}`
	for n := range 12 {
		if n != 10 { // it never polls
			w.poll(fmt.Sprintf("box-%02d", n+1), map[bool]string{false: "1.0.0"}[n == 8])
		}
	}
	w.start("first", "gateway-x", "stable", "1.1.0", `,"reason":"fixes the clock"`, "Idempotency-Key", "first")
	w.move("olga", "first", halt, `{"status":"active","reason":"it was the network"}`)
	w.move("otto", "first", toAll...)
	for n := range 12 {
		if n != 10 && n != 8 {
			w.poll(fmt.Sprintf("box-%02d", n+1), "1.0.0")
		}
	}
	w.report("box-01", 1, "working", "")
	w.report("box-02", 1, "deferred", `,"until":"<tomorrow>"`)
	w.report("box-03", 2, "failed", `,"code":"boot","detail":"no heartbeat within 90 s","rolloutId":"<first>"`)
	w.poll("box-04", "1.1.0")
	w.poll("box-05", "1.1.0")
	w.poll("box-05", "1.0.0")
	w.poll("box-06", "1.1.0")
	w.report("box-06", 1, "failed", `,"code":"health"`)
	w.do(ok, "vera", "GET /api/ota/rollouts/<first>/progress?fresh=true", "")
	w.do(ok, "vera", "GET /api/ota/rollouts/<first>/progress?by=factory", "")
	w.do(ok, "vera", "GET /api/ota/release-channels/gateway-x/stable/progress?fresh=true", "")
	w.do(ok, "anna", "GET /api/organizations/acme/fleet?fresh=true", "")
	w.move("olga", "first", halt)
	w.poll("box-04", "1.1.0") // it is sent back
	w.poll("box-07", "1.0.0")

	const careful = `{"mode":"act","promote":{"soak":{"1":"PT1H"},"windows":[{"days":["mon","tue","wed","thu","fri","sat","sun"],"from":"00:00","to":"24:00","timeZone":"UTC"},` +
		`{"from":"00:00","to":"24:00","timeZone":"Europe/Berlin"}]},"approvals":{"before":[10,50]}}`
	w.start("second", "gateway-x", "stable", "1.2.0", `,"policy":`+careful)
	w.do(done, "otto", "POST /api/ota/rollouts/<second>/approvals", `{"stage":10,"reason":"looked at the boxes"}`)
	w.move("olga", "second", `{"staged_percent":10}`)
	w.do(done, "otto", "POST /api/ota/rollouts/<second>/approvals", `{"stage":50}`)
	for n := range 12 {
		if n != 10 {
			w.poll(fmt.Sprintf("box-%02d", n+1), map[bool]string{true: "1.1.0", false: "1.0.0"}[n == 3])
		}
	}

	for _, name := range []string{"beta", "nightly", "again", "plain"} {
		w.do(created, "olga", channel+"gateway-x/"+name, released("1.0.0", ""))
	}
	w.start("completed", "gateway-x", "beta", "1.1.0", "")
	w.move("olga", "completed", append(toAll, `{"status":"completed","reason":"everybody has it"}`)...)
	w.poll("box-22", "1.0.0")
	w.poll("box-22", "1.1.0")
	w.start("published over", "gateway-x", "nightly", "1.1.0", "")
	w.do(done, "olga", channel+"gateway-x/nightly", released("1.3.0", `,"overrideReason":"the line stands still"`))
	w.start("before", "gateway-x", "again", "1.1.0", "")
	w.move("olga", "before", append(toAll, halt)...)
	w.start("again", "gateway-x", "again", "1.1.0", `,"policy":{"mode":"advise"}`)
	w.do(done, "otto", "PUT /api/ota/rollouts/<again>/policy", `{"mode":"advise","guard":{"smallFleet":"people"}}`)
	w.start("unguarded", "gateway-x", "plain", "1.1.0", `,"policy":null`)
	w.move("olga", "unguarded", `{"status":"completed"}`)
	w.contested("again")
	w.contested("again")
	w.do(created, "olga", channel+"gateway-x/urgent", released("1.0.0", ""))
	w.do(created, "olga", channel+"gateway-x/hurried", released("9.0.0", `,"kind":"security"`))
	w.do(created, "olga", channel+"gateway-x/lines", released("1.0.9", `,"order":1700000000`))
	w.do(created, "olga", "PUT /api/edges/box-93", onChannel("gateway-x", "lines", `,"pin":{"version":"1.0.9","reason":"a test","until":"`+time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339)+`"}`))
	w.poll("box-93", "1.0.0")
	w.do(created, "olga", "PUT /api/edges/box-94", onChannel("gateway-x", "urgent", ""))
	w.poll("box-94", "1.0.0")
	w.do(done, "olga", "PUT /api/edges/box-94", onChannel("gateway-x", "lines", ""))
	w.poll("box-94", "1.0.0") // held: 1.0.9 has a lower order
	w.start("hurried", "gateway-x", "urgent", "9.0.0", "")
	w.move("olga", "hurried", halt)
	w.do(created, "olga", channel+"gateway-x/traced", released("1.0.0", ""))
	w.do(created, "olga", "PUT /api/edges/box-91", onChannel("gateway-x", "traced", `,"factoryId":"munich-1"`))
	w.start("traced", "gateway-x", "traced", "1.1.0", "")
	w.move("olga", "traced", toAll...)
	w.poll("box-91", "1.0.0")
	w.report("box-91", 1, "failed", `,"code":"boot"`)
	w.do(done, "olga", "PUT /api/edges/box-91", onChannel("gateway-x", "nowhere", ""))
	w.do(created, "olga", "PUT /api/edges/box-92", onChannel("gateway-x", "traced", ""))
	for range 2 { // a count whose result could not be stored in time is answered, too
		w.edit(place{dynamo.Progress, "channel#gateway-x/stable", "latest"}, "begun", earlier(time.Minute))
		w.do(ok, "vera", "GET /api/ota/release-channels/gateway-x/stable/progress?fresh=true", "")
		w.edit(place{dynamo.Progress, "organization#acme", "latest"}, "begun", earlier(time.Minute))
		w.do(ok, "anna", "GET /api/organizations/acme/fleet?fresh=true", "")
		w.pass()
	}
	w.tick()
	w.described()
	w.stepped()
	w.hasty()
}

// stepped makes a box that a rollout tells a stone first.
func (w *world) stepped() {
	w.do(created, "olga", channel+"stepped/stable", released("0.9.0", `,"order":1`))
	w.do(created, "olga", channel+"stepped/canary", released("1.0.0", `,"order":2`))
	w.do(done, "olga", channel+"stepped/canary", released("2.0.0", `,"order":3,"requires":"1.0.0"`))
	w.do(created, "olga", "PUT /api/edges/box-98", onChannel("stepped", "stable", ""))
	w.start("stepped", "stepped", "stable", "2.0.0", "")
	w.move("olga", "stepped", toAll...)
	w.poll("box-98", "0.9.0")
	w.poll("box-98", "1.0.0")
}

// hasty publishes and starts releases that plants cannot keep waiting, and makes a pair of boxes.
func (w *world) hasty() {
	w.do(created, "olga", channel+"hasty/stable", released("1.0.0", `,"deadline":"P9D"`))
	w.do(created, "olga", channel+"hasty/canary", released("1.1.0", `,"kind":"security","deadline":"P2D","urgent":true,"reason":"a hole"`))
	for _, id := range []string{"pair-1", "pair-2"} {
		w.do(created, "olga", "PUT /api/edges/"+id, onChannel("hasty", "stable", `,"factoryId":"munich-1","group":"press 4"`))
	}
	w.start("hasty", "hasty", "stable", "1.1.0", `,"urgent":true,"reason":"a hole"`)
	w.move("olga", "hasty", `{"status":"halted","return":true,"urgent":true,"reason":"worse"}`, `{"seen":true}`)
	w.do(created, "olga", channel+"hasty2/stable", released("1.0.0", ""))
	w.do(created, "olga", channel+"hasty2/canary", released("1.1.0", `,"deadline":"P9D"`))
	w.start("hasty2", "hasty2", "stable", "1.1.0", "")
	w.move("olga", "hasty2", `{"urgent":true,"reason":"a hole"}`)
	w.poll("pair-1", "0.9.0") // it takes its turn
	w.do(created, "olga", channel+"patient/stable", released("1.0.0", ""))
	w.do(created, "olga", channel+"patient/canary", released("1.1.0", ""))
	w.start("patient", "patient", "stable", "1.1.0", `,"policy":{"guard":{"decideWithin":"PT6H"}}`)
}

// described makes a box with attributes that changes what it says after it was told of a rollout, and moves it.
func (w *world) described() {
	w.do(created, "olga", "PUT /api/edges/box-96", onChannel("gateway-x", "traced", `,"attributes":{"supplier":"Acorn"}`))
	w.do(done, "box:box-96", "PUT /api/edges/box-96/attributes", `{"attributes":{"modem":"LTE"}}`)
	w.poll("box-96", "1.0.0")
	w.do(done, "box:box-96", "PUT /api/edges/box-96/attributes", `{"attributes":{"modem":"5G"}}`)
	w.do(created, "olga", "PUT /api/edges/box-97", onChannel("gateway-x", "traced", `,"attributes":{"supplier":"Acorn"}`))
	w.poll("box-97", "1.0.0")
	w.do(done, "olga", "PUT /api/edges/box-97", onChannel("gateway-x", "nowhere", ""))
}

// contested halts a rollout while another writer is faster once, so that the halt announces itself.
func (w *world) contested(name string) {
	var once sync.Once
	remove := w.Front.Intercept(func(c *storefront.Call) (e storefront.Effect) {
		if c.Function == "update-rollout" && c.Operation == "TransactWriteItems" {
			once.Do(func() {
				e.Answer = &storefront.Answer{Status: http.StatusBadRequest, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
					`"message":"Transaction cancelled","CancellationReasons":[{"Code":"ConditionalCheckFailed"},{"Code":"None"},{"Code":"None"}]}`}
			})
		}
		return e
	})
	defer remove()
	w.move("olga", name, `{"status":"halted"}`, `{"status":"active"}`)
}
