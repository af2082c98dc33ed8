package boxauth

import (
	"slices"
	"strings"

	"wavegate/shared/platform/setting"
)

// Tenants lists the tenants in the paths of DDI clients besides the names of organizations, as acme=DEFAULT, separated by spaces.
// Boxes that come from another server keep the tenant that they had there. Several organizations may have the same one.
type Tenants string

// ReadTenants reads the setting of the tenants.
func ReadTenants(r *setting.Values) Tenants { return Tenants(r.Text(setting.DDITenants)) }

// Fit reports whether a tenant in the path is right for a box of an organization.
func (t Tenants) Fit(organizationID, tenant string) bool {
	return tenant == organizationID || slices.Contains(strings.Fields(string(t)), organizationID+"="+tenant)
}
