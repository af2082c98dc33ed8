package edge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// A pin holds for 30 days unless its maker says otherwise, and for a year at most, so that no box is forgotten on an
// old version.
const (
	usualPin   = 30 * 24 * time.Hour
	longestPin = 365 * 24 * time.Hour
)

// A PinRequest is what a caller asks of a box's pin.
type PinRequest struct {
	Remove  bool `json:",omitempty"`
	Version string
	// Installed asks for the version that the box runs, instead of Version.
	Installed      bool `json:",omitempty"`
	Reason         string
	Until          *time.Time `json:",omitempty"`
	AllowDowngrade bool       `json:",omitempty"`
}

// readPin reads what a body asks of a box's pin; nil: nothing.
func readPin(body *input.Object) *PinRequest {
	q := new(PinRequest)
	given, null := body.ClearableObject("pin", func(o *input.Object) {
		version, named := o.OptionalText("version", release.VersionRule)
		installed, said := o.OptionalBoolean("installed")
		q.Version, q.Installed = version, installed
		q.Reason = o.Text("reason", audit.ReasonRule)
		if until, given := o.OptionalText("until", input.Time); given {
			at := input.ParseTime(until).Truncate(time.Millisecond)
			q.Until = &at
		}
		q.AllowDowngrade = o.Boolean("allowDowngrade")
		o.RequireAny("version", "installed")
		switch {
		case named && installed:
			o.Fault("installed", "exclusive", "must not be given together with version")
		case said && !installed && !named:
			o.Fault("version", "required", "is required, unless installed is true")
		}
	})
	switch {
	case null:
		return &PinRequest{Remove: true}
	case !given:
		return nil
	}
	return q
}

// pinned is the pin that a request makes of a box, given its row, the release that it asks for and the one that the box
// runs. It returns VALIDATION_FAILED for a wrong end, RELEASE_NOT_PUBLISHED, EDGE_NOT_REPORTED, DOWNGRADE_REFUSED, and
// CONFLICT for a release that the box's DDI client would not be told.
func (q PinRequest) pinned(row report.Row, is, runs release.Release, by audit.Person, at time.Time) (*report.Pin, error) {
	pin := &report.Pin{Version: is.Version, Reason: q.Reason, Until: at.Add(usualPin), At: at, By: by}
	if q.Until != nil {
		if pin.Until = *q.Until; !pin.Until.After(at) || pin.Until.Sub(at) > longestPin {
			return nil, problem.Invalid([]problem.Fault{{Pointer: "/pin/until", Code: "range", Detail: "must be in the future, and at most a year ahead"}})
		}
	}
	switch {
	case q.Installed && row.Running == "":
		return nil, problem.New(problem.EdgeNotReported, "The box has not said yet what it runs; name a version.")
	case is.Version == "":
		return nil, problem.New(problem.ReleaseNotPublished, "Version %s of %s was never published.", cmp.Or(q.Version, row.Running), row.EdgeType)
	case runs.Version != "" && is.Rank() < runs.Rank() && !q.AllowDowngrade:
		return nil, problem.New(problem.DowngradeRefused, "The box runs %s, or was told it, which is newer than %s. Give allowDowngrade to send it back.", runs.Version, is.Version)
	case row.DDI && !is.Sufficient():
		return nil, problem.New(problem.Conflict, "Release %s was published without sizeBytes and sha1, which the box's DDI client needs; "+
			"publish it again with both.", is.Version)
	}
	if was := row.Pin; was.Holds(at) && was.Version == pin.Version {
		pin.At = was.At
		if q.Until != nil && *pin == (report.Pin{Version: was.Version, Reason: was.Reason, Until: was.Until, At: was.At, By: by}) {
			return was, nil // nothing changes, not even who pinned it
		}
	}
	return pin, nil
}

