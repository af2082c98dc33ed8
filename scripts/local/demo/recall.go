package demo

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
)

// A recall is a withdrawn version of a production method, and the machines that have not reported that they stopped.
type recall struct {
	version string // its path
	open    []string
}

const (
	presses   = 8
	confirmed = 5 // the others do not report
	plant     = "/api/factories/plant-01"

	content = `{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"steps":[{"id":"10","name":"Press","equipment":{"class":"press"},` +
		`"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}},"outputs":[{"material":"HOUSING","quantity":1,"unit":"{piece}"}]}]}`
)

// recall plays the life of a production method until eric withdraws it. The first machines stop and report it.
func (d *demo) recall(ctx context.Context) (r recall, err error) {
	step := func(by devissuer.Claims, method, at, body string, into any) (header http.Header) {
		if err == nil {
			header, err = d.call(ctx, by, method, at, body, into)
		}
		return header
	}
	box := func(i int) devissuer.Claims { // boxes are spread over the factories
		return person(fmt.Sprintf("%s%04d", stories[0].prefix(), (i-1)*plants+1), "", auth.Edge)
	}
	for i := 1; i <= presses; i++ {
		machine := fmt.Sprintf(`{"name":"Press %d","classes":["press"]`, i)
		at := fmt.Sprintf("%s/machines/press-%d", plant, i)
		step(eric, http.MethodPut, at, machine+fmt.Sprintf(`,"edgeId":%q}`, box(i).User), nil)
	}
	method := plant + "/production-methods/" + path.Base(step(eric, http.MethodPost, plant+"/production-methods",
		`{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Press housings"}`, nil).Get("Location"))
	r.version = method + "/versions/1"
	step(eric, http.MethodPut, r.version+"/content", content, nil)
	step(eric, http.MethodPatch, r.version, `{"status":"in_review","reason":"New die"}`, nil)
	hash := step(anna, http.MethodGet, r.version+"/content", "", nil).Get("ETag")
	step(anna, http.MethodPatch, r.version, `{"status":"released","reason":"Measured","contentSha256":`+hash+`}`, nil)
	report := func(i int, state string) {
		at := fmt.Sprintf("%s/machines/press-%d/methods/%s/report", plant, i, path.Base(method))
		step(box(i), http.MethodPut, at, fmt.Sprintf(`{"version":1,"contentSha256":%s,"state":%q,"order":"PO-1001"}`, hash, state), nil)
	}
	for i := 1; i <= presses; i++ {
		report(i, "running")
	}
	step(eric, http.MethodPatch, r.version, `{"status":"withdrawn","reason":"Cracks at the hinge","orders":"stop"}`, nil)
	for i := 1; i <= confirmed; i++ {
		report(i, "finished")
	}
	var left struct{ Items []struct{ Machine string } }
	step(eric, http.MethodGet, r.version+"/machines?clear=false", "", &left)
	for _, m := range left.Items {
		r.open = append(r.open, m.Machine)
	}
	return r, err
}

// list returns the command that lists the machines.
func (d *demo) list(r recall) string {
	return strings.Join([]string{`curl -s -H "Authorization: Bearer $(./scripts/token --user eric --org acme --role production_engineer)" \`,
		`    "` + d.url + r.version + `/machines?clear=false"`}, "\n")
}
