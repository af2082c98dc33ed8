package token

import (
	"maps"
	"slices"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/input"
)

// This file reads what an issuer's settings say about people, because providers name organizations and roles in their
// own ways.

func (r *reader) claim(member, byDefault string) ClaimPath {
	if !r.has(member) {
		return ClaimPath{byDefault}
	}
	c, err := parseClaim(r.m, member)
	if err != nil || !c.isValid() {
		r.fault(member, "must be the name of a claim that has no other meaning, or the path of a member in one")
		return ClaimPath{byDefault}
	}
	return c
}

// organization reads the one organization of all people of the issuer.
func (r *reader) organization() string {
	if !r.has("organization") {
		return ""
	}
	name, err := r.m.text("organization")
	if err != nil || !input.Name.Accepts(name) {
		r.fault("organization", "must be the id of an organization")
		return ""
	}
	for _, other := range []string{"organizationClaim", "organizations"} {
		if r.has(other) {
			r.fault("organization", "it applies to every token, so %s must be left out", other)
		}
	}
	return name
}

// roleNames reads the issuer's names for the roles.
func (r *reader) roleNames() map[string]auth.Role {
	if !r.has("roleNames") {
		return nil
	}
	m, err := readObject(r.m["roleNames"])
	if err != nil || len(m) == 0 {
		r.fault("roleNames", `must be an object of at least one name with its role, such as {"Wavegate Owners": "platform_owner"}`)
		return nil
	}
	names := map[string]auth.Role{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		role, err := m.text(name)
		switch {
		case name == "":
			r.fault("roleNames", "a name is empty")
		case err != nil || !isGrantable(auth.Role(role)) || !slices.Contains(auth.Roles, auth.Role(role)):
			r.fault("roleNames", "%.40q: there is no role %.40q", name, role)
		default:
			names[name] = auth.Role(role)
		}
	}
	return names
}

// grants reads the roles that the issuer may grant. If they are omitted, they are those that it has names for.
func (r *reader) grants(called map[string]auth.Role) []auth.Role {
	var roles []auth.Role
	if !r.has("grants") && len(called) > 0 {
		for _, role := range auth.Roles {
			if slices.Contains(slices.Collect(maps.Values(called)), role) {
				roles = append(roles, role)
			}
		}
		return r.edgeAlone(roles)
	}
	names, err := r.m.texts("grants")
	if err != nil || len(names) == 0 {
		r.fault("grants", "must be a list of at least one role")
		return nil
	}
	for _, name := range names {
		switch role := auth.Role(name); {
		case !slices.Contains(auth.Roles, role):
			r.fault("grants", "there is no role %.40q", name)
		case role == auth.Program:
			r.fault("grants", "programs are listed in subjects")
		case !isGrantable(role):
			r.fault("grants", "no claim grants %s", role)
		case slices.Contains(roles, role):
			r.fault("grants", "%s is listed twice", role)
		default:
			roles = append(roles, role)
		}
	}
	for name, role := range called {
		if !slices.Contains(roles, role) {
			r.fault("roleNames", "%.40q is %s, which grants does not list", name, role)
		}
	}
	return r.edgeAlone(roles)
}

func (r *reader) edgeAlone(roles []auth.Role) []auth.Role {
	if slices.Contains(roles, auth.Edge) && len(roles) > 1 {
		r.fault("grants", "an issuer that grants edge must grant nothing else")
	}
	return roles
}

// isGrantable reports whether a claim may grant a role.
func isGrantable(role auth.Role) bool { return role != auth.Program && role != auth.Enrolment }
