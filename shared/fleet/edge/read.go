package edge

import (
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
)

// groupRule accepts the name of a group.
var groupRule = &input.Text{
	Min: 1, Max: 64, Trim: true, Check: input.Visible,
	Says: "1 to 64 characters without control characters and invisible characters",
}

// readAssignment reads an assignment. An issuer that the service does not trust for boxes is a fault.
func readAssignment(body *input.Object, issuers boxauth.Issuers) Assignment {
	a := Assignment{
		EdgeType:       body.Text("edgeType", input.Name),
		Channel:        body.Text("channel", input.Name),
		OrganizationID: body.Text("organizationId", input.Name),
		FactoryID:      body.ClearableText("factoryId", input.Slug),
		Group:          body.ClearableText("group", groupRule),
		Issuer:         body.ClearableText("issuer", input.ID),
		Attributes:     report.AttributesOf(body),
		Pin:            readPin(body),
		AllowDowngrade: body.Boolean("allowDowngrade"),
		Imported:       readImported(body),
	}
	if a.Issuer != nil && *a.Issuer != "" && !issuers.Include(*a.Issuer) {
		body.Fault("issuer", "unknown", "must be an issuer that the service trusts for boxes")
	}
	return a
}

// readImported reads what is said of a box that comes from another server; nil: nothing.
func readImported(body *input.Object) (is *report.Imported) {
	body.OptionalObject("imported", func(o *input.Object) {
		n, _ := o.OptionalInteger("actionsAbove", &input.Integer{Most: report.MostAction})
		is = &report.Imported{ActionsAbove: max(n, report.LeastAction)}
		is.Version, _ = o.OptionalText("version", release.VersionRule)
	})
	return is
}

// ReadSigned reads an assignment that may be signed.
func ReadSigned(body *input.Object, issuers boxauth.Issuers) Assignment {
	a := readAssignment(body, issuers)
	body.OptionalObject("departure", func(o *input.Object) { a.Departure = o.Text("reason", audit.ReasonRule) })
	return a
}

// A BatchItem is a box of a batch and its assignment.
type BatchItem struct {
	EdgeID string
	Assignment
}

// MostAtOnce limits the boxes of a batch. Each box takes three of the 100 writes of a transaction.
const MostAtOnce = 30

// ReadBatch reads the boxes of a batch from the list "edges". A box that occurs twice is a fault.
func ReadBatch(body *input.Object, issuers boxauth.Issuers) []BatchItem {
	var batch []BatchItem
	seen := map[string]bool{}
	takeOver := body.Boolean("takeOver")
	body.Objects("edges", 1, MostAtOnce, func(o *input.Object) {
		m := BatchItem{EdgeID: o.Text("edgeId", input.EdgeID), Assignment: readAssignment(o, issuers)}
		m.TakeOver = takeOver
		m.TokenSHA256, _ = o.OptionalText("tokenSha256", input.SHA256)
		m.TokenWeak, m.TokenWaits = o.Boolean("tokenWeak"), o.Boolean("tokenWaits")
		if (m.TokenWeak || m.TokenWaits) && m.TokenSHA256 == "" {
			o.Fault("tokenSha256", "required", "is required with tokenWeak and tokenWaits")
		}
		if m.EdgeID != "" && seen[m.EdgeID] {
			o.Fault("edgeId", "duplicate", "must not be given twice")
		}
		seen[m.EdgeID] = true
		batch = append(batch, m)
	})
	return batch
}
