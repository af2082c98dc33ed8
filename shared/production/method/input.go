package method

import (
	"strconv"
	"time"

	"wavegate/shared/platform/fields"
	"wavegate/shared/platform/request"
	"wavegate/shared/platform/value"
)

// These rules check what callers send.
var (
	// NumberRule is the rule of a version's number in a path or query.
	NumberRule = &value.Text{Pattern: `[1-9][0-9]{0,8}`, Says: "the number of a version, from 1 to 999999999"}
	// StatusRule is the rule of a version's status.
	StatusRule = &value.Text{Pattern: `draft|in_review|trial|released|withdrawn`, Says: "draft, in_review, trial, released or withdrawn"}
	// ReasonRule is the rule of a signature's reason.
	ReasonRule = &value.Text{Min: 1, Max: 256, Trim: true, Check: value.Visible, Says: "1 to 256 characters without control characters and invisible characters"}
	// ClearRule is the rule of the filter of machines: those that still have a version, or may.
	ClearRule = &value.Text{Pattern: `false`, Says: "false"}
	// OrdersRule is the rule of Orders.
	OrdersRule = &value.Text{Pattern: `finish|stop`, Says: "finish or stop"}
	// ReferenceRule is the rule of a first article's reference.
	ReferenceRule = &value.Text{Min: 1, Max: 200, Trim: true, Check: value.Visible, Says: "1 to 200 characters without control characters"}
	// ReinstateRule is the rule of a version's number in a body.
	ReinstateRule = &value.Integer{Least: 1, Most: 999_999_999}
)

const maxTrialMachines = 20

// RefOf reads the path parameters factoryId, methodId and number.
func RefOf(in *request.Input) Ref {
	return Ref{FactoryID: in.Path("factoryId", value.Slug), MethodID: in.Path("methodId", value.UUID), Version: numberOf(in.Path("number", NumberRule))}
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
func SinceOf(in *request.Input, r Ref) Ref {
	since := r
	since.Version--
	if text, given := in.Query("since", NumberRule); given {
		since.Version = numberOf(text)
	}
	return since
}

// MoveOf reads a move. It is a fault if a field does not belong to the move, and if a trial
// names no machines.
func MoveOf(body *fields.Object) Move {
	status := Status(body.Text("status", StatusRule))
	m := Move{Status: status, Reason: body.Text("reason", ReasonRule)}
	m.ContentSHA256, _ = body.OptionalText("contentSha256", value.SHA256)
	from, hasFrom := body.OptionalText("effectiveFrom", value.Time)
	if m.EffectiveFrom = timeOf(from); hasFrom && from != "" && (m.EffectiveFrom.IsZero() || m.EffectiveFrom.After(latestTime)) {
		body.Fault("effectiveFrom", "range", "must be now or later, and before the year 10000")
	}
	machines, hasMachines := body.Texts("machines", 1, maxTrialMachines, value.Name)
	m.Machines = machines
	hasArticle := body.Object("firstArticle", func(o *fields.Object) {
		m.FirstArticle = &FirstArticle{Reference: o.Text("reference", ReferenceRule)}
		m.FirstArticle.SHA256, _ = o.OptionalText("sha256", value.SHA256)
	})
	orders, hasOrders := body.OptionalText("orders", OrdersRule)
	m.Orders = Orders(orders)
	reinstate, hasReinstate := body.OptionalInteger("reinstate", ReinstateRule)
	m.Reinstate = reinstate
	belongs := func(name string, given bool, to ...Status) {
		for _, one := range to {
			given = given && status != one
		}
		if given && status != "" {
			body.Fault(name, "exclusive", "does not belong to a move to "+string(status))
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

// latestTime is the last time that JSON can show, in milliseconds, as times are stored.
var latestTime = time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)

// timeOf parses a time that value.Time accepted, and rounds it up to milliseconds, as times are
// stored.
func timeOf(text string) time.Time {
	t := value.ParseTime(text)
	if cut := t.Truncate(time.Millisecond); cut.Before(t) {
		return cut.Add(time.Millisecond)
	}
	return t
}

// maxAsked is how many methods a poll can name.
const maxAsked = 25

// QuestionOf reads what a poll asks about: the path parameters factoryId and code, and the query
// parameters methodId, which can be given up to 25 times, or productId, and at. Without them it asks
// about all methods of the machine.
func QuestionOf(in *request.Input) Question {
	q := Question{FactoryID: in.Path("factoryId", value.Slug), Machine: in.Path("code", value.Name)}
	q.MethodIDs = in.QueryList("methodId", maxAsked, value.UUID)
	productID, hasProduct := in.Query("productId", value.UUID)
	if len(q.MethodIDs) > 0 && hasProduct {
		in.Fault("productId", "exclusive", "must not be given together with methodId")
	}
	q.ProductID = productID
	if at, given := in.Query("at", value.Time); given {
		q.At = new(value.ParseTime(at))
	}
	return q
}