// pin is the box's pin after an assignment. It ends if the box gets another owner or becomes another kind of box. One
// that has ended stays, so that nothing changes if nothing else does.
func (a Assignment) pin(was Edge, at time.Time) *report.Pin {
	switch {
	case a.AllowDowngrade && was.Pin != nil && !was.Pin.Holds(at) && a.Pin == nil:
		return nil
	case a.Pin != nil && a.Pin.Remove:
		return nil
	case a.Pin != nil:
		return a.made
	case was.OrganizationID != a.OrganizationID || was.EdgeType != a.EdgeType:
		return nil
	}
	return was.Pin
}

// hold is the box's hold after an assignment: a move to another channel or owner begins one, and so does the end of a pin.
func (a Assignment) hold(was Edge, at time.Time) *report.Hold {
	switch {
	case a.AllowDowngrade, !was.Exists(), was.EdgeType != a.EdgeType:
		return nil
	case was.Channel != a.Channel, was.OrganizationID != a.OrganizationID, was.Pin.Holds(at) && a.pin(was, at) == nil:
		return &report.Hold{Since: at, By: a.by}
	case a.Pin != nil:
		return report.Holding(was.Pin, was.Hold, at) // of a pin that ended by itself
	}
	return was.Hold
}

// pinning completes an assignment with the pin that it asks for.
func (r *Registry) pinning(ctx context.Context, a Assignment, was Stored, by audit.Person, at time.Time) (Assignment, error) {
	if a.by = by; a.Pin == nil || a.Pin.Remove {
		return a, nil
	}
	if was.Edge.Exists() {
		if err := mayKeep(r.caller, was.Edge); err != nil {
			return a, err
		}
	}
	row := was.Row
	if row.Retired || row.EdgeType != a.EdgeType {
		row = report.Row{EdgeType: a.EdgeType}
	}
	row.Pin = was.Edge.Pin
	releases := release.NewStore(r.db)
	var is, runs, told release.Release
	find := func(version string, found *release.Release) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			if version != "" {
				*found, err = releases.Release(ctx, a.EdgeType, version)
			}
			return err
		}
	}
	wanted := a.Pin.Version
	if a.Pin.Installed {
		wanted = row.Running
	}
	said := cmp.Or(row.Written, row.Running)
	if row.Told == said {
		row.Told = ""
	}
	if err := dynamo.Together(ctx, find(wanted, &is), find(said, &runs), find(row.Told, &told)); err != nil {
		return a, err
	}
	if err := artifact.Check(ctx, r.db, is); err != nil {
		return a, err
	}
	if told.Version != "" && told.Rank() > runs.Rank() {
		runs = told // it may run it since
	}
	var err error
	a.made, err = a.Pin.pinned(row, is, runs, by, at)
	return a, err
}

// pinAll is pinning for all boxes of a batch. It refuses all that it refuses at once.
func (r *Registry) pinAll(ctx context.Context, batch []BatchItem, was []Stored, by audit.Person, at time.Time) ([]BatchItem, error) {
	next, errs := slices.Clone(batch), make([]error, len(batch))
	var reads []func(context.Context) error
	for i := range next {
		reads = append(reads, func(ctx context.Context) error {
			next[i].Assignment, errs[i] = r.pinning(ctx, batch[i].Assignment, was[i], by, at)
			return nil
		})
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return nil, err
	}
	var first *problem.Error
	for i, m := range batch {
		err := errs[i]
		refused := problem.From(err)
		switch {
		case err == nil:
			continue
		case refused.Code == problem.NotFound || problem.ClassOf(refused.Code).Status >= 500:
			return nil, err
		case first == nil:
			first = problem.New(refused.Code, "Box %s: %s", m.EdgeID, refused.Detail)
		}
		fault := problem.Fault{Pointer: fmt.Sprintf("/edges/%d/pin", i), Code: "reference", Detail: refused.Detail}
		if len(refused.Faults) > 0 {
			fault = refused.Faults[0]
			fault.Pointer = fmt.Sprintf("/edges/%d%s", i, fault.Pointer)
		}
		first.Faults = append(first.Faults, fault)
	}
	if first != nil {
		return nil, first
	}
	return next, nil
}
