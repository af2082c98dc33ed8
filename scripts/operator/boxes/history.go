package boxes

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

func history(r *run.Run) *cobra.Command {
	return run.Lists(r, &cobra.Command{
		Use: "history BOX", Short: "List what a box ran and was told, newest first", Example: "wavegate box history box-0017",
	}, 100, func(_ context.Context, c *run.Call) (run.List[report.Spell], error) {
		return run.List[report.Spell]{
			Path: c.Path("/api/edges/%s/history"), None: "it has not said yet what it runs",
			Head: "VERSION|RAN|TOLD|UNTIL|BY|FAILED", Row: func(p report.Spell) []any {
				return []any{p.Version, dated(p.RanAt), dated(p.ToldAt), until(p), p.RolloutID, p.Code}
			},
		}, nil
	})
}

// releases shows what was published for a type of boxes, and where it ran.
func releases(r *run.Run) *cobra.Command {
	return run.Group("releases", "See what was published for a type of boxes, and which boxes ran it", released(r), ran(r))
}

func released(r *run.Run) *cobra.Command {
	return run.Lists(r, &cobra.Command{
		Use: "list TYPE", Short: "List the versions that were ever published for a type of boxes, newest first", Example: "wavegate releases list gateway-x",
	}, 100, func(_ context.Context, c *run.Call) (run.List[release.Published], error) {
		return run.List[release.Published]{
			Path: "/api/ota/releases", Query: run.Query("edgeType", c.Args[0]), None: "nothing was published for " + c.Args[0],
			Head: "VERSION|PUBLISHED|KIND|REQUIRES|SHA-256", Row: func(p release.Published) []any {
				return []any{p.Version, terminal.Dated(p.PublishedAt), p.Kind, p.Requires, p.SHA256}
			},
		}, nil
	})
}

func ran(r *run.Run) *cobra.Command {
	return run.Lists(r, &cobra.Command{
		Use: "boxes TYPE VERSION", Short: "List the boxes that ran a version before, or were told it",
		Long: "Lists the boxes that ran a version, or were told it, and no longer do. A box with several such times is there several times. " +
			"Those that run it now are those of wavegate boxes --version.",
		Example: "wavegate releases boxes gateway-x 1.1.0",
	}, 1000, func(_ context.Context, c *run.Call) (run.List[report.Spell], error) {
		return run.List[report.Spell]{
			Path: c.Path("/api/ota/releases/%s/%s/edges"), None: "no box ran it before, or was told it",
			Head: "BOX|ORGANIZATION|FACTORY|RAN|TOLD|UNTIL|FAILED", Row: func(p report.Spell) []any {
				return []any{p.EdgeID, p.OrganizationID, p.FactoryID, dated(p.RanAt), dated(p.ToldAt), until(p), p.Code}
			},
		}, nil
	})
}

func dated(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return terminal.Dated(*at)
}

// until is when and why it ended.
func until(p report.Spell) string {
	switch {
	case p.EndedAt == nil:
		return "now"
	case p.End == report.Replaced:
		return dated(p.EndedAt)
	}
	return dated(p.EndedAt) + ", " + string(p.End)
}
