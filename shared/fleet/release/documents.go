package release

import (
	"strings"

	"wavegate/shared/platform/input"
)

// A Document is evidence that belongs to a release, for people and auditors. Boxes never read it.
type Document struct {
	Kind   string `json:"kind"`
	URL    string `json:"url,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of an artifact that the service keeps
}

// Documents lists the documents of a release, one a line. Unlike the bytes, they may be replaced: what is known of a
// release grows. It is one text, so that an earlier release of the service keeps it.
type Documents string

// MostDocuments limits the documents of a release.
const MostDocuments = 8

// documentRule accepts the kind of a document.
var documentRule = &input.Text{Pattern: `sbom|notes|provenance`, Says: "sbom, notes or provenance"}

// digest marks a document that the service keeps. No URL begins so.
const digest = "sha256:"

// documentsOf reads the documents of a publication. Each has either a URL or the digest of an artifact.
func documentsOf(body *input.Object) Documents {
	var lines []string
	body.OptionalObjects("documents", 1, MostDocuments, func(o *input.Object) {
		kind := o.Text("kind", documentRule)
		at, elsewhere := o.OptionalText("url", input.HTTPSURL)
		sum, kept := o.OptionalText("sha256", input.SHA256)
		o.RequireAny("url", "sha256")
		if elsewhere && kept {
			o.Fault("sha256", "exclusive", "must not be given together with url")
		}
		if kept {
			at = digest + sum
		}
		lines = append(lines, kind+" "+at)
	})
	return Documents(strings.Join(lines, "\n"))
}

// List returns the documents in the order of their publication.
func (d Documents) List() (list []Document) {
	for line := range strings.Lines(string(d)) {
		kind, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		next := Document{Kind: kind, URL: at}
		if sum, kept := strings.CutPrefix(at, digest); kept {
			next.URL, next.SHA256 = "", sum
		}
		list = append(list, next)
	}
	return list
}

// Kept lists the digests of the documents that the service keeps.
func (d Documents) Kept() (list []string) {
	for _, each := range d.List() {
		if each.SHA256 != "" {
			list = append(list, each.SHA256)
		}
	}
	return list
}
