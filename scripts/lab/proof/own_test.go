package proof

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A shared is a channel on which acme has six boxes, and a rollout that reaches all of them: two have it, and one failed.
type shared struct {
	*harness.World
	owner   *harness.Caller
	rollout string // its path
}

func newShared(t *testing.T) shared {
	t.Helper()
	s := shared{World: harness.New(t, freshPolls)}
	s.owner = s.Owner(t)
	for channel, version := range map[string]string{"stable": "1.0.0", "canary": "1.1.0"} {
		s.owner.Put(t, "/api/ota/release-channels/gateway-x/"+channel, fmt.Sprintf(
			`{"currentVersion":%q,"artifactUrl":"https://artifacts.example/%s.tar.gz","sha256":%q,"order":%d}`, version, version, strings.Repeat(version[2:3], 64),
			1+version[2]-'0')).Is(t, http.StatusCreated)
	}
	s.registers(t, "acme")
	s.rollout = s.owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0","policy":null}`).Made(t)
	return s
}

// promoted raises the rollout to everyone.
func (s shared) promoted(t *testing.T) {
	t.Helper()
	for _, percent := range []int{10, 50, 100} {
		s.owner.Patch(t, s.rollout, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
	}
}

// registers registers six boxes of an organization.
func (s shared) registers(t *testing.T, organization string) {
	t.Helper()
	for i := range 6 {
		s.owner.Put(t, boxOf(organization, i), fmt.Sprintf(`{"edgeType":"gateway-x","channel":"stable","organizationId":%q}`, organization)).Is(t, http.StatusCreated)
	}
}

// updates has all boxes of an organization told the rollout's version; two install it, and one fails.
func (s shared) updates(t *testing.T, organization string) {
	t.Helper()
	for i := range 6 {
		box := s.Box(t, fmt.Sprintf("box-%s-%d", organization, i))
		box.Get(t, boxOf(organization, i)+"/update/manifest?installed=1.0.0").Is(t, http.StatusOK)
		switch i {
		case 0, 1:
			box.Get(t, boxOf(organization, i)+"/update/manifest?installed=1.1.0").Is(t, http.StatusOK)
		case 2:
			box.Put(t, boxOf(organization, i)+"/update/report", `{"version":"1.1.0","attempt":1,"outcome":"failed","code":"boot"}`).Is(t, http.StatusOK)
		}
	}
}

func boxOf(organization string, i int) string {
	return fmt.Sprintf("/api/edges/box-%s-%d", organization, i)
}

// lives has an organization do all that it can do on the channel.
func (s shared) lives(t *testing.T, organization string) {
	t.Helper()
	admin, soon := s.Admin(t, organization), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	s.owner.Put(t, "/api/factories/works-of-"+organization, fmt.Sprintf(`{"organizationId":%q,"name":"Works"}`, organization)).Is(t, http.StatusCreated)
	admin.Put(t, boxOf(organization, 3), fmt.Sprintf(
		`{"edgeType":"gateway-x","channel":"stable","organizationId":%q,"factoryId":"works-of-%s","attributes":{"board":"C"}}`, organization, organization)).Is(t, http.StatusNoContent)
	admin.Put(t, boxOf(organization, 4), fmt.Sprintf(
		`{"edgeType":"gateway-x","channel":"stable","organizationId":%q,"pin":{"version":"1.0.0","until":%q,"reason":"a test","allowDowngrade":true}}`, organization, soon)).Is(t, http.StatusNoContent)
	admin.Do(t, http.MethodDelete, boxOf(organization, 5), "").Is(t, http.StatusNoContent)
	admin.Post(t, "/api/edge-enrolments", fmt.Sprintf(`{"edgeType":"gateway-x","channel":"stable","organizationId":%q,"edgeIds":["late-%s"],"expiresAt":%q}`,
		organization, organization, soon)).Is(t, http.StatusCreated)
	s.owner.Put(t, "/api/rate-limits/organizations/"+organization, `{"limit":5000,"reason":"a test"}`).Is(t, http.StatusCreated)
}

// reads are the paths of everything that a reader of acme may ask for, about acme, about a rival, and about nothing.
func (s shared) reads() []string {
	paths := []string{
		"/api/edges?organizationId=acme&limit=2", "/api/edges?edgeType=gateway-x&channel=stable&limit=2",
		"/api/edges?organizationId=acme&edgeType=gateway-x&channel=stable&pinned=true&limit=1",
		"/api/edges?edgeType=gateway-x&channel=stable&attribute=board:C", "/api/edges?organizationId=rival",
		"/api/audit-events?limit=2", "/api/audit-events?resourceType=edge&limit=2", "/api/audit-events?resourceType=edge&resourceId=box-acme-0",
		"/api/audit-events?resourceType=edge&resourceId=box-rival-0", "/api/audit-events?resourceType=rollout&resourceId=" + s.id(),
		"/api/edge-enrolments?limit=1", "/api/edge-enrolments?organizationId=rival",
		"/api/organizations/acme/fleet?fresh=true", "/api/organizations/rival/fleet?fresh=true",
		"/api/organizations/acme/rollouts/" + s.id(), "/api/organizations/rival/rollouts/" + s.id(),
	}
	for _, state := range []string{"offered", "installed", "failed"} {
		paths = append(paths, s.rollout+"/edges?limit=1&state="+state)
	}
	for _, box := range []string{"box-acme-0", "box-acme-2", "box-acme-4", "box-rival-0", "box-rival-2", "box-nobody"} {
		paths = append(paths, "/api/edges/"+box, "/api/edges/"+box+"/update/why", "/api/edges/"+box+"/history")
	}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		release := "/api/ota/releases/gateway-x/" + version
		paths = append(paths, release, release+"/edges?limit=1", release+"/edges?organizationId=rival")
	}
	for _, organization := range []string{"acme", "rival"} {
		factory := "/api/factories/works-of-" + organization
		paths = append(paths, "/api/factories?organizationId="+organization, factory, factory+"/audit-events", factory+"/machines", factory+"/products",
			factory+"/production-methods", "/api/factories?limit=1")
	}
	return paths
}

