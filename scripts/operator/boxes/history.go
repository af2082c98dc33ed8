package boxes

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/artifacts"
	"wavegate/scripts/operator/components"
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
	return run.Group("releases", "See what was published for a type of boxes, and which boxes ran it", released(r), known(r), describes(r), ran(r), components.Contain(r))
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

func known(r *run.Run) *cobra.Command {
	return r.Shows(&cobra.Command{
		Use: "show TYPE VERSION", Short: "Show what is known of a version, and where it ran", Example: "wavegate releases show gateway-x 1.1.0",
	}, "/api/ota/releases/%s/%s")
}

func describes(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "describe TYPE VERSION", Short: "Say until when a version is supported, what is in it, and what a weakness means for it",
		Long: "Says more of a version that was published. What you do not say stays. No box is told anything.\n\n" +
			"With --advisory, add --severity, and --fixed-in or --not-affected with --reason. With --document, name all documents: they " +
			"replace those before, which stay listed.\n\n" +
			"With --sbom, the command reads an SBOM (CycloneDX up to 1.7, SPDX 2.1 to 2.3), uploads it, and tells the service its components, so that " +
			"wavegate releases contain finds the version. If that was interrupted, do it again. With --vex, it reads an OpenVEX document, and says which " +
			"weaknesses do not concern the version.",
		Example: "wavegate releases describe gateway-x 1.1.0 --supported-until 2031-03-02T00:00:00Z\n" +
			"wavegate releases describe gateway-x 1.1.0 --advisory CVE-2026-1234 --severity high --fixed-in 1.1.1\n" +
			"wavegate releases describe gateway-x 1.1.0 --sbom bom.json\n" +
			"wavegate releases describe gateway-x 1.1.0 --document notes=https://evidence.example.com/1.1.0.html",
	}
	texts := cmd.Flags()
	texts.String("supported-until", "", "the `time` at which the support ends, such as 2031-03-02T00:00:00Z")
	texts.String("advisory", "", "the `name` of a weakness, such as CVE-2026-1234")
	texts.String("severity", "", "how `bad` it is: none, low, medium, high or critical")
	texts.String("fixed-in", "", "the `version` that fixes it")
	notAffected := texts.Bool("not-affected", false, "the weakness does not concern the version")
	texts.String("reason", "", "`why` the version is not affected, or is as bad as that")
	documents := texts.StringArray("document", nil, "a `kind=place`: sbom, notes or provenance, and a URL or the SHA-256 of an uploaded file")
	sbom := texts.String("sbom", "", "a `file` that lists the components of the version")
	vex := texts.String("vex", "", "a `file` that says which weaknesses do not concern the version")
	cmd.MarkFlagsMutuallyExclusive("sbom", "document")
	cmd.MarkFlagsMutuallyExclusive("vex", "advisory")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		wish := run.Given(cmd, map[string]string{"supported-until": "supportedUntil"})
		if found := run.Given(cmd, map[string]string{"advisory": "id", "severity": "severity", "fixed-in": "fixedIn", "reason": "reason"}); len(found) > 0 {
			if *notAffected {
				found["notAffected"] = true
			}
			wish["advisories"] = []any{found}
		}
		if all := artifacts.Documents(*documents); all != nil {
			wish["documents"] = all
		}
		return components.Describe(ctx, c, wish, *sbom, *vex)
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
