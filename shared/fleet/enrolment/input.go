package enrolment

import (
	"time"

	"wavegate/shared/platform/input"
)

// PlanOf reads a plan. A time in the past, or more than 30 days ahead, is a fault.
func PlanOf(body *input.Object, now time.Time) Plan {
	p := Plan{EdgeType: body.Text("edgeType", input.Name), Channel: body.Text("channel", input.Name), OrganizationID: body.Text("organizationId", input.Name)}
	p.FactoryID, _ = body.OptionalText("factoryId", input.Slug)
	p.EdgeIDs = body.Texts("edgeIds", input.EdgeID, 1, MostBoxes)
	if text := body.Text("expiresAt", input.Time); input.Time.Accepts(text) {
		p.ExpiresAt = input.ParseTime(text).Truncate(time.Millisecond)
		if !p.ExpiresAt.After(now) || p.ExpiresAt.After(now.Add(Longest)) {
			body.Fault("expiresAt", "range", "must be in the future, and at most 30 days ahead")
		}
	}
	return p
}

// A Place is a box of an enrolment.
type Place struct{ EnrolmentID, EdgeID string }

// PlaceOf reads the path parameters enrolmentId and edgeId.
func PlaceOf(in *input.Reader) Place {
	return Place{in.Path("enrolmentId", input.UUID), in.Path("edgeId", input.EdgeID)}
}

// A Pair is the id of a box and the SHA-256 of its token.
type Pair struct{ EdgeID, TokenSHA256 string }

// PairOf reads a pair.
func PairOf(body *input.Object) Pair {
	return Pair{EdgeID: body.Text("edgeId", input.EdgeID), TokenSHA256: body.Text("tokenSha256", input.SHA256)}
}

// AcceptedOf reads the pairs that a person accepts. An id that occurs twice is a fault.
func AcceptedOf(body *input.Object) []Pair {
	var all []Pair
	seen := map[string]bool{}
	body.Objects("items", 1, MostAtOnce, func(o *input.Object) {
		p := PairOf(o)
		if p.EdgeID != "" && seen[p.EdgeID] {
			o.Fault("edgeId", "duplicate", "must not be given twice")
		}
		seen[p.EdgeID] = true
		all = append(all, p)
	})
	return all
}
