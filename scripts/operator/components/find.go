package components

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/package-url/packageurl-go"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

// A Found is a release that contains a component.
type Found struct {
	release.Containing
	Match Match `json:"match"`
	// Withdrawn is why a weakness does not concern the release, if it does not.
	Withdrawn string `json:"withdrawn,omitempty"`
	// Runs is how many boxes run the release by the last counts, and Ran how many ran it before.
	Runs int `json:"runs"`
	Ran  int `json:"ran"`
	// Boxes are counted by organization, if somebody asked for that.
	Boxes []Boxes `json:"boxes,omitempty"`
}

// Boxes counts the boxes of an organization: those that run a release, and those that ever did.
type Boxes struct {
	OrganizationID string `json:"organizationId"`
	Now            int    `json:"now"`
	Ever           int    `json:"ever"`
}

// Contain finds the releases that contain a component.
func Contain(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "contain PURL", Short: "List the releases that contain a component, and how many boxes run them",
		Long: "Lists the releases whose SBOM names a component, by its package URL. After an @, name a version, or bounds: a comma means and, " +
			"a | means or. Versions are compared in the order of their ecosystem, by OSV-SCALIBR: of apk, bitnami, cargo, composer, conan, cran, deb, " +
			"gem, golang, hackage, hex, maven, npm, nuget, pub, pypi, rpm and swift. Nothing orders the versions of other types: they are compared " +
			"exactly, and what a bound says of them is unknown.\n\n" +
			"With --advisory, a release that is not affected by it (wavegate releases describe) is listed as withdrawn, with the reason. RUNS is by the last " +
			"count of each channel. With --boxes, the boxes are counted now, by organization. Releases without a complete SBOM are not searched.",
		Example: "wavegate releases contain 'pkg:deb/debian/openssl@>=3.0.0,<3.0.14-1~deb12u1'\n" +
			"wavegate releases contain 'pkg:npm/lodash@<4.17.21' --advisory CVE-2021-23337 --boxes",
	}
	advisory := cmd.Flags().String("advisory", "", "the `name` of a weakness, to leave out what it does not concern")
	exact := cmd.Flags().Bool("boxes", false, "count the boxes now, by organization")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		name, within, err := asked(c.Args[0])
		if err != nil {
			return run.Fail(run.Misused, "%s: %w", c.Args[0], err)
		}
		list, err := api.All[release.Containing](ctx, c.Client, "/api/ota/components", run.Query("purl", name), 0)
		if err != nil {
			return err
		}
		found := []Found{}
		for _, one := range list {
			if is := within.Has(one.ComponentVersion); is != No {
				found = append(found, Found{Containing: one, Match: is})
			}
		}
		for i := range found {
			if err := found[i].complete(ctx, c, *advisory, *exact); err != nil {
				return err
			}
		}
		return tell(c, name, within, len(list), found)
	})
}

// asked reads a package URL with what follows its @.
func asked(text string) (name string, within Range, err error) {
	head, bounds, _ := strings.Cut(text, "@") // in a name, it is escaped
	head, _, _ = strings.Cut(head, "?")
	bounds, _, _ = strings.Cut(bounds, "?")
	u, err := packageurl.FromString(head)
	if err != nil {
		return "", within, err
	}
	within, err = RangeOf(u.Type, bounds)
	return NameOf(u), within, err
}

// complete adds what the service knows of the release.
func (f *Found) complete(ctx context.Context, c *run.Call, advisory string, exact bool) error {
	known, _, err := api.Get[census.Release](ctx, c, releasePath(f.EdgeType, f.Version), nil)
	if err != nil {
		return err
	}
	for _, on := range known.Channels {
		if on.Boxes != nil {
			f.Runs += *on.Boxes
		}
	}
	if known.Ran != nil {
		f.Ran = known.Ran.Boxes
	}
	for _, a := range known.Advisories {
		if a.ID == advisory && a.NotAffected {
			f.Withdrawn = a.Reason
		}
	}
	if exact {
		f.Boxes, err = boxesOf(ctx, c, f.Containing)
	}
	return err
}

// boxesOf counts the boxes that run a release, and those that ever did.
func boxesOf(ctx context.Context, c *run.Call, of release.Containing) ([]Boxes, error) {
	now, err := api.All[edge.Shown](ctx, c.Client, "/api/edges", run.Query("edgeType", of.EdgeType, "version", of.Version), 0)
	if err != nil {
		return nil, err
	}
	spells, err := api.All[report.Spell](ctx, c.Client, releasePath(of.EdgeType, of.Version)+"/edges", nil, 0)
	if err != nil {
		return nil, err
	}
	counts, seen := map[string]Boxes{}, map[[2]string]bool{}
	add := func(organization, id string, runs int) {
		n := counts[organization]
		n.OrganizationID, n.Now = organization, n.Now+runs
		if key := [2]string{organization, id}; !seen[key] {
			seen[key] = true
			n.Ever++
		}
		counts[organization] = n
	}
	for _, b := range now {
		add(b.OrganizationID, b.EdgeID, 1)
	}
	for _, p := range spells {
		if p.RanAt != nil {
			add(p.OrganizationID, p.EdgeID, 0)
		}
	}
	return slices.SortedFunc(maps.Values(counts), func(a, b Boxes) int { return cmp.Compare(a.OrganizationID, b.OrganizationID) }), nil
}

// tell prints what was found.
func tell(c *run.Call, name string, within Range, all int, found []Found) error {
	if c.JSON {
		return c.ShowDocument(found)
	}
	if len(found) == 0 {
		c.Note("no release whose SBOM is complete contains %s in such a version (%d versions in all)", name, all)
		return nil
	}
	rows := []string{terminal.Cells("TYPE", "VERSION", "CONTAINS", "RUNS", "RAN", "MATCH")}
	for _, f := range found {
		match := string(f.Match)
		if f.Withdrawn != "" {
			match = "withdrawn: " + f.Withdrawn
		}
		rows = append(rows, terminal.Cells(f.EdgeType, f.Version, cmp.Or(f.ComponentVersion, "?"), f.Runs, f.Ran, match))
		for _, b := range f.Boxes {
			rows = append(rows, terminal.Cells("", "", "  "+cmp.Or(b.OrganizationID, "of no organization"), b.Now, fmt.Sprintf("%d ever", b.Ever), ""))
		}
	}
	if err := c.Table(rows...); err != nil {
		return err
	}
	if !within.Ordered() {
		c.Note("wavegate: nothing orders the versions of %s; they are compared exactly", name)
	}
	return nil
}
