package edge

import (
	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/value"
)

// ReadAssignment reads what a body says of a box. An issuer that the service does not trust for boxes is a
// fault.
func ReadAssignment(body *fields.Object, issuers Issuers) Assignment {
	a := Assignment{
		EdgeType:       body.Text("edgeType", value.Name),
		Channel:        body.Text("channel", value.Name),
		OrganizationID: body.Text("organizationId", value.Name),
		FactoryID:      body.ClearableText("factoryId", value.Slug),
		Issuer:         body.ClearableText("issuer", value.ID),
	}
	if a.Issuer != nil && *a.Issuer != "" && !issuers.Include(*a.Issuer) {
		body.Fault("issuer", "unknown", "must be an issuer whose tokens the service takes for boxes")
	}
	return a
}

// A Member is a box of a batch and what is said about it.
type Member struct {
	EdgeID string
	Assignment
}

// MostAtOnce bounds the boxes of a batch. Each box takes three of the 100 writes of a transaction.
const MostAtOnce = 30

// ReadBatch reads the boxes of a batch from the list "edges". A box that is named twice is a fault.
func ReadBatch(body *fields.Object, issuers Issuers) []Member {
	var batch []Member
	seen := map[string]bool{}
	given := body.Objects("edges", 1, MostAtOnce, func(o *fields.Object) {
		m := Member{EdgeID: o.Text("edgeId", value.Name), Assignment: ReadAssignment(o, issuers)}
		if m.EdgeID != "" && seen[m.EdgeID] {
			o.Fault("edgeId", "duplicate", "must not be given twice")
		}
		seen[m.EdgeID] = true
		batch = append(batch, m)
	})
	if !given {
		body.Missing("edges")
	}
	return batch
}
