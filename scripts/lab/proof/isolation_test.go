package proof

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/operations"
	"wavegate/shared/operations/door"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
)

// TestIsolation_ResourceOfAnotherOrganization_LooksTheSameWhetherItExists makes each operation's sample call as every
// caller who is not allowed to, in two worlds. In one world, everything in the call exists and belongs to acme. The
// other world is empty. Every answer is 401, 403 or 404, byte for byte the same in both worlds, and nothing is
// written. The same holds at the door, where every caller but a box with its own token gets 401.
func TestIsolation_ResourceOfAnotherOrganization_LooksTheSameWhetherItExists(t *testing.T) {
	t.Parallel()
	full, empty := harness.New(t, freshPolls, harness.WithDoor()), harness.New(t, freshPolls, harness.WithDoor())
	calls := full.Samples(t)
	fullClients, emptyClients := clients(t, full.Target), clients(t, empty.Target)
	before := []string{full.State(t), empty.State(t)}
	made, answers := 0, map[int]int{}
	for n, op := range table.All {
		fulls, empties := append(everyone(t, full.Target, op.ID), fullClients...), append(everyone(t, empty.Target, op.ID), emptyClients...)
		for i, p := range fulls {
			if entitled(p, op) {
				continue
			}
			for h, header := range [][]string{nil, {"If-Match", `"1"`}, {"If-None-Match", `"1"`}, {"Idempotency-Key", "k"}} {
				if (n+i)%4 != h && count(t, "PROOF_HEADERS", 1, 4) < 4 {
					continue // one set of headers for each; all of them in the longer run
				}
				for _, c := range under(p, calls[op.ID]) {
					name := fmt.Sprintf("%s %s as %s %v of %q, with %q", op.ID, c.Path, p.UserID, p.Roles, p.OrganizationID, header)
					a, b := send(t, p, c, header), send(t, empties[i], c, header)
					made += 2
					answers[a.Status]++
					checkForeign(t, name, p, op, a)
					x, y := comparable(a), comparable(b)
					if p.Issuer == gatewayTokens { // its limit is that of its own boxes, which are not in the other world
						x, y = quota.ReplaceAllString(x, ""), quota.ReplaceAllString(y, "")
					}
					if x != y {
						t.Errorf("%s:\nwhere it exists       %s\nwhere there is nothing %s", name, x, y)
					}
					if slices.ContainsFunc(door.Takes, func(takes operations.Operation) bool { return takes.ID == op.ID }) {
						made += 2
						x, y := knock(t, full, p, c, header), knock(t, empty, empties[i], c, header)
						if want := map[bool]string{true: "404", false: "401"}[p.Issuer == boxTokens]; x != y || !strings.HasPrefix(x, want) {
							t.Errorf("%s, at the door:\nwhere it exists       %s\nwhere there is nothing %s", name, x, y)
						}
					}
				}
			}
		}
	}
	if after := []string{full.State(t), empty.State(t)}; !slices.Equal(after, before) {
		t.Errorf("something was written:\nbefore %s\nafter  %s", before, after)
	}
	t.Logf("%d calls of %d operations, answered with %v", made, len(table.All), answers)
}

// quota is the limit of a caller in an answer.
var quota = regexp.MustCompile(`"user";q=\d+;w=60`)

// freshPolls lets a poll see the previous call's change immediately.
func freshPolls(o *service.Options) {
	o.Environment = func(string) []string { return []string{"CHANNEL_CACHE_SECONDS=0"} }
}

// checkForeign checks an answer to a caller who is not allowed to call: 401 without a token, 403 without the role,
// otherwise 404.
func checkForeign(t *testing.T, name string, p person, op operations.Operation, a harness.Answer) {
	t.Helper()
	want := problem.NotFound
	switch {
	case p.nobody():
		want = problem.Unauthenticated
	case !p.Has(op.Roles...):
		want = problem.Forbidden
	case slices.Contains([]string{"list-factories", "list-edges", "list-audit-events", "list-release-edges"}, op.ID) && a.Status == http.StatusOK:
		// The exceptions are the caller's own factories, boxes of a channel and events. These lists are empty.
		if text := string(a.Body); !strings.Contains(text, `"items":[]`) || strings.Contains(text, "munich") {
			t.Errorf("%s: is shown %s", name, text)
		}
		return
	}
	d, err := a.Problem()
	if err != nil || d.Code != want || a.Status != problem.ClassOf(want).Status {
		t.Errorf("%s: answered %d %s, want %s", name, a.Status, a.Body, want)
	}
}

// everyone is one caller of each kind: with every role and with several, in acme, in another
// organization and in none; boxes; and one without a token.
func everyone(t *testing.T, target harness.Target, operation string) []person {
	t.Helper()
	all := []person{{caller: target.Nobody()}}
	add := func(issuer, user, organization string, roles ...auth.Role) {
		all = append(all, person{
			Principal: auth.Principal{Issuer: issuer, UserID: user, OrganizationID: organization, Roles: roles},
			caller:    target.As(t, user, organization, roles...),
		})
	}
	person := []auth.Role{auth.PlatformOwner, auth.OrganizationAdmin, auth.ProductionEngineer}
	for _, organization := range []string{"acme", "rival", ""} {
		for set := range 1 << len(person) {
			var roles []auth.Role
			for i, role := range person {
				if set>>i&1 == 1 {
					roles = append(roles, role)
				}
			}
			add(devissuer.People, fmt.Sprintf("person-%d-%s", set, operation), organization, roles...)
		}
	}
	for _, organization := range []string{"acme", "rival"} {
		add(devissuer.People, "viewer-"+operation, organization, auth.FleetViewer)
		add(devissuer.People, "watcher-"+operation, organization, auth.PlatformViewer)
		add(devissuer.People, "installer-"+operation, organization, auth.FleetInstaller)
	}
	add(devissuer.Programs, harness.Program, "", auth.Program)
	add(devissuer.Fleet, "box-0001", "", auth.Edge)
	add(devissuer.Fleet, "box-0002", "", auth.Edge)
	return all
}

