package boxauth

import (
	"slices"
	"strings"

	"wavegate/shared/platform/setting"
)

// Issuers lists the issuers that are trusted for boxes' tokens, separated by spaces. Two fleets can have an issuer
// each, and neither speaks for the other's boxes. The first is the issuer of every box that names none. So with one
// issuer no box has to name it, and a second one changes nothing for existing boxes.
type Issuers string

// ReadIssuers reads the setting of the issuers.
func ReadIssuers(r *setting.Values) Issuers { return Issuers(r.Text(setting.FleetIssuers)) }

// Include reports whether an issuer is trusted for boxes' tokens.
func (i Issuers) Include(issuer string) bool {
	return slices.Contains(strings.Fields(string(i)), issuer)
}
