// Package product stores the names of products. A product needs no name: methods take any id.
package product

import (
	"cmp"
	"time"

	"wavegate/shared/platform/input"
)

// A Status says whether a product is still made. It is shown, and decides nothing.
type Status string

// The statuses.
const (
	Active  Status = "active"
	Retired Status = "retired"
)

// A Product is identified in its factory by its id.
type Product struct {
	FactoryID string `json:"factoryId"`
	ProductID string `json:"productId"` // UUID, in lower case
	Details
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1
}

// Details are what people call a product.
type Details struct {
	Name string `json:"name"`
	// Number is the product's number in another system, such as a drawing's, and ProductRevision the revision of it.
	Number          string `json:"number,omitempty"`
	ProductRevision string `json:"productRevision,omitempty"`
	Status          Status `json:"status"`
}

var (
	numberRule = &input.Text{Pattern: "[!-~]([ -~]{0,62}[!-~])?", Says: "1 to 64 printable ASCII characters, the first and the last no space"}
	statusRule = &input.Text{Pattern: "active|retired", Says: "active or retired"}
)

// A Place is where a product is.
type Place struct{ FactoryID, ProductID string }

// PlaceOf reads the path parameters factoryId and productId.
func PlaceOf(in *input.Reader) Place {
	return Place{in.Path("factoryId", input.Slug), in.Path("productId", input.UUID)}
}

// A Naming is the input for a product. What is nil or empty stays as it is; an empty text that is not nil removes.
type Naming struct {
	Name                    string
	Number, ProductRevision *string
	Status                  Status
}

// NamingOf reads the details of a product.
func NamingOf(body *input.Object) Naming {
	n := Naming{Name: body.Text("name", input.DisplayName)}
	n.Number = body.ClearableText("number", numberRule)
	n.ProductRevision = body.ClearableText("productRevision", numberRule)
	status, _ := body.OptionalText("status", statusRule)
	n.Status = Status(status)
	return n
}

// named decides what becomes of a product that is named. The event is empty if nothing changes.
func (p Product) named(at Place, n Naming, now time.Time) (next Product, event string) {
	next = p
	next.FactoryID, next.ProductID, next.Name = at.FactoryID, at.ProductID, n.Name
	next.Status = cmp.Or(n.Status, p.Status, Active)
	if n.Number != nil {
		next.Number = *n.Number
	}
	if n.ProductRevision != nil {
		next.ProductRevision = *n.ProductRevision
	}
	if next == p {
		return p, ""
	}
	event = "ProductChanged"
	if p.Revision == 0 {
		next.CreatedAt, event = now, "ProductNamed"
	}
	next.UpdatedAt, next.Revision = now, p.Revision+1
	return next, event
}
