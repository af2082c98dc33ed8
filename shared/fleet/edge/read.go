package edge

import (
	"slices"

	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/platform/input"
)

// assignment lists the fields of an Assignment.
var assignment = input.Fields{
	{Name: "edgeType", Is: input.Name, Required: true},
	{Name: "channel", Is: input.Name, Required: true},
	{Name: "organizationId", Is: input.Name, Required: true},
	{Name: "factoryId", Is: input.Slug, Clearable: true},
	{Name: "issuer", Is: input.ID, Clearable: true},
}

// AssignmentBody is the body of an assignment.
var AssignmentBody = &input.Shape{Fields: assignment}

// BatchBody is the body of a batch of assignments.
var BatchBody = &input.Shape{Fields: input.Fields{
	{Name: "edges", Required: true, Is: &input.List{
		Least: 1, Most: MostAtOnce,
		Of: &input.Shape{Fields: slices.Concat(input.Fields{{Name: "edgeId", Is: input.EdgeID, Required: true}}, assignment,
			input.Fields{{Name: "tokenSha256", Is: input.SHA256}})},
	}},
	{Name: "takeOver", Is: input.Boolean{}},
}}

// ReadAssignment reads an assignment from a body. An issuer that the service does not trust for boxes is a fault.
func ReadAssignment(body *input.Object, issuers boxauth.Issuers) Assignment {
	a := Assignment{
		EdgeType:       body.Text("edgeType"),
		Channel:        body.Text("channel"),
		OrganizationID: body.Text("organizationId"),
		FactoryID:      body.ClearableText("factoryId"),
		Issuer:         body.ClearableText("issuer"),
	}
	if a.Issuer != nil && *a.Issuer != "" && !issuers.Include(*a.Issuer) {
		body.Fault("issuer", "unknown", "must be an issuer that the service trusts for boxes")
	}
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
	body.Objects("edges", func(o *input.Object) {
		m := BatchItem{EdgeID: o.Text("edgeId"), Assignment: ReadAssignment(o, issuers)}
		m.TakeOver = takeOver
		m.TokenSHA256, _ = o.OptionalText("tokenSha256")
		if m.EdgeID != "" && seen[m.EdgeID] {
			o.Fault("edgeId", "duplicate", "must not be given twice")
		}
		seen[m.EdgeID] = true
		batch = append(batch, m)
	})
	return batch
}
