package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
)

// A replay is what a client sends, as its source says, from its first poll until it has written a version.
// {server} stands for the server's URL, {id} for the action's number in the link, and {link} for the link.
type replay struct {
	server string // what is set as its URL, after the service's own
	finds  string // the pattern by which the client finds the action in the link
	reads  string // how it reads the action
	config string
	says   []string // its feedback
	needs  []string // paths that must be in what it reads, in the first artifact
	header []string
}

// TestDDI_RequestsOfClients_AreFollowed: of clients that the tests cannot run.
func TestDDI_RequestsOfClients_AreFollowed(t *testing.T) {
	for name, c := range map[string]replay{
		"Eclipse Hara 2.0.0": {
			server: "", finds: `deploymentBase/([0-9]+)`, reads: "{server}/acme/controller/v1/box-1/deploymentBase/{id}?actionHistory=-1",
			config: `{"id":"","time":"20140511T121314","status":{"execution":"closed","result":{"finished":"success"},"details":[]},"data":{"installed":"1.0.0"},"mode":"merge"}`,
			says: []string{
				`{"id":"{id}","time":"2026-03-01T12:00:00.000001Z","status":{"execution":"proceeding","result":{"finished":"none","progress":{"of":1,"cnt":0}},"details":["Start downloading 1 files"]}}`,
				`{"id":"{id}","time":"2026-03-01T12:00:09.000001Z","status":{"execution":"closed","result":{"finished":"success","progress":{"of":0,"cnt":0}},"details":["Details:"]}}`,
			},
			needs:  []string{"md5", "download-http"},
			header: []string{"Accept", "application/hal+json", "If-None-Match", ""},
		},
		"hawkBit's SDK device": {
			server: "/api/ddi", finds: `deploymentBase/([0-9]+)\?`, reads: "{server}/acme/controller/v1/box-1/deploymentBase/{id}?c=-1",
			config: `{"data":{"installed":"1.0.0"},"mode":"merge"}`,
			says: []string{
				`{"timestamp":1771758000000,"status":{"execution":"proceeding","result":{"finished":"none","progress":null},"code":null,"details":null}}`,
				`{"timestamp":1771758009000,"status":{"execution":"closed","result":{"finished":"success","progress":null},"code":200,"details":["Installed"]}}`,
			},
			header: []string{"Accept", "application/hal+json, application/json"},
		},
		"npm @awesomeorganization/hawkbit-ddi 0.2.0": {
			server: "", finds: `deploymentBase/([0-9]+)`, reads: "{server}/acme/controller/v1/box-1/deploymentBase/{id}",
			config: `{"data":{"installed":"1.0.0"},"mode":"merge","status":{"details":[],"execution":"closed","result":{"finished":"success"}}}`,
			says: []string{
				`{"id":"{id}","status":{"execution":"proceeding","result":{"finished":"none","progress":{"cnt":0,"of":1}}}}`,
				`{"id":"{id}","status":{"execution":"closed","result":{"finished":"success","progress":{"cnt":1,"of":1}}}}`,
			},
		},
		"PyPI rauc-hawkbit 0.2.0": {
			server: "/api/ddi", finds: `/deploymentBase/(.+)\?c=.+$`, reads: "{link}",
			config: `{"id":"","time":"20260301T120000","status":{"result":{"finished":"success"},"execution":"closed","details":[]},"data":{"installed":"1.0.0"}}`,
			says: []string{
				`{"id":"{id}","time":"20260301T120001","status":{"result":{"finished":"none","progress":{"cnt":1,"of":3}},"execution":"proceeding","details":["Downloading"]}}`,
				`{"id":"{id}","time":"20260301T120009","status":{"result":{"finished":"success","progress":{"cnt":3,"of":3}},"execution":"closed","details":["Install completed"]}}`,
			},
			needs: []string{"md5"},
		},
	} {
		t.Run(name, func(t *testing.T) { c.play(t) })
	}
}

func (c replay) play(t *testing.T) {
	w := harness.New(t, atRoot)
	owner := w.Owner(t)
	const more = `,"md5":"0123456789abcdef0123456789abcdef","artifactHttpUrl":"http://mirror.plant.example/1.1.0"}`
	owner.Put(t, channel, strings.TrimSuffix(described("1.1.0", digest("b")), "}")+more).Is(t, http.StatusCreated)
	client := plain{"TargetToken " + enrol(t, owner, "box-1"), w.Target.URL}
	server := w.Target.URL + c.server
	place := server + "/acme/controller/v1/box-1"
	var polled struct {
		Links map[string]struct{ Href string } `json:"_links"`
	}
	poll := func(link string) string {
		if err := json.Unmarshal([]byte(client.call(t, http.MethodGet, place, "", c.header...)), &polled); err != nil || polled.Links[link].Href == "" {
			t.Fatalf("%s is not in %v (%v)", link, polled, err)
		}
		return polled.Links[link].Href
	}
	if put := poll("configData"); put != place+"/configData" {
		t.Fatalf("it is asked at %s", put)
	}
	client.call(t, http.MethodPut, place+"/configData", c.config)
	link := poll("deploymentBase")
	found := regexp.MustCompile(c.finds).FindStringSubmatch(link)
	if found == nil {
		t.Fatalf("the client does not find %s in %s", c.finds, link)
	}
	fill := strings.NewReplacer("{server}", server, "{id}", found[1], "{link}", link)
	told := client.call(t, http.MethodGet, fill.Replace(c.reads), "", c.header...)
	for _, name := range c.needs {
		if !strings.Contains(told, `"`+name+`":`) {
			t.Errorf("it needs %s, and is told %s", name, told)
		}
	}
	for _, body := range c.says {
		client.call(t, http.MethodPost, place+"/deploymentBase/"+found[1]+"/feedback", fill.Replace(body))
	}
	if known := why(t, owner, "box-1"); known.Written != "1.1.0" || known.Running != "1.0.0" {
		t.Errorf("known as %+v, its report as %+v", known, known.Report)
	}
}
