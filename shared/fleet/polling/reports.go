package polling

import (
	"context"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// Reports takes what boxes report between polls.
type Reports struct {
	boxauth.Finder
	issuers boxauth.Issuers
}

// NewReports makes Reports.
func NewReports(db *dynamo.DB, shards report.Shards, issuers boxauth.Issuers) *Reports {
	return &Reports{boxauth.Finder{Reports: report.NewStore(db, shards)}, issuers}
}

// Take takes an outcome and returns what the box should do next. It returns NOT_FOUND for a box that is not registered
// and for one that the caller does not speak for, UNAUTHENTICATED for a token that is no longer valid, and REPORT_STALE
// if the outcome is about a version or rollout other than the box's last offer. An outcome that says no version or nothing of
// it changes nothing but what was heard.
func (r *Reports) Take(ctx context.Context, caller auth.Principal, id string, o report.Outcome, heard ...input.Heard) (report.Advice, error) {
	row, err := r.observe(ctx, caller, id, report.By{Input: o, Way: report.ByReport, Heard: heard})
	if err != nil {
		return report.Advice{}, err
	}
	if o.Unread() {
		return report.Advice{}, nil
	}
	if !o.About(row) {
		return report.Advice{}, problem.New(problem.ReportStale, "Version %s is not the box's latest offer, or it was offered by another rollout; poll, then report on the latest offer.", o.Version)
	}
	return report.Reply(row, o), nil
}

// Describe takes what a box says about itself. It returns errors as Take does.
func (r *Reports) Describe(ctx context.Context, caller auth.Principal, id string, d report.Description, heard ...input.Heard) error {
	_, err := r.observe(ctx, caller, id, report.By{Input: d, Way: report.ByAttributes, Heard: heard})
	return err
}

func (r *Reports) observe(ctx context.Context, caller auth.Principal, id string, in report.By) (report.Row, error) {
	row, err := r.Find(ctx, id)
	if err != nil {
		return report.Row{}, err
	}
	if err := r.issuers.Allow(ctx, caller, row, in.When()); err != nil {
		return report.Row{}, err
	}
	in.SHA256 = caller.Credential
	row, err = r.Reports.Observe(ctx, edge.Of(row).Registration(), in)
	return row, Outdated(err)
}
