package edge_test

import (
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestImported_Version_IsOfItsEdgeType_AndNotAgainstTheBox.
func TestImported_Version_IsOfItsEdgeType_AndNotAgainstTheBox(t *testing.T) {
	gates(t, edge.Quotas{}, func(g *gate) {
		owner := g.by("olga", auth.PlatformOwner)
		row := func() report.Row {
			return expect.Value(report.NewStore(g.db, 1).Get(g.ctx(), g.org+"-1"))(g)
		}
		put := func(edgeType, channel string, is *report.Imported) error {
			return g.assign(owner, "1", edge.Assignment{EdgeType: edgeType, Channel: channel, OrganizationID: g.org, Imported: is})
		}
		expect.OK(g, put("gateway-x", "stable", &report.Imported{ActionsAbove: 2 << 20, Version: "1.0.0"}))
		expect.OK(g, put("gateway-x", "stable", &report.Imported{Version: "1.0.1"}))
		expect.That(g, row().Assumed && row().Running == "1.0.1", "it is %+v", row())
		expect.OK(g, put("gateway-y", "stable", nil))
		is := row()
		expect.That(g, is.Unproven() && !is.Assumed && is.Imported.ActionsAbove == 2<<20, "with another edge type it is %+v", is)
		expect.OK(g, put("gateway-z", "stable", &report.Imported{Version: "2.0.0"}))
		expect.That(g, row().Assumed && row().Running == "2.0.0", "with what is said of the new one it is %+v", row())

		said := row()
		said.Runs("2.1.0", "2.1.0")
		said.Revision++
		expect.OK(g, report.NewStore(g.db, 1).Save(g.ctx(), row(), said))
		err := put("gateway-z", "stable", &report.Imported{Version: "2.0.1"})
		expect.That(g, problem.Has(err, problem.Conflict), "against what it says: %v", err)
		expect.OK(g, put("gateway-z", "canary", &report.Imported{Version: "2.0.0"})) // that was said before
		expect.OK(g, put("gateway-z", "canary", &report.Imported{Version: "2.1.0"}))
		expect.That(g, !row().Assumed && row().Running == "2.1.0", "it is %+v", row())
	})
}
