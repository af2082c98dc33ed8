package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// odd are texts that boxes say instead of what is meant.
var odd = []string{
	"1.4.0\n", "1.4.0\r\n", "1.4.0\t", " 1.4.0 ", "\n\n1.4.0", "1.4.0\x00", "1.4.0\x00\x00junk", "\ufeff1.4.0", "1.4.0\u200b", "\u00a01.4.0\u00a0",
	`"1.4.0"`, `'1.4.0'`, "`1.4.0`", "v1.4.0", "V1.4.0", "1.4.0+7", "1.4.0 7", "1.4.0-rc1~2", "1:1.4.0", "1,4,0", "VERSION=1.4.0", "1.4.0;1.3.0",
	"", " ", "\n", "\x00", "null", "undefined", "NaN", "-1", "0", "7", "1e400", "true", "{}", "[]", "%", "%zz", "%0A", "../../etc/passwd", "<script>",
	"\u202e0.4.1", "\u2800", "می\u200cخواهم", "1.4.0\u200d", "😀", "e\u0301", "\xff\xfe", "\xed\xa0\x80", "\x1b[31m1.4.0", strings.Repeat("1", 129),
	strings.Repeat("x", 200), strings.Repeat("ä", 500),
}

// oddJSON are values of a field of a body, or a whole body; not all are JSON.
var oddJSON = []string{
	"7", "-7", "1.5", "0", "1e400", "123456789012345678901234567890", "true", "false", "null", "[]", "{}", "[[]]", `["1.4.0"]`, `[7,null,{}]`, `{"version":"1.4.0"}`,
	`"\ud800"`, `"\u0000"`, `"1.4.0\n"`, "\"1.4.0\n\"", `"1.4.0`, `1.4.0`, `'1.4.0'`, `NaN`, `undefined`, `"a" "b"`, `"a",,`, ``, `"x","outcome":"working"`,
	strings.Repeat("[", 200) + strings.Repeat("]", 200), `"` + strings.Repeat("x", 300<<10) + `"`, `"\u002`, "\"\xff\"", "\x00", "\ufeff{}",
}

// bodies are odd as a whole.
var bodies = []string{"", "[]", `"x"`, "7", "null", "{", "}", "{}{}", "\ufeff{}", "\x1f\x8b\x08", "a=b&c=d", "<xml/>", "{\"a\":1,}", "{'a':1}", "\xff\xfe{\x00}\x00", strings.Repeat("{}", 300<<10)}

