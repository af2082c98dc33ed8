package command_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/operator/run"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

// noCommand lists the operations for people that no command calls, and why.
var noCommand = map[string]string{
	"copilot":                 "what it forwards, and to which paths, is between the assistant and the program that a person talks to it with",
	"put-method-confirmation": "confirm-method-machines does the same, for one machine as for many",
}

// forPeople reports whether people may call an operation. The other roles are those of boxes, programs and codes.
func forPeople(op operations.Operation) bool {
	return slices.ContainsFunc(op.Roles, func(r auth.Role) bool { return r != auth.Edge && r != auth.Program && r != auth.Enrolment })
}

// TestEveryOperationForPeople_HasACommand runs a command for each operation, one after the other. It checks the calls
// that the service received and granted.
func TestEveryOperationForPeople_HasACommand(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	olga, vera := d.Owner(t), d.As(t, "vera", "wavegate", auth.PlatformOwner)
	eric, anna := d.Engineer(t, "acme"), d.Admin(t, "acme")
	const hash = "6deff27d5384b3f21add1fe9e186d2a5da492550f98c62f83f3ec47fc2347145"
	words := map[string]string{
		"{content}": d.file("content.json", pressed),
		"{policy}":  d.file("policy.json", "// a second person looks\n"+`{"approvals":{"before":[10]}}`),
		"{image}":   d.file("image.swu", "abc"), "{sum}": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"{boxes}": d.file("boxes.csv", csv(3)), "{serials}": d.file("serials.csv", "edgeId\nSN-1\n"), "{tokens}": d.dir + "/tokens", "{dossier}": d.dir + "/dossier.zip",
		"{sbom}": d.file("bom.json", `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"type":"library","name":"lodash","purl":"pkg:npm/lodash@4.17.20"}]}`),
	}
	granted := map[string]bool{}
	d.answered = func(r *http.Request, status int) {
		if op, _, ok := run.OperationOf(r.Method, r.URL.EscapedPath()); ok && status < 300 {
			granted[op.ID] = true
		}
	}
	// made remembers what a command made.
	made := func(name, line, field string) {
		r := d.does(append(strings.Fields(line), "--json")...).is(run.Done)
		var list struct{ Items []map[string]any }
		err := json.Unmarshal([]byte(r.out), &list)
		expect.Must(t, err == nil && len(list.Items) != 0, "%s: %v, %s", line, err, r.out)
		words[name], _ = list.Items[0][field].(string)
	}
	for _, step := range []struct {
		by              *harness.Caller
		operation, line string
		then            func(out string)
	}{
		{by: olga, operation: "put-factory", line: "factories set munich-1 --organization acme --name Munich --yes"},
		{by: anna, operation: "put-factory", line: "factories windows munich-1 --time-zone Europe/Berlin --window 04:00-03:00 --yes"},
		{by: anna, operation: "put-factory", line: "factories pause munich-1 --days 1 --reason stocktaking --yes"},
		{by: anna, operation: "put-factory", line: "factories unpause munich-1 --yes"},
		{by: olga, operation: "put-factory", line: "factories windows munich-1 --always --yes"},
		{by: olga, operation: "get-factory", line: "factories show munich-1"},
		{by: olga, operation: "list-factories", line: "factories list --organization acme"},
		{by: anna, operation: "list-factory-audit-events", line: "factories log munich-1"},
		{by: anna, operation: "export-organization", line: "export acme"},
		{by: eric, operation: "put-machine", line: "machines set munich-1 press-1 --name Press --class press --yes"},
		{by: eric, operation: "get-machine", line: "machines show munich-1 press-1"},
		{by: eric, operation: "list-machines", line: "machines list munich-1"},
		{by: eric, operation: "put-product", line: "products set munich-1 7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11 --name Housing --number 4711 --status retired --yes"},
		{by: eric, operation: "get-product", line: "products show munich-1 7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11"},
		{by: eric, operation: "list-products", line: "products list munich-1"},
		{by: eric, operation: "create-production-method",
			line: "methods create munich-1 --product 7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11 --name Pressing --yes",
			then: func(string) {
				made("{method}", "methods list munich-1", "methodId")
				words["{version}"] = words["{method}"] + ":1"
			}},
		{by: eric, operation: "get-production-method", line: "methods show munich-1 {method}"},
		{by: eric, operation: "list-production-methods", line: "methods list munich-1 --product 7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11"},
		{by: eric, operation: "put-method-content", line: "methods save munich-1 {method} 1 {content} --yes"},
		{by: eric, operation: "get-method-content", line: "methods content munich-1 {method} 1"},
		{by: eric, operation: "get-method-version", line: "methods show munich-1 {method} 1"},
		{by: eric, operation: "list-method-versions", line: "methods versions munich-1 {method}"},
		{by: eric, operation: "get-method-changes", line: "methods diff munich-1 {method} 1 --since 1"},
		{by: eric, operation: "update-method-version", line: "methods submit munich-1 {method} 1 --reason ready"},
		{by: eric, operation: "list-method-machines", line: "methods machines munich-1 {method} 1"},
		{by: eric, operation: "get-machine-methods", line: "machines methods munich-1 press-1"},
		{by: anna, operation: "update-method-version", line: "methods release munich-1 {method} 1 --reason good --confirm {version}"},
		{by: anna, operation: "update-method-version", line: "methods withdraw munich-1 {method} 1 --reason bad --confirm {version}"},
		{by: eric, operation: "confirm-method-machines", line: "methods confirm munich-1 {method} 1 press-1 --reason removed --confirm press-1"},
		{by: eric, operation: "update-production-method", line: "methods rename munich-1 {method} Pressing --yes"},
		{by: eric, operation: "get-machine-content", line: "machines content munich-1 press-1 Pressing 1"},

		{by: olga, operation: "publish-release",
			line: "publish gateway-x/stable 1.0.0 --url https://artifacts.example/1.0.0 --sha256 " + digest("a") +
				" --confirm gateway-x/stable"},
		{by: olga, operation: "publish-release",
			line: "publish gateway-x/canary 1.1.0 --url https://artifacts.example/1.1.0 --sha256 " + digest("b") +
				" --confirm gateway-x/canary"},
		{by: olga, operation: "put-artifact", line: "upload {image} --edge-type gateway-x"},
		{by: olga, operation: "update-artifact", line: "publish gateway-x/beta 1.2.0 --file {content} --confirm gateway-x/beta"},
		{by: olga, operation: "get-artifact", line: "artifacts show gateway-x {sum}"},
		{by: olga, operation: "list-artifacts", line: "artifacts list --edge-type gateway-x"},
		{by: olga, operation: "delete-artifact", line: "artifacts delete gateway-x {sum} --yes"},
		{by: olga, operation: "list-release-channels", line: "status"},
		{by: olga, operation: "get-release-channel", line: "status gateway-x/stable"},
		{by: olga, operation: "register-edges", line: "register {boxes} --yes"},
		{by: olga, operation: "put-edge", line: "box set box-0001 --factory munich-1 --yes"},
		{by: olga, operation: "put-edge", line: "pin box-0001 1.0.0 --reason test --allow-downgrade --yes"},
		{by: olga, operation: "list-edges", line: "pins gateway-x/stable"},
		{by: olga, operation: "put-edge", line: "unpin box-0001 --yes"},
		{by: olga, operation: "get-edge", line: "box show box-0001"},
		{by: olga, operation: "list-edges", line: "boxes gateway-x/stable"},
		{by: olga, operation: "list-edge-history", line: "box history box-0001"},
		{by: olga, operation: "list-releases", line: "releases list gateway-x"},
		{by: olga, operation: "put-release", line: "releases describe gateway-x 1.0.0 --advisory CVE-2026-1 --severity high --fixed-in 1.1.0 --yes"},
		{by: olga, operation: "put-release-components", line: "releases describe gateway-x 1.0.0 --sbom {sbom} --yes"},
		{by: olga, operation: "list-components", line: "releases contain pkg:npm/lodash@<4.17.21"},
		{by: olga, operation: "get-release", line: "releases show gateway-x 1.0.0"},
		{by: olga, operation: "list-release-edges", line: "releases boxes gateway-x 1.0.0"},
		{by: olga, operation: "list-edges", line: "dossier gateway-x 1.0.0 --out {dossier}"},
		{by: olga, operation: "get-manifest", line: "box manifest box-0001"},
		{by: olga, operation: "get-channel-progress", line: "versions gateway-x/stable"},
		{by: olga, operation: "get-update-why", line: "why box-0001"},

		{by: olga, operation: "start-rollout", line: "start gateway-x/stable 1.1.0 --yes",
			then: func(string) { made("{rollout}", "rollouts list gateway-x/stable", "id") }},
		{by: olga, operation: "update-rollout", line: "urgent gateway-x/stable --reason hole --confirm gateway-x/stable"},
		{by: olga, operation: "list-rollouts", line: "rollouts list --status active"},
		{by: olga, operation: "get-rollout", line: "rollouts show {rollout}"},
		{by: olga, operation: "get-overview", line: "status"},
		{by: olga, operation: "get-rollout-progress", line: "rollouts progress {rollout}"},
		{by: olga, operation: "list-rollout-history", line: "rollouts history {rollout}"},
		{by: olga, operation: "list-rollout-edges", line: "rollouts boxes {rollout} --state failed"},
		{by: olga, operation: "get-rollout-policy", line: "policy show {rollout}"},
		{by: olga, operation: "put-rollout-policy", line: "policy set gateway-x/stable {policy} --yes"},
		{by: vera, operation: "approve-rollout-stage", line: "approve gateway-x/stable --yes"},
		{by: olga, operation: "update-rollout", line: "halt gateway-x/stable"},
		{by: olga, operation: "update-rollout", line: "seen gateway-x/stable --yes"},
		{by: olga, operation: "list-audit-events", line: "log"},
		{by: anna, operation: "get-organization-fleet", line: "status"},
		{by: anna, operation: "get-organization-rollout", line: "status gateway-x/stable"},
		{by: anna, operation: "list-rollout-edges", line: "boxes gateway-x/stable --state failed"},
		{by: anna, operation: "list-edges", line: "boxes gateway-x/stable"},
		{by: anna, operation: "get-update-why", line: "why box-0001"},
		{by: anna, operation: "list-audit-events", line: "log box-0001"},

		{by: olga, operation: "put-edge-type", line: "labels gateway-x alike --attribute sw_version --yes"},
		{by: olga, operation: "get-edge-type", line: "labels gateway-x"},
		{by: olga, operation: "put-freeze", line: "freeze --for 1h --reason stocktaking --yes"},
		{by: olga, operation: "get-freeze", line: "freeze show"},
		{by: olga, operation: "delete-freeze", line: "unfreeze --yes"},
		{by: olga, operation: "put-rate-limit", line: "limit set acme --organization --calls 1200"},
		{by: olga, operation: "get-rate-limit", line: "limit get acme --organization"},
		{by: olga, operation: "delete-rate-limit", line: "limit end acme --organization"},
		{by: eric, operation: "get-my-rate-limits", line: "whoami"},

		{by: olga, operation: "put-edge-token", line: "tokens renew box-0001 --make-tokens {tokens} --yes"},
		{by: olga, operation: "delete-edge-token", line: "tokens delete box-0001 --confirm box-0001"},
		{by: olga, operation: "put-gateway-token", line: "gateway-token set acme --sha256 " + hash + " --yes"},
		{by: olga, operation: "delete-gateway-token", line: "gateway-token delete acme --confirm acme"},
		{by: olga, operation: "delete-edge", line: "retire box-0003 --yes"},

		{by: olga, operation: "create-edge-enrolment",
			line: "enrol create --file {serials} --channel gateway-x/stable --organization acme --yes", then: func(out string) {
				words["{enrolment}"], _, _ = strings.Cut(out, ":")
				code := d.file("code", out)
				d.does(d.redeem(code, "SN-1")...).is(run.Done)
				d.does(d.redeem(code, "SN-2")...).is(run.Otherwise) // it waits
				_, token := d.token("SN-2")
				words["{fingerprint}"] = token.SHA256
			}},
		{by: olga, operation: "list-edge-enrolments", line: "enrol list --organization acme"},
		{by: olga, operation: "get-edge-enrolment", line: "enrol show {enrolment}"},
		{by: olga, operation: "accept-edge-enrolment", line: "enrol accept {enrolment} SN-2 {fingerprint} --yes"},
		{by: olga, operation: "reset-edge-enrolment", line: "enrol reset {enrolment} SN-1 --confirm SN-1"},
		{by: olga, operation: "delete-edge-enrolment", line: "enrol delete {enrolment} --yes"},
	} {
		line := strings.Fields(step.line)
		for i, word := range line {
			if value, is := words[word]; is {
				line[i] = value
			}
		}
		d.by(step.by)
		delete(granted, step.operation)
		r := d.does(line...).is(run.Done)
		expect.That(t, granted[step.operation], "wavegate %s does not call %s", step.line, step.operation)
		if step.then != nil {
			step.then(r.out)
		}
	}
	for id := range noCommand {
		table.Get(id) // it panics if there is none
	}
	for _, op := range table.All {
		if why, none := noCommand[op.ID]; forPeople(op) && granted[op.ID] == none {
			t.Errorf("%s: a command called it: %t; none is to, because %q", op.ID, granted[op.ID], why)
		}
	}
}
