package method

import (
	"net/url"
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

// CreationOf reads a new method.
func CreationOf(body *input.Object) Creation {
	return Creation{ProductID: body.Text("productId", input.UUID), Name: body.Text("name", input.DisplayName)}
}

// IDOf reads the path parameters factoryId and methodId. The Ref has no version.
func IDOf(in *input.Reader) Ref {
	return Ref{FactoryID: in.Path("factoryId", input.Slug), MethodID: in.Path("methodId", input.UUID)}
}

// RefOf reads the path parameters factoryId, methodId and number.
func RefOf(in *input.Reader) Ref {
	r := IDOf(in)
	r.Version = numberOf(in.Path("number", NumberRule))
	return r
}

// A MachineRef names a version on a machine.
type MachineRef struct {
	Ref
	Code string
}

// MachineRefOf reads a version as RefOf, and the path parameter code.
func MachineRefOf(in *input.Reader) MachineRef {
	return MachineRef{RefOf(in), in.Path("code", input.Name)}
}

// numberOf parses a number that NumberRule accepted.
func numberOf(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Two are two versions of a method.
type Two struct{ Since, Version Ref }

// TwoOf reads a version as RefOf, and the query parameter since, the number of another version. The default is the
// version before.
func TwoOf(in *input.Reader) Two {
	r := RefOf(in)
	since := r
	since.Version--
	if text, given := in.Query("since", NumberRule); given {
		since.Version = numberOf(text)
	}
	return Two{since, r}
}

// A Filter says which methods of a factory to list: those of a product, those with a status, or all.
type Filter struct {
	FactoryID, ProductID string
	Status               Status
}

// FilterOf reads a filter.
func FilterOf(in *input.Reader) Filter {
	f := Filter{FactoryID: in.Path("factoryId", input.Slug)}
	productID, byProduct := in.Query("productId", input.UUID)
	status, byStatus := in.Query("status", StatusRule)
	if byProduct && byStatus {
		in.Fault("status", "exclusive", "must not be given together with productId")
	}
	f.ProductID, f.Status = productID, Status(status)
	return f
}

// Values returns the filter as query parameters.
func (f Filter) Values() url.Values {
	return input.Values("productId", f.ProductID, "status", string(f.Status))
}

// ReachedBy says which machines of a version to list: all that it concerns, or only those that have not confirmed that
// they do not have it.
type ReachedBy struct {
	Ref
	Unclear bool
}

// ReachedByOf reads the version, and the query parameter clear.
func ReachedByOf(in *input.Reader) ReachedBy {
	r := RefOf(in)
	_, unclear := in.Query("clear", ClearRule)
	return ReachedBy{r, unclear}
}

// MoveOf reads a move. A field that the move does not allow is a fault, and so is a trial without machines.
func MoveOf(body *input.Object) Move {
	status := Status(body.Text("status", StatusRule))
	m := Move{Status: status, Reason: body.Text("reason", ReasonRule)}
	m.ContentSHA256, _ = body.OptionalText("contentSha256", input.SHA256)
	from, hasFrom := body.OptionalText("effectiveFrom", input.Time)
	if m.EffectiveFrom = timeOf(from); hasFrom && from != "" && (m.EffectiveFrom.IsZero() || m.EffectiveFrom.After(latestTime)) {
		body.Fault("effectiveFrom", "range", "must be now or later, and before the year 10000")
	}
	machines, hasMachines := body.OptionalTexts("machines", input.Name, 1, maxTrialMachines)
	m.Machines = machines
	hasArticle := body.OptionalObject("firstArticle", func(o *input.Object) {
		m.FirstArticle = &FirstArticle{Reference: o.Text("reference", ReferenceRule)}
		m.FirstArticle.SHA256, _ = o.OptionalText("sha256", input.SHA256)
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

// maxAsked is how many methods a poll can name.
const maxAsked = 25

// PollRequestOf reads what a poll asks about: the path parameters factoryId and code, and the query
// parameters methodId, which can be given up to 25 times, or productId, and at. Without them it asks
// about all methods of the machine.
func PollRequestOf(in *input.Reader) PollRequest {
	q := PollRequest{FactoryID: in.Path("factoryId", input.Slug), Machine: in.Path("code", input.Name)}
	q.MethodIDs = in.QueryList("methodId", input.UUID, maxAsked)
	productID, hasProduct := in.Query("productId", input.UUID)
	if len(q.MethodIDs) > 0 && hasProduct {
		in.Fault("productId", "exclusive", "must not be given together with methodId")
	}
	q.ProductID = productID
	if at, given := in.Query("at", input.Time); given {
		q.At = new(input.ParseTime(at))
	}
	return q
}
