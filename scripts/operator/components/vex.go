package components

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openvex/go-vex/pkg/vex"
	"github.com/package-url/packageurl-go"

	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/release"
	"wavegate/shared/trail/audit"
)

// Withdrawn reads an OpenVEX document, and returns an advisory for each weakness that does not concern a release by it.
func Withdrawn(path string, of release.Published) (list []release.Advisory, err error) {
	text, err := limited(path)
	if err != nil {
		return nil, err
	}
	doc, err := vex.Parse(text)
	if err != nil || !strings.HasPrefix(doc.Context, vex.Context) {
		return nil, run.Fail(run.Misused, "%s is not an OpenVEX document", path)
	}
	var others []string
	about := false
	for _, s := range doc.Statements {
		if err := s.Validate(); err != nil {
			return nil, run.Fail(run.Misused, "%s: %s: %w", path, s.Vulnerability.Name, err)
		}
		for _, p := range s.Products {
			if !names(p, of) {
				others = append(others, cmp.Or(p.ID, "a product without a name"))
				continue
			}
			about = true
			if s.Status == vex.StatusNotAffected || s.Status == vex.StatusFixed {
				list = append(list, release.Advisory{ID: string(s.Vulnerability.Name), Severity: "none", NotAffected: true, Reason: reason(s, p)})
			}
		}
	}
	switch {
	case !about:
		return nil, run.Fail(run.Misused, "%s says nothing about %s %s, which it would name %s or by its SHA-256; it is about %s",
			path, of.EdgeType, of.Version, product(of), cmp.Or(strings.Join(slices.Compact(others), ", "), "nothing"))
	case len(list) == 0:
		return nil, run.Fail(run.Misused, "%s withdraws nothing of %s %s: no statement is not_affected or fixed", path, of.EdgeType, of.Version)
	}
	return list, nil
}

// product is the name of a release in a VEX document.
func product(of release.Published) string {
	return packageurl.NewPackageURL("generic", "", of.EdgeType, of.Version, nil, "").ToString()
}

// names reports whether a product is a release.
func names(p vex.Product, of release.Published) bool {
	want := product(of)
	return slices.Contains([]string{p.ID, p.Identifiers[vex.PURL]}, want) || strings.EqualFold(string(p.Hashes[vex.SHA256]), of.SHA256)
}

// reason says why a weakness does not concern a product, and by which of its parts.
func reason(s vex.Statement, p vex.Product) string {
	var parts []string
	for _, c := range p.Subcomponents {
		parts = append(parts, c.ID)
	}
	text := strings.Join(slices.DeleteFunc([]string{strings.Join(parts, ", "), string(s.Status), string(s.Justification), s.ImpactStatement, s.StatusNotes},
		func(t string) bool { return t == "" }), "; ")
	letters := []rune(text)
	return string(letters[:min(audit.ReasonRule.Max, len(letters))])
}
