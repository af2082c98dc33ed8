// Package components reads SBOMs and VEX documents, and finds the releases and boxes that contain a component.
package components

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/package-url/packageurl-go"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/tagvalue"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/artifacts"
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/release"
)

// A Bill is what an SBOM says.
type Bill struct {
	artifacts.File
	Components []release.Component // sorted, each once
	Unnamed    int                 // parts without a package URL
}

// mostBytes limits an SBOM, and mostShown the faults of one that are shown.
const (
	mostBytes = 50 << 20
	mostShown = 5
)

const formats = "CycloneDX up to 1.7 (JSON or XML) and SPDX 2.1 to 2.3 (JSON or tag-value)"

// Read reads an SBOM. It refuses one that the service would not take.
func Read(path string) (b Bill, err error) {
	text, err := limited(path)
	if err != nil {
		return b, err
	}
	parts, err := partsOf(text)
	if err != nil {
		return b, run.Fail(run.Misused, "%s: %w", path, err)
	}
	var bad []string
	for _, p := range parts {
		c, err := p.component()
		switch {
		case p.url == "":
			b.Unnamed++
		case err != nil:
			bad = append(bad, fmt.Sprintf("%q: %v", p.url, err))
		default:
			b.Components = append(b.Components, c)
		}
	}
	if more := len(bad) - mostShown; more > 0 {
		bad = append(bad[:mostShown], fmt.Sprintf("and %d more", more))
	}
	slices.SortFunc(b.Components, func(x, y release.Component) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Version, y.Version))
	})
	b.Components = slices.Compact(b.Components)
	switch {
	case len(bad) > 0:
		return b, run.Fail(run.Misused, "%s has package URLs that cannot be read:\n  %s", path, strings.Join(bad, "\n  "))
	case len(b.Components) == 0:
		return b, run.Fail(run.Misused, "%s names no component by a package URL", path)
	case len(b.Components) > release.MostComponents:
		return b, run.Fail(run.Misused, "%s names %d components, and the service takes at most %d of a version", path, len(b.Components), release.MostComponents)
	}
	b.File, err = artifacts.Read(path)
	return b, err
}

// limited reads a file that is not larger than an SBOM or a VEX document may be.
func limited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, run.Fail(run.Misused, "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = run.Fail(run.Misused, "%s has more than %s", path, artifacts.Bytes(mostBytes))
	}
	return text, err
}

// A part is a component as an SBOM names it.
type part struct{ url, version string }

// partsOf lists the parts that an SBOM names, at any depth.
func partsOf(text []byte) ([]part, error) {
	var head struct {
		BOMFormat string `json:"bomFormat"`
		SPDX      string `json:"spdxVersion"`
		Context   any    `json:"@context"`
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	isJSON := json.Unmarshal(text, &head) == nil
	switch {
	case head.BOMFormat == "CycloneDX":
		return ofCycloneDX(text, cyclonedx.BOMFileFormatJSON)
	case bytes.HasPrefix(text, []byte("<")):
		return ofCycloneDX(text, cyclonedx.BOMFileFormatXML)
	case head.SPDX != "":
		doc, err := spdxjson.Read(bytes.NewReader(text))
		return ofSPDX(doc, err)
	case bytes.Contains(text[:min(len(text), 4096)], []byte("SPDXVersion:")):
		doc, err := tagvalue.Read(bytes.NewReader(text))
		return ofSPDX(doc, err)
	case strings.Contains(fmt.Sprint(head.Context), "spdx.org/rdf/3"):
		return nil, errors.New("it is SPDX 3, which is not read yet; " + formats + " are")
	case !isJSON && bytes.HasPrefix(text, []byte("{")):
		return nil, errors.New("it is not valid JSON")
	}
	return nil, errors.New("it is no SBOM that is read; " + formats + " are")
}

func ofCycloneDX(text []byte, format cyclonedx.BOMFileFormat) (parts []part, err error) {
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(text), format).Decode(&bom); err != nil {
		return nil, fmt.Errorf("it is not CycloneDX up to 1.7: %w", err)
	}
	var add func(*[]cyclonedx.Component)
	add = func(list *[]cyclonedx.Component) {
		if list == nil {
			return
		}
		for _, c := range *list {
			parts = append(parts, part{c.PackageURL, c.Version})
			add(c.Components)
		}
	}
	add(bom.Components)
	return parts, nil
}

func ofSPDX(doc *spdx.Document, err error) (parts []part, _ error) {
	if err != nil {
		return nil, fmt.Errorf("it is not SPDX 2.1 to 2.3: %w", err)
	}
	for _, p := range doc.Packages {
		named := part{version: p.PackageVersion}
		for _, r := range p.PackageExternalReferences {
			if strings.EqualFold(r.RefType, "purl") {
				named.url = r.Locator
			}
		}
		parts = append(parts, named)
	}
	return parts, nil
}

// component is the part as the service knows it.
func (p part) component() (c release.Component, err error) {
	u, err := packageurl.FromString(p.url)
	if err != nil {
		return c, err
	}
	c.Version = cmp.Or(u.Version, p.version)
	if epoch := u.Qualifiers.Map()["epoch"]; epoch != "" && u.Version != "" && !strings.Contains(u.Version, ":") {
		c.Version = epoch + ":" + c.Version // as RPM writes it
	}
	if !release.ComponentVersionRule.Accepts(c.Version) {
		c.Version = url.PathEscape(c.Version)
	}
	c.Name = NameOf(u)
	switch {
	case !release.ComponentRule.Accepts(c.Name):
		err = errors.New("the service takes only names of printable ASCII characters, 220 at most")
	case c.Version != "" && !release.ComponentVersionRule.Accepts(c.Version):
		err = errors.New("its version has more than 128 characters")
	}
	return c, err
}

// NameOf is the package URL without version, qualifiers and subpath.
func NameOf(u packageurl.PackageURL) string {
	u.Version, u.Qualifiers, u.Subpath = "", nil, ""
	return u.ToString()
}

// Documents are those of a release, with the SBOM in the place of other SBOMs.
func (b Bill) Documents(ctx context.Context, c *run.Call, edgeType, version string) (release.Documents, error) {
	known, _, err := api.Get[release.Published](ctx, c, releasePath(edgeType, version), nil)
	if run.Missing(err) || run.Forbidden(err) { // a program reads no release: what it publishes has these documents
		err = nil
	}
	others := slices.DeleteFunc(known.Documents, func(d release.Document) bool { return d.Kind == "sbom" })
	return append(others, release.Document{Kind: "sbom", SHA256: b.SHA256}), err
}

func releasePath(edgeType, version string) string {
	return api.Path("/api/ota/releases/%s/%s", edgeType, version)
}

// Send tells the service the components of a release, and says how many they are.
func (b Bill) Send(ctx context.Context, c *run.Call, edgeType, version string) (string, error) {
	number := 0
	for piece := range slices.Chunk(b.Components, release.PieceSize) {
		number++
		_, err := c.Patiently().Do(ctx, api.Request{
			Method: http.MethodPut, Path: releasePath(edgeType, version) + "/components/" + strconv.Itoa(number),
			Body: map[string]any{"sbom": b.SHA256, "total": len(b.Components), "components": piece},
		})
		if err != nil {
			return "", fmt.Errorf("piece %d of the components of %s: %w. Send the SBOM again with wavegate releases describe %s %s --sbom", number, version, err, edgeType, version)
		}
	}
	text := fmt.Sprintf("the service knows %d components of %s", len(b.Components), version)
	if b.Unnamed > 0 {
		text += fmt.Sprintf("; %d parts have no package URL and are left out", b.Unnamed)
	}
	return text, nil
}