func (s shared) id() string { return s.rollout[strings.LastIndex(s.rollout, "/")+1:] }

// walk reads a path and all pages after it, as text without what differs between any two worlds.
func walk(t *testing.T, c *harness.Caller, path string) (text string) {
	t.Helper()
	for path != "" {
		a := c.Get(t, path)
		text += plain(t, path) + "\n" + plain(t, comparable(a)) + "\n"
		next, _ := a.Object(t)["next"].(string)
		path = next
	}
	return text
}

var (
	cursors = regexp.MustCompile(`cursor=[A-Za-z0-9_-]+`)
	uuids   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	times   = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z`)
	tags    = regexp.MustCompile(`Etag: [^ \]]*`)
)

// plain replaces times and made ids by placeholders, and opens cursors: their positions are part of what a caller learns.
func plain(t *testing.T, text string) string {
	t.Helper()
	text = cursors.ReplaceAllStringFunc(text, func(cursor string) string {
		b := expect.Value(base64.RawURLEncoding.DecodeString(strings.TrimPrefix(cursor, "cursor=")))(t)
		return "cursor=" + string(b[17:]) // after the version and the seal
	})
	return tags.ReplaceAllString(times.ReplaceAllString(uuids.ReplaceAllString(text, "ID"), "TIME"), "")
}

// TestIsolation_OwnFleet_IsTheSameWhateverOthersDo: a rival has boxes on acme's channel and in its rollout, which install,
// fail, are moved, pinned and retired. What acme's readers are shown does not depend on it, byte for byte, and nothing of it
// names the rival.
func TestIsolation_OwnFleet_IsTheSameWhateverOthersDo(t *testing.T) {
	t.Parallel()
	alone, beside := newShared(t), newShared(t)
	beside.registers(t, "rival")
	alone.promoted(t)
	beside.promoted(t)
	beside.updates(t, "rival")
	alone.updates(t, "acme")
	beside.updates(t, "acme")
	beside.lives(t, "rival")
	alone.lives(t, "acme")
	beside.lives(t, "acme")
	for _, role := range []auth.Role{auth.OrganizationAdmin, auth.FleetViewer} {
		a, b := alone.As(t, "reader", "acme", role), beside.As(t, "reader", "acme", role)
		paths := beside.reads()
		for i, path := range alone.reads() {
			x, y := walk(t, a, path), walk(t, b, paths[i])
			expect.That(t, x == y, "%s, as %s: alone\n%s\nbeside a rival\n%s", path, role, x, y)
			if shown := strings.ReplaceAll(y, plain(t, path), ""); strings.Contains(shown, "rival") && !strings.Contains(path, "rival") {
				t.Errorf("%s, as %s, names the rival: %s", path, role, y)
			}
		}
		own := walk(t, b, "/api/organizations/acme/fleet?fresh=true")
		if !strings.Contains(own, "Of the organization's 5 boxes there, it reaches") || !strings.Contains(own, `"failures":{"boot":1}`) {
			t.Errorf("acme's fleet is %s", own)
		}
	}
}

// TestIsolation_EveryRead_IsTheSameWithoutARival: in one of two worlds, a rival has made what the samples of all operations
// need, with names of its own. Each read of what is acme's, by acme's people and boxes, answers the same in both.
func TestIsolation_EveryRead_IsTheSameWithoutARival(t *testing.T) {
	t.Parallel()
	alone, beside := harness.New(t, freshPolls), harness.New(t, freshPolls)
	rival := samples.Fresh(harness.Name)
	rival["organization"] = "rival"
	others := beside.Session(t, rival)
	for _, s := range samples.All {
		others.Call(t, s.Operation)
	}
	a, b := alone.Samples(t), beside.Samples(t)
	read, answers := 0, map[int]int{}
	for _, op := range table.All {
		if op.Method != http.MethodGet || op.ID == "get-freeze" { // which holds for all organizations
			continue
		}
		callers := []samples.Caller{samples.Admin, samples.Engineer, samples.Watcher}
		if by := a[op.ID].By; by.Role == auth.Edge {
			callers = append(callers, by)
		}
		for _, by := range callers {
			if by.Role != auth.Edge {
				by.Organization = "acme"
			}
			x, y := a[op.ID], b[op.ID]
			x.By, y.By = by, by
			one, two := alone.Make(t, x), beside.Make(t, y)
			read++
			answers[one.Status]++
			expect.Equal(t, anonymous(t, two, beside), anonymous(t, one, alone), "%s %s as %s, beside a rival and alone:", op.ID, x.Path, by.Role)
		}
	}
	t.Logf("%d reads, answered with %v", read, answers)
}

// chosen is what is drawn or made of times: digests of texts with times in them, salts, the end of what is kept for years, and
// the window of a limit, which counts a person of the samples in both organizations.
var chosen = regexp.MustCompile(`[0-9a-f]{64}|"salts":\{[^}]*\}|"expires":\d+|"used":\d+,"remaining":\d+,"resetSeconds":\d+`)

// anonymous is an answer without what differs between any two worlds.
func anonymous(t *testing.T, a harness.Answer, w *harness.World) string {
	t.Helper()
	return strings.ReplaceAll(chosen.ReplaceAllString(plain(t, comparable(a)), "CHOSEN"), w.Target.URL, "")
}

// TestIsolation_OfASharedRollout_ARivalSeesOnlyItsOwn: the same calls by the rival's readers show the rival's boxes, and
// acme's as if there were none.
func TestIsolation_OfASharedRollout_ARivalSeesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.registers(t, "rival")
	s.promoted(t)
	s.updates(t, "acme")
	s.updates(t, "rival")
	for _, role := range []auth.Role{auth.OrganizationAdmin, auth.FleetViewer} {
		rival, acme := s.As(t, "reader", "rival", role), s.As(t, "reader", "acme", role)
		for _, path := range []string{"/api/edges/box-acme-0", "/api/edges/box-acme-0/update/why"} {
			foreign, none := rival.Get(t, path), rival.Get(t, strings.Replace(path, "box-acme-0", "box-acme-9", 1))
			foreign.Refused(t, problem.NotFound)
			expect.Equal(t, strings.ReplaceAll(comparable(foreign), "box-acme-0", "box-acme-9"), comparable(none), "a box of acme is, unlike none")
		}
		for _, path := range []string{"/api/organizations/acme/fleet", "/api/organizations/acme/rollouts/" + s.id(), "/api/edges?organizationId=acme"} {
			rival.Get(t, path).Refused(t, problem.NotFound)
		}
		for path, want := range map[string]int{
			"/api/edges?edgeType=gateway-x&channel=stable": 6, s.rollout + "/edges?state=failed": 1, s.rollout + "/edges?state=installed": 2,
			"/api/audit-events?resourceType=edge": 6, "/api/audit-events?resourceType=edge&resourceId=box-acme-0": 0,
		} {
			a := rival.Get(t, path).Is(t, http.StatusOK)
			items, _ := a.Object(t)["items"].([]any)
			expect.Equal(t, len(items), want, "%s as %s has so many items", path, role)
			expect.That(t, !strings.Contains(string(a.Body), "acme"), "%s as %s names acme: %s", path, role, a.Body)
		}
		fleet := rival.Get(t, "/api/organizations/rival/fleet?fresh=true").Is(t, http.StatusOK).Object(t)
		expect.Equal(t, fmt.Sprint(fleet["boxes"]), "6", "the rival's boxes")
		for _, path := range []string{"/api/edges?edgeType=gateway-x&channel=stable&attribute=board:C", s.rollout + "/edges?state=installed&limit=1", "/api/audit-events?resourceType=edge&limit=2"} {
			next, _ := acme.Get(t, path).Is(t, http.StatusOK).Object(t)["next"].(string)
			if next == "" && !strings.Contains(path, "attribute") {
				t.Errorf("%s as %s has no next page", path, role)
			}
			if next == "" {
				continue
			}
			to := expect.Value(url.Parse(next))(t)
			q := to.Query()
			q.Del("organizationId")
			rival.Get(t, to.Path+"?"+q.Encode()).Refused(t, problem.InvalidCursor)
			acme.Get(t, next).Is(t, http.StatusOK)
		}
	}
	third := s.As(t, "reader", "third", auth.OrganizationAdmin)
	for _, path := range []string{s.rollout + "/edges?state=failed", "/api/organizations/third/rollouts/" + s.id()} {
		exists, none := third.Get(t, path), third.Get(t, strings.Replace(path, s.id(), "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a", 1))
		exists.Refused(t, problem.NotFound)
		expect.Equal(t, plain(t, comparable(exists)), plain(t, comparable(none)), "a rollout of others is, unlike none")
	}
}
