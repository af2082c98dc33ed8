package edge

import (
	"wavegate/shared/platform/input"
)

// ReadAssignment reads what a body says of a box. An issuer that the service does not trust for boxes is a
// fault.
func ReadAssignment(body *input.Object, issuers Issuers) Assignment {
	a := Assignment{
		EdgeType:       body.Text("edgeType", input.Name),
		Channel:        body.Text("channel", input.Name),
		OrganizationID: body.Text("organizationId", input.Name),
		FactoryID:      body.ClearableText("factoryId", input.Slug),
		Issuer:         body.ClearableText("issuer", input.ID),
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
func ReadBatch(body *input.Object, issuers Issuers) []Member {
	var batch []Member
	seen := map[string]bool{}
	given := body.Objects("edges", 1, MostAtOnce, func(o *input.Object) {
		m := Member{EdgeID: o.Text("edgeId", input.Name), Assignment: ReadAssignment(o, issuers)}
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