// TestOddities_WhateverABoxSays_ItsCallIsAnswered: in each parameter and each field of each operation for boxes, at the API and at the
// door. At the end the box is still understood.
func TestOddities_WhateverABoxSays_ItsCallIsAnswered(t *testing.T) {
	t.Parallel()
	w, owner := served(t, quick, harness.WithDoor(), withSettings(setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	token := owner.SetToken(t, "/api/edges/box-1/token")
	ddiToken := enrol(t, owner, "box-2")
	calls, refused := 0, 0
	for _, at := range []string{w.Target.URL, w.DoorURL} {
		manifests, client := &harness.Caller{URL: at, Bearer: "Bearer " + token}, &harness.Caller{URL: at, Bearer: "TargetToken " + ddiToken}
		client.Put(t, ddiPath("acme", "box-2")+"/configData", `{"data":{"installed":"0.9.0"}}`).Is(t, http.StatusOK)
		for _, op := range table.All {
			if !op.Takes.Hears || at == w.DoorURL && op.ID == "put-edge-attributes" { // which the door does not take
				continue
			}
			by := manifests
			if strings.HasPrefix(op.Path, "/api/ddi/") {
				by = client
			}
			for i, target := range oddCalls(t, op, by) {
				if at == w.DoorURL && i%5 != 0 {
					continue // the door reads as the API does
				}
				a := by.Do(t, op.Method, target.path, target.body, "Content-Type", target.kind)
				calls++
				fine := a.Status/100 == 2 || a.Status == http.StatusNotModified
				if d, err := a.Problem(); err == nil && d.Code == problem.ReportStale && op.ID == "put-update-report" {
					refused++ // the report names another release, as one without oddities may
					fine = true
				}
				expect.That(t, fine, "%s %.300s %.300q: answered %d %s", op.ID, target.path, target.body, a.Status, a.Body)
			}
		}
		manifests.Get(t, manifestPath("box-1")+"?installed=0.9.0").Is(t, http.StatusOK)
		client.Put(t, ddiPath("acme", "box-2")+"/configData", `{"data":{"installed":"0.8.0"}}`).Is(t, http.StatusOK)
		expect.Equal(t, why(t, owner, "box-1").Running, "0.9.0", "after all, box-1 says that it runs")
		expect.Equal(t, why(t, owner, "box-2").Running, "0.8.0", "after all, box-2 says that it runs")
	}
	expect.That(t, calls > 4*len(odd), "only %d calls were made", calls)
	t.Logf("%d calls, %d of them reports about other releases, with %d odd texts, %d odd values and %d odd bodies", calls, refused, len(odd), len(oddJSON), len(bodies))
}

// An oddCall is one call of a box.
type oddCall struct{ path, body, kind string }

// oddCalls are the calls of an operation with an oddity in one place each.
func oddCalls(t *testing.T, op operations.Operation, by *harness.Caller) (all []oddCall) {
	t.Helper()
	path := strings.NewReplacer("{edgeId}", "box-1", "{tenant}", "acme", "{controllerId}", "box-2").Replace(op.Path)
	if strings.Contains(path, "{actionId}") {
		if op.Method == http.MethodGet {
			return nil // it reads what a link names
		}
		_, last, _ := strings.Cut(linkedAction(t, by), "deploymentBase/")
		for _, text := range odd {
			if text = url.PathEscape(text); text != "" && text != "." && !strings.Contains(text, "%2F") {
				all = append(all, oddCall{strings.ReplaceAll(path, "{actionId}", text), feedback("closed", "success", "x"), "application/json"})
			}
		}
		path = strings.ReplaceAll(path, "{actionId}", last)
	}
	if op.Takes.Body == nil {
		return append(all, queries(path, op.Takes.Query)...)
	}
	for _, kind := range []string{"application/json", "", "application/hal+json", "text/plain", "application/x-www-form-urlencoded"} {
		for _, body := range bodies {
			all = append(all, oddCall{path, body, kind})
		}
	}
	for _, names := range append(fields(op.Takes.Body, nil), []string{"other"}, []string{"data", "other"}, []string{"attributes", "a b"}) {
		for _, value := range oddJSON {
			all = append(all, oddCall{path, with(t, op.ID, names, value), "application/json"})
		}
		for _, text := range odd {
			raw := expect.Value(json.Marshal(text))(t)
			all = append(all, oddCall{path, with(t, op.ID, names, string(raw)), "application/json"},
				oddCall{path, with(t, op.ID, append(slices.Clone(names[:len(names)-1]), text), `"1"`), "application/json"})
		}
	}
	return all
}

// queries has each text in each parameter, twice, and as the name of one.
func queries(path string, takes input.Fields) (all []oddCall) {
	for _, text := range odd {
		escaped := url.QueryEscape(text)
		raw := strings.Map(func(c rune) rune {
			if c <= ' ' || c > '~' || c == '#' {
				return -1
			}
			return c
		}, text)
		all = append(all, oddCall{path: path + "?" + escaped + "=1"}, oddCall{path: path + "?" + raw})
		for _, field := range takes {
			one := field.Name + "=" + escaped
			all = append(all, oddCall{path: path + "?" + one}, oddCall{path: path + "?" + field.Name + "=" + raw}, oddCall{path: path + "?" + one + "&" + one})
		}
	}
	return all
}

// fields are the names that lead to each field of a body.
func fields(shape *input.Shape, before []string) (all [][]string) {
	for _, field := range shape.Fields {
		names := append(slices.Clone(before), field.Name)
		all = append(all, names)
		if inner, is := field.Is.(*input.Shape); is {
			all = append(all, fields(inner, names)...)
		}
	}
	return all
}

// with is a good body with another value of one field, which need not be JSON.
func with(t *testing.T, operation string, names []string, value string) string {
	t.Helper()
	good := map[string]string{
		"put-update-report":            `{"version":"1.0.0","attempt":1,"outcome":"working"}`,
		"put-edge-attributes":          `{"attributes":{"board":"C"}}`,
		"put-ddi-config-data":          `{"mode":"merge","data":{"installed":"0.9.0","board":"C"}}`,
		"post-ddi-deployment-feedback": feedback("proceeding", "none", "x"),
		"post-ddi-cancel-feedback":     feedback("proceeding", "none", "x"),
	}[operation]
	var body map[string]any
	expect.OK(t, json.Unmarshal([]byte(good), &body))
	object := body
	for _, name := range names[:len(names)-1] {
		inner, is := object[name].(map[string]any)
		if !is {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	const place = "PLACE"
	object[names[len(names)-1]] = place
	return strings.Replace(string(expect.Value(json.Marshal(body))(t)), `"`+place+`"`, value, 1)
}

// linkedAction is the path of the box's present action.
func linkedAction(t *testing.T, by *harness.Caller) string {
	t.Helper()
	link := base(t, by, "box-2").Links.DeploymentBase
	if link == nil {
		return "deploymentBase/1" // closed by what was said before
	}
	path, _, _ := strings.Cut(link.Href, "?")
	return path
}

// TestOddities_AVersion_IsReadAndNoted over each way.
func TestOddities_AVersion_IsReadAndNoted(t *testing.T) {
	w, owner := served(t, quick, harness.WithDoor())
	token := owner.SetToken(t, "/api/edges/box-1/token")
	api, door := w.With("Bearer", token), atDoor(w, "Bearer", token)
	query := func(text string) string { return manifestPath("box-1") + "?installed=" + url.QueryEscape(text) }
	config := func(text string) string {
		return fmt.Sprintf(`{"data":{"installed":%s}}`, expect.Value(json.Marshal(text))(t))
	}
	ways := map[string]func(text string){
		report.ByPoll: func(text string) { api.Get(t, query(text)).Is(t, http.StatusOK) },
		report.ByConfigData: func(text string) {
			api.Put(t, ddiPath("acme", "box-1")+"/configData", config(text)).Is(t, http.StatusOK)
		},
		"poll at the door": func(text string) { door.Get(t, query(text)).Is(t, http.StatusOK) },
		"configData at the door": func(text string) {
			door.Put(t, ddiPath("acme", "box-1")+"/configData", config(text)).Is(t, http.StatusOK)
		},
	}
	for way, says := range ways {
		for text, c := range map[string]struct{ read, shown string }{
			"1.4.0\n":       {"1.4.0", "1.4.0⏎"},
			" 1.4.0\r\n":    {"1.4.0", "␣1.4.0␍⏎"},
			"1.4.0 ":        {"1.4.0", "1.4.0␣"},
			"\ufeff1.4.0\t": {"1.4.0", "<U+FEFF>1.4.0⇥"},
			"1.4.0\x00":     {"1.4.0", "1.4.0␀"},
		} {
			says(text)
			known := why(t, owner, "box-1")
			expect.Equal(t, known.Running, c.read, "%s: %q is read as", way, text)
			sentence := fmt.Sprintf("It says `%s`, read as %s.", c.shown, c.read)
			expect.That(t, strings.Contains(known.Sentence, sentence), "%s: %q: %s", way, text, known.Sentence)
			expect.That(t, slices.ContainsFunc(known.Heard, func(h report.Heard) bool { return h.Said == c.shown && h.Read == c.read }), "%s: %+v", way, known.Heard)
		}
		says("1.3.0")
		known := why(t, owner, "box-1")
		expect.Equal(t, known.Running, "1.3.0", "%s", way)
		noted := slices.ContainsFunc(known.Heard, func(h report.Heard) bool { return strings.HasPrefix(way, h.Way) })
		expect.That(t, !noted, "%s: a good version leaves %+v", way, known.Heard)
	}
}

// TestOddities_APlusInAQuery_IsPartOfTheVersion, as a box sends it without %2B.
func TestOddities_APlusInAQuery_IsPartOfTheVersion(t *testing.T) {
	w, owner := served(t, quick, harness.WithDoor())
	token := owner.SetToken(t, "/api/edges/box-1/token")
	for name, c := range map[string]*harness.Caller{"API": w.With("Bearer", token), "door": atDoor(w, "Bearer", token)} {
		for sent, want := range map[string]string{"1.4.0+7": "1.4.0+7", "1.4.0%2B7": "1.4.0+7", "1.4.0%207": "1.4.0+7", "1+2+3": "1+2+3", "1.4.0+": "1.4.0"} {
			c.Get(t, manifestPath("box-1")+"?installed="+sent).Is(t, http.StatusOK)
			expect.Equal(t, why(t, owner, "box-1").Running, want, "%s: installed=%s", name, sent)
		}
	}
}

// TestOddities_ALabel_MeansTheRelease over each way: the box runs what it was told, its client stops, people see both texts, and
// a person can make such labels good.
func TestOddities_ALabel_MeansTheRelease(t *testing.T) {
	w, owner := served(t, quick, harness.WithDoor())
	box := owner.SetToken(t, "/api/edges/box-1/token")
	ddi := enrol(t, owner, "box-2")
	config := func(by *harness.Caller, text string) {
		by.Put(t, ddiPath("acme", "box-2")+"/configData", `{"data":{"installed":"`+text+`"}}`).Is(t, http.StatusOK)
	}
	set := http.StatusCreated
	for _, at := range []string{w.Target.URL, w.DoorURL} {
		manifests, client := &harness.Caller{URL: at, Bearer: "Bearer " + box}, &harness.Caller{URL: at, Bearer: "TargetToken " + ddi}
		manifests.Get(t, manifestPath("box-1")+"?installed=0.9.0").Is(t, http.StatusOK)
		config(client, "0.9.0")
		var told polling.Manifest
		manifests.Get(t, manifestPath("box-1")+"?installed=v1.0.0").Is(t, http.StatusOK).Into(t, &told)
		expect.That(t, told.Version == "v1.0.0" && told.Release == "1.0.0", "told %+v", told)
		manifests.Put(t, "/api/edges/box-1/update/report", `{"version":"v1.0.0","attempt":1,"outcome":"working"}`).Is(t, http.StatusOK)
		config(client, "V1_0-0")
		for id, text := range map[string]string{"box-1": "v1.0.0", "box-2": "V1_0-0"} {
			known := why(t, owner, id)
			expect.That(t, known.Running == "1.0.0" && known.Label == text && strings.Contains(known.Sentence, "It says `"+text+"` for release 1.0.0. That is no proof"), "%+v", known)
		}
		owner.Put(t, "/api/ota/edge-types/gateway-x", `{"versionForm":"alike"}`).Is(t, set)
		sentence := why(t, owner, "box-2").Sentence
		expect.That(t, strings.HasSuffix(sentence, "for release 1.0.0."), "with the form: %s", sentence)
		owner.Put(t, "/api/ota/edge-types/gateway-x", `{"versionForm":"exact"}`).Is(t, http.StatusNoContent)
		set = http.StatusNoContent
	}
	var listed struct{ Items []edge.Shown }
	owner.Get(t, "/api/edges?state=mislabelled").Is(t, http.StatusOK).Into(t, &listed)
	expect.Equal(t, len(listed.Items), 2, "mislabelled boxes:")
	owner.Put(t, "/api/ota/edge-types/gateway-x", `{"versionAttribute":"sw_version"}`).Is(t, http.StatusNoContent)
	api := &harness.Caller{URL: w.Target.URL, Bearer: "TargetToken " + ddi}
	api.Put(t, ddiPath("acme", "box-2")+"/configData", `{"data":{"sw_version":"1.0.0\n","board":"C"}}`).Is(t, http.StatusOK)
	known := why(t, owner, "box-2")
	expect.That(t, known.Running == "1.0.0" && known.Label == "" && known.Attributes["board"] == "C" && known.Attributes["sw_version"] == "", "by another attribute: %+v", known)
	api.Put(t, ddiPath("acme", "box-2")+"/configData", `{"data":{"installed":"0.9.0","sw_version":"7"}}`).Is(t, http.StatusOK)
	known = why(t, owner, "box-2")
	expect.That(t, known.Running == "0.9.0" && known.Attributes["sw_version"] == "7", "installed wins: %+v", known)
}

// TestOddities_AVersionOfDebian_IsAVersion: with an epoch and a tilde, from the publication to the box and back.
func TestOddities_AVersionOfDebian_IsAVersion(t *testing.T) {
	const version = "1:2.0~rc1-1"
	w, owner := served(t, quick)
	owner.Put(t, channelPath("gateway-x", "canary"), release(version, digest("d"))).Is(t, http.StatusCreated)
	rollout := owner.Post(t, "/api/ota/rollouts", plan("gateway-x", "stable", version)).Made(t)
	for _, percent := range []int{10, 50, 100} {
		owner.Patch(t, rollout, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
	}
	box := w.Box(t, "box-1")
	for _, installed := range []string{"1.0.0", version} {
		var told polling.Manifest
		box.Get(t, manifestPath("box-1")+"?installed="+installed).Is(t, http.StatusOK).Into(t, &told)
		expect.Equal(t, told.Version, version, "a box that runs %s is told", installed)
	}
	box.Put(t, "/api/edges/box-1/update/report", `{"version":"`+version+`","attempt":1,"outcome":"failed","code":"health"}`).Is(t, http.StatusOK)
	for _, path := range []string{rollout + "/edges?state=failed", "/api/edges?version=" + url.QueryEscape(version)} {
		var listed struct{ Items []edge.Shown }
		owner.Get(t, path).Is(t, http.StatusOK).Into(t, &listed)
		expect.That(t, len(listed.Items) == 1 && listed.Items[0].EdgeID == "box-1", "%s: %+v", path, listed)
	}
}

// TestOddities_OfPeople_AreRefused: who is no box gets all faults.
func TestOddities_OfPeople_AreRefused(t *testing.T) {
	_, owner := served(t, quick)
	d := owner.Get(t, manifestPath("box-1")+"?installed=1.4.0%0A&bell=perhaps&x=1").Refused(t, problem.ValidationFailed)
	expect.Equal(t, len(d.Errors), 3, "faults:")
}
