package method

import (
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
)

// A Doing is what a machine says about a version.
type Doing string

// Doings.
const (
	Loaded   Doing = "loaded"   // the machine has the content
	Running  Doing = "running"  // it makes an order with it
	Finished Doing = "finished" // it no longer has the version
	Rejected Doing = "refused"  // it does not accept the version
)

// has reports whether the machine has the version.
func (d Doing) has() bool { return d == Loaded || d == Running }

// doings maps each Doing to its event in the audit trail.
var doings = map[Doing]string{
	Loaded: "MachineLoadedMethod", Running: "MachineRunsMethod", Finished: "MachineFinishedMethod", Rejected: "MachineRefusedMethod",
}

// A Report is what a machine's box says about the machine and a version.
type Report struct {
	Version       int64
	ContentSHA256 string
	State         Doing
	Order, Detail string
}

var (
	doingRule = &input.Text{Pattern: `loaded|running|finished|refused`, Says: "loaded, running, finished or refused"}
	// orderRule is the rule for a production order's name. Boxes send it, so it is cleaned instead of refused.
	orderRule  = &input.Text{Min: 1, Max: 64, Says: "1 to 64 characters"}
	detailRule = &input.Text{Max: 256, Says: "at most 256 characters"}
)

// About is what a report is about, besides the version.
type About struct {
	Machine  machine.Place
	MethodID string
}

// AboutOf reads the path parameters factoryId, code and methodId.
func AboutOf(in *input.Reader) About {
	return About{machine.PlaceOf(in), in.Path("methodId", input.UUID)}
}

// ReportOf reads a report.
func ReportOf(body *input.Object) Report {
	r := Report{
		Version: body.Integer("version", ReinstateRule), ContentSHA256: body.Text("contentSha256", input.SHA256),
		State: Doing(body.Text("state", doingRule)),
	}
	r.Order, _ = body.OptionalText("order", orderRule)
	r.Detail, _ = body.OptionalText("detail", detailRule)
	r.Order, r.Detail = input.Cleaned(r.Order), input.Cleaned(r.Detail)
	return r
}

// contradicts returns CONTENT_CHANGED if a report names a content that is not the version's.
func (v Version) contradicts(r Report) error {
	if r.ContentSHA256 == v.ContentSHA256 {
		return nil
	}
	return problem.New(problem.ContentChanged, "Version %d has the content %s; the machine must not produce with another.", v.Version, v.ContentSHA256)
}

// recalls returns VERSION_WITHDRAWN, with the orders, if a machine has a withdrawn version.
func (v Version) recalls(d Doing) error {
	if v.Status != Withdrawn || !d.has() {
		return nil
	}
	p := problem.New(problem.VersionWithdrawn, "Version %d is withdrawn: start no orders with it, and %s the orders under way. The report was stored.", v.Version, v.Orders)
	p.Orders = string(v.Orders)
	return p
}
