package e2e

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestLists_ForOtherOrganizations_ShowNothing calls every list, and every filter that names something, as callers of
// another organization in each role. Nothing of the first organization is in any answer, and the answer for a factory
// does not depend on whether it exists.
func TestLists_ForOtherOrganizations_ShowNothing(t *testing.T) {
	t.Parallel()
	w := harness.New(t)
	organization := harness.Name("acme")
	foreigners := map[string]*harness.Caller{
		"member":                   w.As(t, "rita", "rival"),
		"engineer":                 w.Engineer(t, "rival"),
		"admin":                    w.Admin(t, "rival"),
		"box":                      w.Box(t, "box-7"),
		"nobody's":                 w.As(t, "nemo", ""),
		"admin of no organization": w.As(t, "nemo", "", auth.OrganizationAdmin),
	}
	secrets := []string{organization, "munich-", "press-", "gateway-", "box-", "Munich", "Milling", product}
	all := lists(t, w, organization)
	for who, c := range foreigners {
		for _, l := range all {
			absent := strings.NewReplacer(organization, "no-such-organization")
			if l.factory != "" {
				absent = strings.NewReplacer(organization, "no-such-organization", l.factory, "no-such-factory")
			}
			paths := []string{l.path, l.with("limit", "100"), l.path + "?limit=1"}
			if l.path == "/api/factories" {
				paths = append(paths, l.with("organizationId", organization))
			}
			if strings.HasSuffix(l.path, "/production-methods") {
				paths = append(paths, l.with("productId", product))
			}
			for _, path := range paths {
				t.Run(who+" "+path, func(t *testing.T) {
					a := c.Get(t, path)
					switch a.Status {
					case http.StatusOK:
						if got := strings.ReplaceAll(string(a.Body), " ", ""); !strings.HasPrefix(got, `{"items":[],`) || a.Header.Get("Link") != "" {
							t.Errorf("is shown %s", a.Body)
						}
					case http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest:
					default:
						t.Errorf("is answered with %d %s", a.Status, a.Body)
					}
					d, _ := a.Problem()
					body := bytes.ReplaceAll(a.Body, []byte(d.Instance), nil) // the caller's own path
					for _, secret := range secrets {
						expect.That(t, !bytes.Contains(body, []byte(secret)), "learns of %s: %s", secret, a.Body)
					}
					// The same call for something that does not exist.
					other := c.Get(t, absent.Replace(path))
					e, _ := other.Problem()
					if other.Status != a.Status || e.Detail != d.Detail || a.Status == http.StatusOK && !bytes.Equal(other.Body, a.Body) {
						t.Errorf("is told %s, and %s for a missing one", a.Body, other.Body)
					}
				})
			}
		}
	}
}

func TestAuditEvents_AreForAdminsOfTheOrganizationAndPlatformOwners(t *testing.T) {
	w := harness.New(t)
	p := newPlant(t, w)
	p.engineer.Get(t, p.factory+"/audit-events").Refused(t, problem.Forbidden)
	p.engineer.Get(t, "/api/audit-events").Refused(t, problem.Forbidden)
	own, all := pageOf(t, p.admin, "/api/audit-events"), pageOf(t, p.owner, "/api/audit-events")
	expect.Equal(t, len(own.Items), 1, "events of the platform that the admin sees (the factory's registration):")
	expect.Equal(t, len(all.Items) > 1, true, "the owner sees more")
	expect.Equal(t, len(pageOf(t, p.admin, p.factory+"/audit-events").Items), 10, "events that the admin sees:")
	expect.Equal(t, len(pageOf(t, p.owner, p.factory+"/audit-events").Items), 10, "events that the owner sees:")
	// Members read the factory's things, but not who did what.
	member := w.As(t, "mia", p.organization)
	for _, l := range []string{"/machines", "/production-methods"} {
		expect.Equal(t, len(pageOf(t, member, p.factory+l).Items), 5, "%s that a member sees:", l)
	}
	member.Put(t, p.factory+"/machines/press-9", `{"name":"Press"}`).Refused(t, problem.Forbidden)
}

func TestFactories_ListWhatTheCallersOrganizationHas_AndAnyForAPlatformOwner(t *testing.T) {
	w := harness.New(t)
	p, other := newPlant(t, w), newPlant(t, w)
	slug := strings.TrimPrefix(p.factory, "/api/factories/")
	expect.Equal(t, walk(t, p.engineer, "/api/factories", "factoryId"), []string{slug}, "the engineer sees")
	owned := "/api/factories?organizationId=" + p.organization
	expect.Equal(t, walk(t, p.owner, owned, "factoryId"), []string{slug}, "the owner sees")
	expect.Equal(t, len(walk(t, p.engineer, "/api/factories?organizationId="+other.organization, "factoryId")), 0,
		"factories of another organization that the engineer sees:")
	d := w.As(t, "olga", "", auth.PlatformOwner).Get(t, "/api/factories").Refused(t, problem.ValidationFailed)
	expect.Equal(t, d.Errors[0].Parameter, "organizationId", "a platform owner without an organization is told %+v:", d)
}
