package operations

import (
	"cmp"
	"net/url"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
)

// These read the parameters of paths that several operations share.

// RolloutID reads the id of a rollout.
func RolloutID(in *input.Reader) string { return in.Path("id", input.UUID) }

// EdgeID reads the id of a box.
func EdgeID(in *input.Reader) string { return in.Path("edgeId", input.EdgeID) }

// EnrolmentID reads the id of an enrolment.
func EnrolmentID(in *input.Reader) string { return in.Path("enrolmentId", input.UUID) }

// OrganizationID reads the id of an organization.
func OrganizationID(in *input.Reader) string { return in.Path("organizationId", input.Name) }

// FactoryID reads the id of a factory.
func FactoryID(in *input.Reader) string { return in.Path("factoryId", input.Slug) }

// An Organization is the one that a list is about.
type Organization struct {
	ID    string
	named bool // in the query
}

// Filter returns the query parameters for the links to other pages.
func (o Organization) Filter() url.Values {
	if !o.named {
		return nil
	}
	return url.Values{"organizationId": {o.ID}}
}

// ofOrganization reads which organization a list is about: the one in the query, otherwise the caller's own. If there
// is neither, it is a fault.
func ofOrganization(in *input.Reader) Organization {
	id, named := in.Query("organizationId", input.Name)
	if !named && in.Organization == "" {
		in.Fault("organizationId", "required", "is required of a caller without an organization")
	}
	return Organization{cmp.Or(id, in.Organization), named}
}

// An OrganizationPage is a page of an organization's list.
type OrganizationPage = paging.Asked[Organization, paging.Place]

// PageOfOrganization reads which page of which organization's list is asked for.
func PageOfOrganization(in *input.Reader) OrganizationPage {
	page := paging.ByOffset(in)
	return OrganizationPage{List: ofOrganization(in), Page: page}
}