// The tests' names for the issuers of tokens that the service gave out.
const (
	boxTokens     = "box tokens"
	gatewayTokens = "gateway tokens"
)

// clients are DDI clients with tokens that the service gave out: a box of another organization, its gateway, the gateway
// of an organization that is named like a box of acme, and acme's own gateway. They are in both worlds.
func clients(t *testing.T, target harness.Target) []person {
	t.Helper()
	call := func(operation string, with samples.Values) harness.Answer {
		c := samples.Of(operation).Call(samples.Fixed(), samples.Case{With: with})
		return target.Make(t, c).Is(t, c.Status)
	}
	client := func(issuer, scheme, user, organization, operation string, with samples.Values) person {
		kind, subject := boxtoken.Box, user
		if issuer == gatewayTokens {
			kind, subject = boxtoken.Gateway, organization
		}
		token, made := boxtoken.New(kind, subject)
		with = maps.Clone(with)
		with["tokenSha256"] = made.SHA256
		call(operation, with)
		return person{
			Principal: auth.Principal{Issuer: issuer, UserID: user, OrganizationID: organization, Roles: []auth.Role{auth.Edge}},
			caller:    &harness.Caller{URL: target.URL, Bearer: scheme + " " + token},
		}
	}
	rival := samples.Values{"edgeId": "box-rival", "edgeType": "camera-y", "organization": "rival"}
	call("put-edge", rival)
	all := []person{client(boxTokens, "TargetToken", "box-rival", "rival", "put-edge-token", rival)}
	for _, o := range []string{"rival", "box-0001", "acme"} {
		all = append(all, client(gatewayTokens, "GatewayToken", "gateway of "+o, o, "put-gateway-token", samples.Values{"organizationId": o}))
	}
	return all
}

// ofController reports whether the operation is one of DDI clients.
func ofController(op operations.Operation) bool { return strings.Contains(op.Path, "{controllerId}") }

// ofAdmins reports whether the operation is for admins, on an organization's resources other than factories.
func ofAdmins(op operations.Operation) bool { return slices.Contains(op.Roles, auth.OrganizationAdmin) }

// under returns the sample's call, and for a DDI client also the same call under its own organization.
func under(p person, c samples.Call) []samples.Call {
	calls := []samples.Call{c}
	if tenant := c.Parameters["tenant"]; tenant != "" && p.OrganizationID != "" && p.OrganizationID != tenant {
		c.Path = strings.Replace(c.Path, "/ddi/"+tenant+"/", "/ddi/"+p.OrganizationID+"/", 1)
		calls = append(calls, c)
	}
	return calls
}

// entitled reports whether a caller may use an operation on what acme owns.
func entitled(p person, op operations.Operation) bool {
	if p.nobody() || !p.Has(op.Roles...) {
		return false
	}
	switch {
	case p.Has(auth.PlatformOwner) && slices.Contains(op.Roles, auth.PlatformOwner), p.Has(auth.PlatformViewer) && slices.Contains(op.Roles, auth.PlatformViewer):
		return true
	case ofController(op):
		return p.UserID == "box-0002" || p.Issuer == gatewayTokens && p.OrganizationID == "acme"
	case p.Has(auth.Edge) && slices.Contains(op.Roles, auth.Edge):
		return p.UserID == "box-0001" // a machine names it
	case strings.Contains(op.Path, "{factoryId}") || op.ID == "list-factories" || ofAdmins(op):
		return p.OrganizationID == "acme"
	}
	return true
}

// knock makes a call at the door of a world. Its answer is without the API's URL.
func knock(t *testing.T, w *harness.World, p person, c samples.Call, header []string) string {
	t.Helper()
	p.caller = &harness.Caller{URL: w.DoorURL, Bearer: p.caller.Bearer}
	return strings.ReplaceAll(comparable(send(t, p, c, header)), w.Target.URL, "")
}

func send(t *testing.T, p person, c samples.Call, header []string) harness.Answer {
	t.Helper()
	return p.caller.Do(t, c.Method, c.Path, c.Body, header...)
}

var requestID = regexp.MustCompile(`"requestId":"[^"]*"`)

// comparable is an answer as text, without what differs between any two answers: request ids,
// the date, and the rest of the caller's own limit.
func comparable(a harness.Answer) string {
	header := a.Header.Clone()
	for _, name := range []string{"Date", "X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id", "RateLimit"} {
		header.Del(name)
	}
	var lines []string
	for name, values := range header {
		lines = append(lines, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d %s %s", a.Status, lines, requestID.ReplaceAllString(string(a.Body), `"requestId":""`))
}
