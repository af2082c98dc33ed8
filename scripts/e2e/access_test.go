package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// callers are one of each kind, from the organization acme and from a rival.
func callers(t *testing.T, w *harness.World) map[string]*harness.Caller {
	all := map[string]*harness.Caller{"nobody": w.Nobody(), "a box": w.Box(t, "edge-1"),
		"a person of no organization": w.As(t, "paul", ""), "program": w.As(t, harness.Program, "", auth.Program)}
	for _, organization := range []string{"acme", "rival"} {
		for _, role := range auth.People {
			all[string(role)+" of "+organization] = w.As(t, "u-"+string(role), organization, role)
		}
		all["member of "+organization] = w.As(t, "u-member", organization)
	}
	return all
}

// owns reports whether a caller belongs to the organization that owns the factory, by the caller's name.
func owns(caller string) bool { return strings.HasSuffix(caller, " of acme") }

// refusesStrangers calls an operation as everyone who is not allowed to, and compares the answer with its roles: 401
// without a token, 403 without a role, and 404 for a factory or box of another organization. Its lists are empty.
func refusesStrangers(t *testing.T, w *harness.World, op operations.Operation, call samples.Call) {
	for name, caller := range callers(t, w) {
		if allowed(op, name) {
			continue
		}
		t.Run("by "+name, func(t *testing.T) {
			a := caller.Do(t, call.Method, call.Path, `{}`)
			switch {
			case name == "nobody":
				a.Refused(t, problem.Unauthenticated)
				expect.Equal(t, a.Header.Get("WWW-Authenticate"), "Bearer", "the challenge")
			case !mayCall(op, name):
				a.Refused(t, problem.Forbidden)
			case op.ID == "list-edges" || op.ID == "list-audit-events" || op.ID == "list-release-edges":
				expect.Equal(t, len(a.Is(t, http.StatusOK).Object(t)["items"].([]any)), 0, "others' items")
			case op.Method == http.MethodGet:
				a.Refused(t, problem.NotFound)
			default:
				// The empty body is refused before the factory is looked up, so the answer reveals nothing about it.
				if a.Status != http.StatusBadRequest && a.Status != http.StatusNotFound && a.Status != http.StatusForbidden {
					t.Errorf("answered %d %s", a.Status, a.Body)
				}
			}
		})
	}
}

// mayCall reports whether the operation has one of the roles in the caller's name.
func mayCall(op operations.Operation, caller string) bool {
	return slices.ContainsFunc(op.Roles, func(r auth.Role) bool {
		if r == auth.Anyone {
			return caller != "nobody"
		}
		if r == auth.Member {
			return strings.Contains(caller, " of ") && !strings.Contains(caller, "no organization") &&
				!strings.HasPrefix(caller, string(auth.FleetInstaller)) && !strings.Contains(caller, "_viewer of ")
		}
		return strings.HasPrefix(caller, string(r)+" of ") || r == auth.Edge && caller == "a box" || r == auth.Program && caller == "program"
	})
}

// allowed reports whether a caller is allowed to do the operation in the test's world: by role, and for a factory, an
// enrolment or boxes by organization, unless the operation is for platform owners and they call.
func allowed(op operations.Operation, caller string) bool {
	if !mayCall(op, caller) {
		return false
	}
	ofOne := strings.Contains(op.Path, "{factoryId}") || strings.HasPrefix(op.Path, "/api/edge-enrolments/") || slices.Equal(op.Roles, operations.Watchers)
	return !ofOne || owns(caller) || slices.ContainsFunc([]auth.Role{auth.PlatformOwner, auth.PlatformViewer}, func(r auth.Role) bool {
		return slices.Contains(op.Roles, r) && strings.HasPrefix(caller, string(r)+" of ")
	})
}

// TestTenancy_PlatformOwner: a platform owner reads everything; creating a method takes a role and the organization.
func TestTenancy_PlatformOwner(t *testing.T) {
	w := harness.New(t)
	factory(t, w, "munich-1", "acme")
	made := w.Engineer(t, "acme").Post(t, methods, method).Made(t)
	owner := w.Owner(t)
	owner.Get(t, munich).Is(t, http.StatusOK)
	owner.Get(t, made).Is(t, http.StatusOK)
	owner.Post(t, methods, method).Refused(t, problem.Forbidden)
	w.As(t, "olga", "wavegate", auth.PlatformOwner, auth.ProductionEngineer).Post(t, methods, method).Refused(t, problem.NotFound)
	w.As(t, "olga", "acme", auth.PlatformOwner, auth.ProductionEngineer).Post(t, methods, method).Is(t, http.StatusCreated)
}

// TestLogs_HoldNoTokenAndNoBody searches the logs of all functions after a session.
func TestLogs_HoldNoTokenAndNoBody(t *testing.T) {
	w := harness.New(t)
	path := start(t, w.Owner(t), "gateway-x")
	factory(t, w, "munich-1", "acme")
	engineer := w.Engineer(t, "acme")
	engineer.Post(t, methods, `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"secret-recipe"}`).Is(t, http.StatusCreated)
	engineer.Post(t, methods, `{"name":"secret-recipe","name":"secret-recipe"}`).Refused(t, problem.ValidationFailed)
	w.Owner(t).Patch(t, path, `{"staged_percent":10}`).Is(t, http.StatusNoContent)
	forged := &harness.Caller{URL: w.Target.URL, Bearer: engineer.Bearer + "x"}
	forged.Get(t, munich).Refused(t, problem.Unauthenticated)
	lines := 0
	for _, f := range table.Functions() {
		for _, line := range w.Logs(f) {
			lines++
			for _, secret := range []string{"secret-recipe", "eyJ", strings.TrimPrefix(engineer.Bearer, "Bearer ")} {
				expect.That(t, !strings.Contains(line, secret), "%s logged a secret: %s", f, line)
			}
		}
	}
	expect.That(t, lines >= 8, "only %d lines were logged", lines)
}
