package factory

import (
	"testing"
	"time"

	"wavegate/shared/platform/problem"
)

func TestRegister_ByPresentFactory(t *testing.T) {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := made.Add(time.Hour)
	there := Factory{FactoryID: "munich-1", OrganizationID: "acme", Name: "Munich", CreatedAt: made, UpdatedAt: made, Revision: 4}
	renamed := there
	renamed.Name, renamed.UpdatedAt, renamed.Revision = "Munich, hall 1", at, 5
	single := there
	single.MethodApproval, single.UpdatedAt, single.Revision = Single, at, 5
	for name, c := range map[string]struct {
		was   Factory
		wish  Registration
		next  Factory
		event string
		code  problem.Code
	}{
		"new":                              {Factory{}, Registration{OrganizationID: "acme", Name: "Munich"}, Factory{FactoryID: "munich-1", OrganizationID: "acme", Name: "Munich", CreatedAt: at, UpdatedAt: at, Revision: 1}, "FactoryRegistered", ""},
		"the same values":                  {there, Registration{OrganizationID: "acme", Name: "Munich"}, there, "", ""},
		"another name":                     {there, Registration{OrganizationID: "acme", Name: "Munich, hall 1"}, renamed, "FactoryRenamed", ""},
		"another approval":                 {there, Registration{OrganizationID: "acme", Name: "Munich", MethodApproval: Single}, single, "FactoryMethodApprovalChanged", ""},
		"approval missing":                 {single, Registration{OrganizationID: "acme", Name: "Munich"}, single, "", ""},
		"an admin, nothing new":            {there, Registration{OrganizationID: "acme", Name: "Munich", Admin: "acme", Restricted: true}, there, "", ""},
		"an admin, another name":           {there, Registration{OrganizationID: "acme", Name: "Hall 1", Admin: "acme", Restricted: true}, there, "", problem.Forbidden},
		"an admin, another approval":       {there, Registration{OrganizationID: "acme", Name: "Munich", MethodApproval: Single, Admin: "acme", Restricted: true}, there, "", problem.Forbidden},
		"an admin, somebody else's":        {there, Registration{OrganizationID: "acme", Name: "Munich", Admin: "rival", Restricted: true}, there, "", problem.NotFound},
		"an admin without an organization": {there, Registration{OrganizationID: "acme", Name: "Munich", Restricted: true}, there, "", problem.NotFound},
		"an admin, a new one":              {Factory{}, Registration{OrganizationID: "acme", Name: "Munich", Admin: "acme", Restricted: true}, Factory{}, "", problem.NotFound},
		"another organization":             {there, Registration{OrganizationID: "rival", Name: "Munich"}, there, "", problem.Conflict},
	} {
		next, event, err := c.was.register("munich-1", c.wish, at)
		if next != c.next || event != c.event || (err == nil) != (c.code == "") || err != nil && !problem.Has(err, c.code) {
			t.Errorf("%s: got %+v, %q, %v", name, next, event, err)
		}
	}
}
