package method

import (
	"strconv"
	"time"

	"wavegate/shared/platform/input"
)

// These rules check what callers send.
var (
	// NumberRule is the rule for a version's number in a path or query.
	NumberRule = &input.Text{Pattern: `[1-9][0-9]{0,8}`, Says: "the number of a version, from 1 to 999999999"}
	// StatusRule is the rule for a version's status.
	StatusRule = &input.Text{Pattern: `draft|in_review|trial|released|withdrawn`, Says: "draft, in_review, trial, released or withdrawn"}
	// ReasonRule is the rule for a signature's reason.
	ReasonRule = &input.Text{Min: 1, Max: 256, Trim: true, Check: input.Visible, Says: "1 to 256 characters without control or invisible characters"}
	// ClearRule is the rule for the filter of machines that have, or may have, a version.
	ClearRule = &input.Text{Pattern: `false`, Says: "false"}
	// OrdersRule is the rule for Orders.
	OrdersRule = &input.Text{Pattern: `finish|stop`, Says: "finish or stop"}
	// ReferenceRule is the rule for a first article's reference.
	ReferenceRule = &input.Text{Min: 1, Max: 200, Trim: true, Check: input.Visible, Says: "1 to 200 characters without control characters"}
	// ReinstateRule is the rule for a version's number in a body.
	ReinstateRule = &input.Integer{Least: 1, Most: 999_999_999}
)

const maxTrialMachines = 20

// These are the parameters of a version.
var (
	RefPath    = input.Fields{{Name: "factoryId", Is: input.Slug}, {Name: "methodId", Is: input.UUID}, {Name: "number", Is: NumberRule}}
	SinceQuery = input.Fields{{Name: "since", Is: NumberRule}}
)

// CreationBody is the body of a new method.
var CreationBody = &input.Shape{Fields: input.Fields{
	{Name: "productId", Is: input.UUID, Required: true},
	{Name: "name", Is: input.DisplayName, Required: true},
}}

// MoveBody is the body of a move.
var MoveBody = &input.Shape{Fields: input.Fields{
	{Name: "status", Is: StatusRule, Required: true},
	{Name: "reason", Is: ReasonRule, Required: true},
	{Name: "contentSha256", Is: input.SHA256},
	{Name: "effectiveFrom", Is: input.Time},
	{Name: "machines", Is: &input.List{Of: input.Name, Least: 1, Most: maxTrialMachines}},
	{Name: "firstArticle", Is: &input.Shape{Fields: input.Fields{
		{Name: "reference", Is: ReferenceRule, Required: true},
		{Name: "sha256", Is: input.SHA256},
	}}},
	{Name: "orders", Is: OrdersRule},
	{Name: "reinstate", Is: ReinstateRule},
}}

// RefOf reads the path parameters factoryId, methodId and number.
func RefOf(in *input.Reader) Ref {
	return Ref{FactoryID: in.Path("factoryId"), MethodID: in.Path("methodId"), Version: numberOf(in.Path("number"))}
}

// numberOf parses a number that NumberRule accepted.
func numberOf(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// SinceOf reads the query parameter since, the number of a version. The default is the version
// before r.
func SinceOf(in *input.Reader, r Ref) Ref {
	since := r
	since.Version--
	if text, given := in.Query("since"); given {
		since.Version = numberOf(text)
	}
	return since
}

// MoveOf reads a move. A field that the move does not allow is a fault, and so is a trial without machines.
func MoveOf(body *input.Object) Move {
	status := Status(body.Text("status"))
	m := Move{Status: status, Reason: body.Text("reason")}
	m.ContentSHA256, _ = body.OptionalText("contentSha256")
	from, hasFrom := body.OptionalText("effectiveFrom")
	if m.EffectiveFrom = timeOf(from); hasFrom && from != "" && (m.EffectiveFrom.IsZero() || m.EffectiveFrom.After(latestTime)) {
		body.Fault("effectiveFrom", "range", "must be now or later, and before the year 10000")
	}
	machines, hasMachines := body.Texts("machines")
	m.Machines = machines
	hasArticle := body.Object("firstArticle", func(o *input.Object) {
		m.FirstArticle = &FirstArticle{Reference: o.Text("reference")}
		m.FirstArticle.SHA256, _ = o.OptionalText("sha256")
	})
	orders, hasOrders := body.OptionalText("orders")
	m.Orders = Orders(orders)
	reinstate, hasReinstate := body.OptionalInteger("reinstate")
	m.Reinstate = reinstate
	belongs := func(name string, given bool, to ...Status) {
		for _, one := range to {
			given = given && status != one
		}
		if given && status != "" {
			body.Fault(name, "exclusive", "is not allowed in a move to "+string(status))
		}
	}
	belongs("effectiveFrom", hasFrom, Trial, Released)
	belongs("machines", hasMachines, Trial)
	belongs("firstArticle", hasArticle, Released)
	belongs("orders", hasOrders, Withdrawn)
	belongs("reinstate", hasReinstate, Withdrawn)
	if status == Trial && !hasMachines {
		body.Missing("machines")
	}
	return m
}

// latestTime is the latest time in JSON's format, to milliseconds, like stored times.
var latestTime = time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)

// timeOf parses a time that input.Time accepted, and rounds it up to milliseconds, like stored times.
func timeOf(text string) time.Time {
	t := input.ParseTime(text)
	if cut := t.Truncate(time.Millisecond); cut.Before(t) {
		return cut.Add(time.Millisecond)
	}
	return t
}

// PollQuery lists the parameters of a PollRequest.
var PollQuery = input.Fields{
	{Name: "methodId", Is: &input.List{Of: input.UUID, Most: maxAsked}},
	{Name: "productId", Is: input.UUID},
	{Name: "at", Is: input.Time},
}

// maxAsked is how many methods a poll can name.
const maxAsked = 25

// PollRequestOf reads what a poll asks about: the path parameters factoryId and code, and the query
// parameters methodId, which can be given up to 25 times, or productId, and at. Without them it asks
// about all methods of the machine.
func PollRequestOf(in *input.Reader) PollRequest {
	q := PollRequest{FactoryID: in.Path("factoryId"), Machine: in.Path("code")}
	q.MethodIDs = in.QueryList("methodId")
	productID, hasProduct := in.Query("productId")
	if len(q.MethodIDs) > 0 && hasProduct {
		in.Fault("productId", "exclusive", "must not be given together with methodId")
	}
	q.ProductID = productID
	if at, given := in.Query("at"); given {
		q.At = new(input.ParseTime(at))
	}
	return q
}
