package enrolment

import (
	"time"

	"wavegate/shared/platform/input"
)

// Body is the body of an enrolment.
var Body = &input.Shape{Fields: input.Fields{
	{Name: "edgeType", Is: input.Name, Required: true},
	{Name: "channel", Is: input.Name, Required: true},
	{Name: "organizationId", Is: input.Name, Required: true},
	{Name: "factoryId", Is: input.Slug},
	{Name: "edgeIds", Required: true, Is: &input.List{Least: 1, Most: MostBoxes, Of: input.EdgeID}},
	{Name: "expiresAt", Is: input.Time, Required: true},
}}

// PlanOf reads a plan. A time in the past, or more than 30 days ahead, is a fault.
func PlanOf(body *input.Object, now time.Time) Plan {
	p := Plan{EdgeType: body.Text("edgeType"), Channel: body.Text("channel"), OrganizationID: body.Text("organizationId")}
	p.FactoryID, _ = body.OptionalText("factoryId")
	p.EdgeIDs, _ = body.Texts("edgeIds")
	if text := body.Text("expiresAt"); input.Time.Accepts(text) {
		p.ExpiresAt = input.ParseTime(text).Truncate(time.Millisecond)
		if !p.ExpiresAt.After(now) || p.ExpiresAt.After(now.Add(Longest)) {
			body.Fault("expiresAt", "range", "must be in the future, and at most 30 days ahead")
		}
	}
	return p
}

// pair lists the fields of a Pair.
var pair = input.Fields{
	{Name: "edgeId", Is: input.EdgeID, Required: true},
	{Name: "tokenSha256", Is: input.SHA256, Required: true},
}

// A Pair is the id of a box and the SHA-256 of its token.
type Pair struct{ EdgeID, TokenSHA256 string }

// PairBody is the body of a box that redeems its id.
var PairBody = &input.Shape{Fields: pair}

// PairOf reads a pair.
func PairOf(body *input.Object) Pair {
	return Pair{EdgeID: body.Text("edgeId"), TokenSHA256: body.Text("tokenSha256")}
}

// AcceptBody is the body with the boxes that a person accepts.
var AcceptBody = &input.Shape{Fields: input.Fields{
	{Name: "items", Required: true, Is: &input.List{Least: 1, Most: MostAtOnce, Of: &input.Shape{Fields: pair}}},
}}

// AcceptedOf reads the pairs that a person accepts. An id that occurs twice is a fault.
func AcceptedOf(body *input.Object) []Pair {
	var all []Pair
	seen := map[string]bool{}
	body.Objects("items", func(o *input.Object) {
		p := PairOf(o)
		if p.EdgeID != "" && seen[p.EdgeID] {
			o.Fault("edgeId", "duplicate", "must not be given twice")
		}
		seen[p.EdgeID] = true
		all = append(all, p)
	})
	return all
}
