package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"wavegate/shared/access/boxtoken"
)

// A controller is a box with a DDI client, and who calls for it.
type controller struct {
	*world
	id, by string
}

func (c controller) path() string { return "/api/ddi/acme/controller/v1/" + c.id }

// base polls, and returns the path of the action that the client is told or asked to cancel; empty: none.
func (c controller) base() string {
	a := c.do(ok, c.by, "GET "+c.path(), "")
	var told struct {
		Links map[string]struct {
			Href string `json:"href"`
		} `json:"_links"`
	}
	if c.err == nil {
		c.err = json.Unmarshal(a.Body, &told)
	}
	for _, name := range []string{"cancelAction", "deploymentBase"} {
		if link, found := told.Links[name]; found {
			path, _, _ := strings.Cut(strings.TrimPrefix(link.Href, c.URL), "?")
			c.values[c.id+" action"] = path
			return path
		}
	}
	return ""
}

func (c controller) runs(version string) {
	c.do(ok, c.by, "PUT "+c.path()+"/configData", `{"data":{"installed":"`+version+`"}}`)
}

// says sends feedback about an action.
func (c controller) says(action, execution, finished, words string) {
	c.do(ok, c.by, "POST "+action+"/feedback",
		fmt.Sprintf(`{"status":{"execution":%q,"result":{"finished":%q},"details":[%q]}}`, execution, finished, words))
}

// ddi makes boxes with DDI clients, in all states of an action.
func (w *world) ddi() {
	w.do(created, "olga", channel+"gateway-d/stable", released("1.0.0", described))
	w.do(created, "olga", channel+"gateway-d/canary", released("1.1.0", described))
	w.do(created, "olga", channel+"gateway-d/other", released("0.8.0", described))
	fleet := make([]controller, 11)
	for i := range fleet {
		id := fmt.Sprintf("ddi-%02d", i)
		fleet[i] = controller{w, id, "box:" + id}
		w.do(created, "olga", "PUT /api/edges/"+id, onChannel("gateway-d", "stable", ""))
		fleet[i].base()
		if i > 0 { // the first never says what it runs
			fleet[i].runs("1.0.0")
		}
	}
	w.start("ddi", "gateway-d", "stable", "1.1.0", `,"policy":{"guard":{"silentAfter":"PT1S","decideWithin":"PT1S"},"promote":{"soak":{"1":"PT0S","10":"PT0S","50":"PT0S","100":"PT0S"}}}`)
	w.move("olga", "ddi", toAll...)
	action := make([]string, len(fleet))
	for i, c := range fleet[1:] {
		action[i+1] = c.base()
	}
	const begins = "Installing Update Chunk Artifacts."
	fleet[2].says(action[2], "proceeding", "none", "Downloading")
	fleet[3].says(action[3], "closed", "failure", "Failed to install software bundle.")
	fleet[4].says(action[4], "closed", "success", "Software bundle installed successfully.")
	fleet[4].runs("1.0.0")
	fleet[5].says(action[5], "proceeding", "none", "LastError: Failed mounting bundle: invalid checksum")
	fleet[6].says(action[6], "closed", "success", "Software bundle installed successfully.")
	fleet[6].runs("1.1.0")
	fleet[7].says(action[7], "proceeding", "none", begins)
	fleet[7].says(action[7], "proceeding", "none", "All Chunks Installed.")
	fleet[7].says(action[7], "proceeding", "none", begins)
	fleet[8].says(action[8], "scheduled", "none", "later")
	fleet[10].says(action[10], "canceled", "none", "given up")
	for _, c := range fleet[1:3] { // they are asked to give up
		w.do(done, "olga", "PUT /api/edges/"+c.id, onChannel("gateway-d", "other", ""))
		c.base()
	}
	w.do(ok, "box:ddi-01", "GET <ddi-01 action>", "")
	fleet[1].says("<ddi-01 action>", "closed", "success", "cancellation acknowledged.")
	w.pass()
	fleet[9].says(action[9], "closed", "success", "Software bundle installed successfully.")
	fleet[4].base()
	fleet[4].runs("1.0.0") // it fell back
	w.do(ok, "box:ddi-08", "GET <ddi-08 action>", "")

	slow := controller{w, "ddi-11", "box:ddi-11"} // it still runs the old version, with the new one on disk
	w.do(created, "olga", "PUT /api/edges/ddi-11", onChannel("gateway-d", "stable", ""))
	slow.base()
	slow.runs("1.0.0")
	path := slow.base()
	slow.says(path, "proceeding", "none", "All Chunks Installed.")
	slow.runs(`1.0.0\n`)
}

// tokens gives boxes and a gateway tokens, replaces them and ends them.
func (w *world) tokens() {
	set := func(kind boxtoken.Prefix, subject, path, name string) string {
		w.token(kind, subject, name)
		w.do(done, "olga", "PUT "+path, `{"tokenSha256":"<`+name+` sha256>"}`)
		return "token:" + name
	}
	for _, id := range []string{"box-31", "box-32", "box-33"} {
		w.do(created, "olga", "PUT /api/edges/"+id, onChannel("gateway-d", "stable", ""))
		first := controller{w, id, set(boxtoken.Box, id, "/api/edges/"+id+"/token", "first token of "+id)}
		first.base()
		if id != "box-31" {
			set(boxtoken.Box, id, "/api/edges/"+id+"/token", "second token of "+id)
			first.base()
		}
	}
	w.do(done, "olga", "DELETE /api/edges/box-33/token", "")
	w.do(created, "olga", "PUT /api/edges/box-34", onChannel("gateway-d", "stable", ""))
	for _, organization := range []string{"acme", "rival", "third"} {
		set(boxtoken.Gateway, organization, "/api/organizations/"+organization+"/gateway-token", "first token of "+organization)
	}
	gateway := controller{w, "box-34", "token:first token of acme"}
	gateway.base()
	w.do(http.StatusUnauthorized, "token:first token of acme", "GET /api/ddi/acme/controller/v1/box-31", "")
	set(boxtoken.Gateway, "acme", "/api/organizations/acme/gateway-token", "second token of acme")
	gateway.base()
	for _, organization := range []string{"fourth", "third"} {
		set(boxtoken.Gateway, organization, "/api/organizations/"+organization+"/gateway-token", "second token of "+organization)
		w.do(done, "olga", "DELETE /api/organizations/"+organization+"/gateway-token", "")
	}
	set(boxtoken.Gateway, "fourth", "/api/organizations/fourth/gateway-token", "third token of fourth")
}
