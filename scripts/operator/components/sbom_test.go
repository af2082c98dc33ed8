package components_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/operator/components"
	"wavegate/shared/fleet/release"
	"wavegate/shared/testing/expect"
)

func file(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "bom.json")
	expect.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// cyclone is an SBOM with components of some package URLs.
func cyclone(urls ...string) string {
	list := []map[string]string{}
	for _, u := range urls {
		list = append(list, map[string]string{"type": "library", "name": "a", "version": "9", "purl": u})
	}
	text, _ := json.Marshal(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": list})
	return string(text)
}

// many are n package URLs, as of a large image.
func many(n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("pkg:generic/recipe-%05d@1.%d.0-r%d", i, i%40, i%3))
	}
	return urls
}

func TestRead_EachFormat_GivesNamesAndVersions(t *testing.T) {
	want := []release.Component{{Name: "pkg:deb/debian/libstdc%2B%2B6", Version: "12.2.0-14"}, {Name: "pkg:npm/%40angular/core", Version: "17.0.1"}, {Name: "pkg:rpm/redhat/less", Version: "1:590-4.el9"}}
	for name, text := range map[string]string{
		"CycloneDX 1.6": `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"type":"library","name":"core","purl":"pkg:npm/%40angular/core@17.0.1",
			"components":[{"type":"library","name":"g","purl":"pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=arm64&distro=debian-12"}]},
			{"type":"library","name":"less","purl":"pkg:rpm/redhat/less@590-4.el9?epoch=1"},{"type":"file","name":"/etc/passwd"}]}`,
		"CycloneDX 1.7 in XML": `<?xml version="1.0"?><bom xmlns="http://cyclonedx.org/schema/bom/1.7" version="1"><components>
			<component type="library"><name>core</name><version>17.0.1</version><purl>pkg:npm/%40angular/core</purl></component>
			<component type="library"><name>g</name><purl>pkg:deb/debian/libstdc%2B%2B6@12.2.0-14</purl></component>
			<component type="library"><name>less</name><purl>pkg:rpm/redhat/less@590-4.el9?epoch=1</purl></component>
			<component type="file"><name>passwd</name></component></components></bom>`,
		"SPDX 2.3": `{"spdxVersion":"SPDX-2.3","dataLicense":"CC0-1.0","SPDXID":"SPDXRef-DOCUMENT","name":"x","documentNamespace":"https://x.example/1","creationInfo":{"created":"2026-01-01T00:00:00Z","creators":["Tool: x"]},
			"packages":[{"name":"core","SPDXID":"SPDXRef-1","versionInfo":"17.0.1","downloadLocation":"NONE","externalRefs":[{"referenceCategory":"PACKAGE-MANAGER","referenceType":"purl","referenceLocator":"pkg:npm/%40angular/core@17.0.1"}]},
			{"name":"g","SPDXID":"SPDXRef-2","downloadLocation":"NONE","externalRefs":[{"referenceCategory":"PACKAGE-MANAGER","referenceType":"purl","referenceLocator":"pkg:deb/debian/libstdc%2B%2B6@12.2.0-14"}]},
			{"name":"less","SPDXID":"SPDXRef-3","downloadLocation":"NONE","externalRefs":[{"referenceCategory":"PACKAGE-MANAGER","referenceType":"purl","referenceLocator":"pkg:rpm/redhat/less@590-4.el9?epoch=1"}]},
			{"name":"none","SPDXID":"SPDXRef-4","downloadLocation":"NONE"}]}`,
		"SPDX 2.3 in tag-value": "SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: x\nDocumentNamespace: https://x.example/1\nCreator: Tool: x\nCreated: 2026-01-01T00:00:00Z\n" +
			"PackageName: core\nSPDXID: SPDXRef-1\nPackageDownloadLocation: NONE\nExternalRef: PACKAGE-MANAGER purl pkg:npm/%40angular/core@17.0.1\n" +
			"PackageName: g\nSPDXID: SPDXRef-2\nPackageDownloadLocation: NONE\nExternalRef: PACKAGE-MANAGER purl pkg:deb/debian/libstdc%2B%2B6@12.2.0-14\n" +
			"PackageName: less\nSPDXID: SPDXRef-3\nPackageDownloadLocation: NONE\nExternalRef: PACKAGE-MANAGER purl pkg:rpm/redhat/less@590-4.el9?epoch=1\n" +
			"PackageName: none\nSPDXID: SPDXRef-4\nPackageDownloadLocation: NONE\n",
	} {
		b := expect.Value(components.Read(file(t, text)))(t)
		expect.Equal(t, fmt.Sprint(b.Components), fmt.Sprint(want), "%s", name)
		expect.Equal(t, b.Unnamed, 1, "parts without a package URL in %s", name)
	}
}

// TestRead_WhatRealToolsWrite_IsRead reads their SBOMs of one small project.
func TestRead_WhatRealToolsWrite_IsRead(t *testing.T) {
	all := "[{pkg:golang/golang.org/x/text v0.3.7} {pkg:npm/%40types/node 20.1.0} {pkg:npm/gateway 1.1.0} {pkg:npm/lodash 4.17.20} {pkg:pypi/certifi 2022.9.24} {pkg:pypi/requests 2.28.1}]"
	for name, want := range map[string]string{
		"syft-1.18-cyclonedx.json": all, "syft-1.18-spdx.json": all,
		"cdxgen-12.8.json":     "[{pkg:npm/%40types/node 20.1.0} {pkg:npm/lodash 4.17.20}]",
		"cyclonedx-gomod.json": "[{pkg:golang/golang.org/x/text v0.3.7}]",
	} {
		b := expect.Value(components.Read(filepath.Join("testdata", name)))(t)
		expect.Equal(t, fmt.Sprint(b.Components), want, "%s", name)
	}
}

