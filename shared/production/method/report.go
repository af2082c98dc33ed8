package method

import (
	"cmp"
	"slices"
	"time"

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
	orderRule  = &input.Text{Max: 64, Says: "at most 64 characters"}
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

// OnMachine is what a machine has said about the versions of a method.
type OnMachine struct {
	MethodID  string    `json:"methodId"`
	FactoryID string    `json:"factoryId"`
	Machine   string    `json:"machine"`
	EdgeID    string    `json:"edgeId"`   // the box that reported last
	Versions  []Said    `json:"versions"` // by version, at most 16
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"`
}

// Said is what a machine has said about one version.
type Said struct {
	Version       int64     `json:"version"`
	ContentSHA256 string    `json:"contentSha256"`
	State         Doing     `json:"state"`
	Since         time.Time `json:"since"`
	Order         string    `json:"order,omitempty"`
	Detail        string    `json:"detail,omitempty"`
	// Told is what the box was told to do with orders when it reported the version after its withdrawal.
	Told   Orders     `json:"told,omitempty"`
	ToldAt *time.Time `json:"toldAt,omitempty"`
}

// maxSaid limits the versions for which a machine's last report is stored.
const maxSaid = 16

// about returns what the machine has said about a version.
func (m OnMachine) about(version int64) (Said, bool) {
	for _, s := range m.Versions {
		if s.Version == version {
			return s, true
		}
	}
	return Said{}, false
}

// reported decides the result of a report about a version. The event is empty if the machine has already said the same.
// A report that a machine has a withdrawn version is stored, and the machine is told what to do: see Version.recalls.
// It returns NOT_FOUND for a version that nobody approved, and CONTENT_CHANGED for a content that is not the version's.
func (m OnMachine) reported(r Report, v Version, box string, at time.Time) (next OnMachine, event string, err error) {
	if !v.approvedOnce() {
		return m, "", problem.Missing()
	}
	if r.ContentSHA256 != v.ContentSHA256 {
		return m, "", problem.New(problem.ContentChanged, "Version %d has the content %s; the machine must not produce with another.", v.Version, v.ContentSHA256)
	}
	said := Said{Version: r.Version, ContentSHA256: r.ContentSHA256, State: r.State, Since: at, Order: r.Order, Detail: r.Detail}
	before, known := m.about(r.Version)
	if known && before.State == r.State {
		said.Since = before.Since
	}
	said.Told, said.ToldAt = before.Told, before.ToldAt
	if v.Status == Withdrawn && said.Told != v.Orders {
		said.Told, said.ToldAt = v.Orders, &at
	}
	if known && said == before && m.EdgeID == box {
		return m, "", nil
	}
	next = m
	next.MethodID, next.FactoryID, next.EdgeID = v.MethodID, v.FactoryID, box
	next.Versions = slices.DeleteFunc(slices.Clone(m.Versions), func(s Said) bool { return s.Version == r.Version })
	if len(next.Versions) >= maxSaid {
		next.Versions = forget(next.Versions)
	}
	next.Versions = append(next.Versions, said)
	slices.SortFunc(next.Versions, func(a, b Said) int { return cmp.Compare(a.Version, b.Version) })
	if m.Revision == 0 {
		next.CreatedAt = at
	}
	next.UpdatedAt, next.Revision = at, m.Revision+1
	return next, doings[r.State], nil
}

// forget removes the oldest version that the machine no longer has, otherwise the oldest.
func forget(all []Said) []Said {
	i := slices.IndexFunc(all, func(s Said) bool { return !s.State.has() })
	return slices.Delete(all, max(i, 0), max(i, 0)+1)
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
