package edge

import (
	"slices"
	"strings"

	"wavegate/shared/platform/setting"
)

// Issuers are those whose tokens are taken for boxes, divided by spaces. Two fleets can have an issuer each, and
// neither speaks for the other's boxes. The first is the issuer of every box that names none: while there is one
// issuer, no box has to name it, and when another joins behind it, nothing changes for the boxes that are there.
type Issuers string

// ReadIssuers reads the setting of the issuers.
func ReadIssuers(r *setting.Values) Issuers { return Issuers(r.Text(setting.FleetIssuers)) }

// Include reports whether an issuer's tokens are taken for boxes.
func (i Issuers) Include(issuer string) bool {
	return slices.Contains(strings.Fields(string(i)), issuer)
}

// issuer is the one that an assignment gives a box: what is not said stays.
func (a Assignment) issuer(was Edge) string {
	if a.Issuer != nil {
		return *a.Issuer
	}
	return was.Issuer
}
