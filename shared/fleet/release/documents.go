package release

import (
	"wavegate/shared/platform/input"
)

// A Document is evidence that belongs to a release, for people and auditors. Boxes never read it.
type Document struct {
	Kind   string `json:"kind"`
	URL    string `json:"url,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of an artifact that the service keeps
}

// Documents lists the documents of a release, in the order of their publication. Unlike the bytes, they may be replaced:
// what is known of a release grows.
type Documents []Document

// MostDocuments limits the documents of a release.
const MostDocuments = 8

// documentRule accepts the kind of a document.
var documentRule = &input.Text{Pattern: `sbom|notes|provenance`, Says: "sbom, notes or provenance"}

// documentsOf reads the documents of a publication. Each has either a URL or the digest of an artifact.
func documentsOf(body *input.Object) (all Documents) {
	body.OptionalObjects("documents", 1, MostDocuments, func(o *input.Object) {
		d := Document{Kind: o.Text("kind", documentRule)}
		var elsewhere, kept bool
		d.URL, elsewhere = o.OptionalText("url", input.HTTPSURL)
		d.SHA256, kept = o.OptionalText("sha256", input.SHA256)
		o.RequireAny("url", "sha256")
		if elsewhere && kept {
			o.Fault("sha256", "exclusive", "must not be given together with url")
		}
		all = append(all, d)
	})
	return all
}

// Kept lists the digests of the documents that the service keeps.
func (d Documents) Kept() (list []string) {
	for _, each := range d {
		if each.SHA256 != "" {
			list = append(list, each.SHA256)
		}
	}
	return list
}