func TestRead_AnImageOf5000Components_IsTakenWhole(t *testing.T) {
	b := expect.Value(components.Read(file(t, cyclone(append(many(5000), many(5000)...)...))))(t)
	expect.Equal(t, len(b.Components), release.MostComponents, "components, each once")
}

func TestRead_WhatCannotBeTaken_IsRefusedWithTheReason(t *testing.T) {
	for want, text := range map[string]string{
		"it is no SBOM that is read":                     `{"hello":"world"}`,
		"it is not valid JSON":                           `{"bomFormat":"CycloneDX"`,
		"it is no SBOM that is":                          "hello",
		"expected element type <bom>":                    `<svg xmlns="x"/>`,
		"it is not CycloneDX up to 1.7":                  `{"bomFormat":"CycloneDX","specVersion":"1.9","components":[]}`,
		"it is not SPDX 2.1 to 2.3":                      `{"spdxVersion":"SPDX-2.9"}`,
		"it is SPDX 3, which is not read yet":            `{"@context":"https://spdx.org/rdf/3.0.1/spdx-context.jsonld","@graph":[]}`,
		"names no component by a package URL":            cyclone(),
		"names 60000 components, and the service takes":  cyclone(many(60000)...),
		"has more than 52.4 MB":                          `{"x":"` + strings.Repeat("x", 100<<20) + `"}`,
		`"pkg:/openssl@3": purl is missing type or name`: cyclone("pkg:npm/a@1", "pkg:/openssl@3"),
		`"pkg:deb": purl is missing type or name`:        cyclone("pkg:deb"),
		"and 3 more":                               cyclone("a", "b", "c", "d", "e", "f", "g", "h"),
		"the service takes only names of":          cyclone("pkg:npm/" + strings.Repeat("x", 300) + "@1"),
		"its version has more than 128 characters": cyclone("pkg:npm/x@" + strings.Repeat("1", 300)),
	} {
		_, err := components.Read(file(t, text))
		expect.Must(t, err != nil && strings.Contains(err.Error(), want), "%s: got %v", want, err)
	}
}

func TestWithdrawn_TakesOnlyWhatIsSaidOfTheRelease(t *testing.T) {
	of := release.Published{EdgeType: "gateway-x", Version: "1.1.0", SHA256: strings.Repeat("ab", 32)}
	doc := func(product, status string) string {
		return fmt.Sprintf(`{"@context":"https://openvex.dev/ns/v0.2.0","@id":"https://x.example/vex","author":"x","timestamp":"2026-01-01T00:00:00Z","version":1,
			"statements":[{"vulnerability":{"name":"CVE-2026-1"},"products":[%s],"status":%s}]}`, product, status)
	}
	const not = `"not_affected","justification":"vulnerable_code_not_present"`
	for name, product := range map[string]string{
		"by its name":    `{"@id":"pkg:generic/gateway-x@1.1.0","subcomponents":[{"@id":"pkg:npm/lodash@4.17.20"}]}`,
		"by its SHA-256": `{"@id":"image","hashes":{"sha-256":"` + of.SHA256 + `"},"subcomponents":[{"@id":"pkg:npm/lodash@4.17.20"}]}`,
	} {
		list := expect.Value(components.Withdrawn(file(t, doc(product, not)), of))(t)
		want := release.Advisory{ID: "CVE-2026-1", Severity: "none", NotAffected: true, Reason: "pkg:npm/lodash@4.17.20; not_affected; vulnerable_code_not_present"}
		expect.Must(t, len(list) == 1 && list[0] == want, "%s: %v", name, list)
	}
	for want, text := range map[string]string{
		"says nothing about gateway-x 1.1.0, which it would name pkg:generic/gateway-x@1.1.0": doc(`{"@id":"pkg:generic/gateway-x@1.0.0"}`, not),
		"withdraws nothing":              doc(`{"@id":"pkg:generic/gateway-x@1.1.0"}`, `"under_investigation"`),
		"is not an OpenVEX document":     cyclone("pkg:npm/a@1"),
		"either justification or impact": doc(`{"@id":"pkg:generic/gateway-x@1.1.0"}`, `"not_affected"`),
	} {
		_, err := components.Withdrawn(file(t, text), of)
		expect.Must(t, err != nil && strings.Contains(err.Error(), want), "%s: got %v", want, err)
	}
}

// FuzzRead: whatever a file has, it is read or refused, and what is read keeps the service's rules.
func FuzzRead(f *testing.F) {
	f.Add(cyclone("pkg:npm/a@1"))
	f.Add("SPDXVersion: SPDX-2.3\nPackageName: a\n")
	f.Add(`<bom xmlns="http://cyclonedx.org/schema/bom/1.6"/>`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := components.Read(file(t, text))
		if err != nil {
			return
		}
		for _, c := range b.Components {
			expect.Must(t, release.ComponentRule.Accepts(c.Name) && (c.Version == "" || release.ComponentVersionRule.Accepts(c.Version)), "%q is not taken", c)
		}
	})
}
