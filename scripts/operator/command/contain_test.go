package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// TestContain_FromAnSBOMToTheBoxes: an SBOM whose pieces did not all arrive is searched only once it was sent again. What a VEX
// document says of the release is withdrawn, and boxes are counted by organization.
func TestContain_FromAnSBOMToTheBoxes(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	var list []string
	for i := range 700 {
		list = append(list, fmt.Sprintf(`{"type":"library","name":"n","purl":"pkg:generic/lib%d@1.%d"}`, i, i))
	}
	list = append(list, `{"type":"library","name":"lodash","purl":"pkg:npm/lodash@4.17.20"}`, `{"type":"file","name":"motd"}`)
	bom := d.file("bom.json", `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[`+strings.Join(list, ",")+`]}`)
	image := d.file("image.swu", "abc")
	const asks, found = "pkg:npm/lodash@<4.17.21", "gateway-x"
	contain := func(more ...string) result {
		return d.does(append([]string{"releases", "contain", asks}, more...)...).is(run.Done)
	}

	d.does("publish", "gateway-x/stable", "1.0.0", "--file", image, "--sbom", d.file("none.json", `{"hello":"world"}`), "--confirm", "gateway-x/stable").
		is(run.Misused).warns("it is no SBOM that is read")
	d.does("status", "gateway-x/stable").is(run.Refused) // nothing was published

	pieces := 0
	d.answers = func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.Path, "/components/") {
			if pieces++; pieces == 2 {
				return answer(r, http.StatusForbidden, `{"code":"FORBIDDEN","status":403,"detail":"not you"}`, "Content-Type", "application/problem+json"), nil
			}
		}
		return nil, nil
	}
	r := d.does("publish", "gateway-x/stable", "1.0.0", "--file", image, "--sbom", bom, "--confirm", "gateway-x/stable")
	expect.Must(t, r.code != run.Done, "a publication whose SBOM did not arrive exits with 0: %s%s", r.out, r.err)
	r.warns("piece 2 of the components of 1.0.0", "wavegate releases describe gateway-x 1.0.0 --sbom")
	d.answers = nil
	d.does("releases", "show", "gateway-x", "1.0.0").is(run.Done).says("incomplete")
	contain().warns("no release whose SBOM is complete contains pkg:npm/lodash")
	d.does("releases", "describe", "gateway-x", "1.0.0", "--sbom", bom, "--yes").is(run.Done).warns("knows 701 components of 1.0.0; 1 parts have no package URL")

	d.does("register", d.file("boxes.csv", csv(1)), "--yes").is(run.Done)
	d.Box(t, "box-0001").Get(t, "/api/edges/box-0001/update/manifest?installed=1.0.0").Is(t, http.StatusOK)
	contain("--boxes").says(found, "4.17.20", "yes", "acme", "1 ever")
	d.does("releases", "contain", "pkg:npm/lodash@>=4.17.21").is(run.Done).warns("(1 versions in all)")
	d.does("releases", "contain", "pkg:generic/lib7@<2").is(run.Done).says("unknown").warns("nothing orders the versions of pkg:generic/lib7")
	d.does("releases", "contain", "npm/lodash").is(run.Misused)

	vex := func(version string) string {
		return d.file("vex.json", `{"@context":"https://openvex.dev/ns/v0.2.0","@id":"https://x.example/vex","author":"x","timestamp":"2026-01-01T00:00:00Z","version":1,"statements":[
			{"vulnerability":{"name":"CVE-2021-23337"},"products":[{"@id":"pkg:generic/gateway-x@`+version+`"}],"status":"not_affected","justification":"vulnerable_code_not_present"}]}`)
	}
	d.does("releases", "describe", "gateway-x", "1.0.0", "--vex", vex("0.9.0"), "--yes").is(run.Misused).warns("says nothing about gateway-x 1.0.0")
	d.does("releases", "describe", "gateway-x", "1.0.0", "--vex", vex("1.0.0"), "--yes").is(run.Done)
	contain("--advisory", "CVE-2021-23337").says("withdrawn: not_affected; vulnerable_code_not_present")
	contain("--advisory", "CVE-2021-1").says("yes")
}
