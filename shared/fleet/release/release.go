// Package release stores release channels and what is published on them.
//
// A channel is the pair (edge type, channel name). Publishing sets the version that the boxes of the channel get at
// their next poll. A version never changes its bytes: the first publication of a version of an edge type binds it to
// its digest forever, on every channel.
package release

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/trail/audit"
)

// Rules for the fields of a publication.
var (
	// VersionRule accepts any versioning scheme: versions are only compared for equality.
	VersionRule = &input.Text{
		Pattern: `[A-Za-z0-9][A-Za-z0-9._+:~-]{0,63}`,
		Says:    "1 to 64 letters, digits, or any of . _ + : ~ -, the first a letter or digit",
	}
)

// A Channel is a release channel with what is published on it.
type Channel struct {
	EdgeType       string `json:"edgeType"`
	Channel        string `json:"channel"`
	CurrentVersion string `json:"currentVersion"`
	ArtifactURL    string `json:"artifactUrl"`
	SHA256         string `json:"sha256"`
	Details
	Delivery
	Revision  int64     `json:"revision"` // counts publications and adoptions from 1; 0: there is no such channel
	UpdatedAt time.Time `json:"updatedAt"`
}

// ID names the channel in the audit trail and in messages.
func (c Channel) ID() string { return Pair(c.EdgeType, c.Channel) }

// Pair joins an edge type and a channel name. Neither can contain a slash.
func Pair(edgeType, channel string) string { return edgeType + "/" + channel }

// A Release is a version of an edge type, bound to its bytes.
type Release struct {
	EdgeType    string `json:"edgeType"`
	Version     string `json:"version"`
	ArtifactURL string `json:"artifactUrl"` // of the last publication
	Bound
	Delivery
	// KeptArtifact is set if the last publication named an artifact that the service keeps.
	KeptArtifact bool `json:"keptArtifact,omitempty"`
	// Revision counts the changes to Bound, from 1.
	Revision int64 `json:"revision"`
	dynamo.Unknown
}

// Bound is what each publication of a version keeps, or adds to.
type Bound struct {
	SHA256 string `json:"sha256"`
	Details
	Urgency
	Lineage
	Way         Way       `json:"way,omitempty"`
	PublishedAt time.Time `json:"publishedAt"` // first, on any channel
}

// Rank is the order of the release. A box is never sent to a lower one without somebody's word.
func (r Release) Rank() int64 { return cmp.Or(r.Order, r.PublishedAt.Unix()) }

// A Publication is a caller's request to put a version on a channel.
type Publication struct {
	// SHA256 is empty if the publication only names a version that was published before; see Again.
	EdgeType, Channel, CurrentVersion, ArtifactURL, SHA256 string
	Details
	Delivery
	Urgency
	Lineage
	// Urgent is set if plants need not be open.
	Urgent bool
	// KeptAt is where boxes download artifacts that the service keeps, if the publication names one by its digest alone.
	KeptAt string
	// Documents replace those of the release; empty: they stay.
	Documents Documents
}

// A Name names a channel.
type Name struct{ EdgeType, Channel string }

// NameOf reads the path parameters edgeType and channel.
func NameOf(in *input.Reader) Name {
	return Name{in.Path("edgeType", input.Name), in.Path("channel", input.Name)}
}

// A Named names a release.
type Named struct{ EdgeType, Version string }

// NamedOf reads the path parameters edgeType and version.
func NamedOf(in *input.Reader) Named {
	return Named{in.Path("edgeType", input.Name), in.Path("version", VersionRule)}
}

// A PublicationRequest is a Publication and its grounds.
type PublicationRequest struct {
	Publication
	audit.Grounds
}

// PublicationOf reads a publication: the path parameters edgeType and channel, and its body.
func PublicationOf(in *input.Reader) PublicationRequest {
	on, body := NameOf(in), in.Body()
	p := Publication{
		EdgeType: on.EdgeType, Channel: on.Channel,
		CurrentVersion: body.Text("currentVersion", VersionRule),
	}
	digest, bytes := body.OptionalText("sha256", input.SHA256)
	address, named := body.OptionalText("artifactUrl", input.HTTPSURL)
	p.SHA256, p.ArtifactURL = digest, address
	if !named && in.Settings != nil {
		if p.KeptAt = strings.TrimSuffix(in.Settings.Text(setting.ArtifactURL), "/"); p.KeptAt == "" && bytes {
			body.Missing("artifactUrl")
		}
	}
	p.SizeBytes, _ = body.OptionalInteger("sizeBytes", SizeRule)
	p.SHA1, _ = body.OptionalText("sha1", SHA1Rule)
	p.MD5, _ = body.OptionalText("md5", MD5Rule)
	p.Part, _ = body.OptionalText("part", PartRule)
	p.ArtifactHTTPURL, _ = body.OptionalText("artifactHttpUrl", input.HTTPURL)
	p.DownloadWithoutToken = body.Boolean("downloadWithoutToken")
	kind, _ := body.OptionalText("kind", PurposeRule)
	p.Kind = Purpose(kind)
	p.Deadline, _ = body.OptionalText("deadline", DeadlineRule)
	p.Urgent = body.Boolean("urgent")
	p.Order, _ = body.OptionalInteger("order", OrderRule)
	p.Requires, _ = body.OptionalText("requires", VersionRule)
	p.Documents = documentsOf(body)
	if !bytes && (named || p.Details != Details{} || p.Delivery != Delivery{}) {
		body.Missing("sha256")
	}
	grounds := audit.GroundsOf(body)
	if p.Urgent && grounds.Reason == "" {
		body.Fault("reason", "required", "is required with urgent")
	}
	return PublicationRequest{p, grounds}
}

// Allows reports whether a version that may have been published before can be published like this at a time. Details
// that no publication has given may be added.
func (r Release) Allows(p Publication, at time.Time) error {
	if p.Order > at.Unix() {
		return problem.Invalid([]problem.Fault{{Pointer: "/order", Code: "range", Detail: "must be at most the present time, in seconds since 1970"}})
	}
	if r.SHA256 != "" && r.SHA256 != p.SHA256 {
		return problem.New(problem.ReleaseImmutable,
			"Version %s of %s was published with the digest %s; a version never changes its bytes. Publish the new bytes as a new version.",
			p.CurrentVersion, p.EdgeType, r.SHA256)
	}
	if r.Contradicts(p.Details) {
		return problem.New(problem.ReleaseImmutable,
			"Version %s of %s was published with another size, SHA-1 or MD5; a version never changes its bytes. Publish the new bytes as a new version.",
			p.CurrentVersion, p.EdgeType)
	}
	if r.SHA256 != "" && p.Kind != "" && p.purpose() != r.purpose() {
		return problem.New(problem.ReleaseImmutable,
			"Version %s of %s was published as a %s release. A version keeps its kind; publish a new version.", p.CurrentVersion, p.EdgeType, r.purpose())
	}
	if r.SHA256 != "" && p.Deadline != "" && p.days() != r.days() {
		return problem.New(problem.ReleaseImmutable,
			"Version %s of %s was published with another deadline, or without one. A version keeps it; publish a new version.", p.CurrentVersion, p.EdgeType)
	}
	if r.SHA256 != "" && p.Order != 0 && p.Order != r.Rank() {
		return problem.New(problem.ReleaseImmutable,
			"Version %s of %s was published with the order %d. A version keeps its order; publish a new version.", p.CurrentVersion, p.EdgeType, r.Rank())
	}
	return nil
}

// Again completes a publication that only names the release. It returns RELEASE_NOT_PUBLISHED if that was never published.
func (r Release) Again(p Publication) (Publication, error) {
	if r.SHA256 == "" {
		return p, problem.New(problem.ReleaseNotPublished, "Version %s of %s was never published. Give its sha256, and its artifactUrl if the service does not keep the bytes.", p.CurrentVersion, p.EdgeType)
	}
	if r.KeptArtifact && p.KeptAt == "" {
		return p, problem.New(problem.ArtifactNotKept, "The service kept the artifact of version %s of %s, and keeps none any more. Give its sha256 and its artifactUrl.", p.CurrentVersion, p.EdgeType)
	}
	if p.SHA256, p.Details, p.Delivery, p.ArtifactURL = r.SHA256, r.Details, r.Delivery, r.ArtifactURL; !r.KeptArtifact {
		p.KeptAt = ""
	}
	return p, nil
}

// Published returns the release after a publication, with the way of what it requires. The first publication binds the
// version to its digest.
func (r Release) Published(p Publication, way Way, at time.Time) Release {
	next := Release{EdgeType: p.EdgeType, Version: p.CurrentVersion, ArtifactURL: p.ArtifactURL, Bound: r.Bound,
		Delivery: p.Delivery, KeptArtifact: p.KeptAt != "", Revision: r.Revision}
	if r.SHA256 == "" {
		next.Bound = Bound{SHA256: p.SHA256, Urgency: Urgency{Deadline: p.Deadline}, Lineage: p.Lineage, Way: way, PublishedAt: at}
		if p.Security() {
			next.Kind = p.Kind
		}
	}
	next.Details = next.With(p.Details)
	if !dynamo.Same(next.Bound, r.Bound) {
		next.Revision++
	}
	return next
}

// Target returns the release as what a box is told.
func (r Release) Target() RolloutTarget { return RolloutTarget{r.Version, r.ArtifactURL, r.SHA256} }

// At returns a target with the release's address, if this is the target's release.
func (r Release) At(t RolloutTarget) RolloutTarget {
	if r.Version == t.Version && r.SHA256 == t.SHA256 {
		t.ArtifactURL = r.ArtifactURL
	}
	return t
}

// Of returns the details and the delivery of a target, if this is the target's release.
func (r Release) Of(t RolloutTarget) (Details, Delivery) {
	if r.Version == t.Version && r.SHA256 == t.SHA256 {
		return r.Details, r.Delivery
	}
	return Details{}, Delivery{}
}

// Untold warns that boxes with DDI clients are not told a release; empty: they are.
func (r Release) Untold() string {
	if r.Sufficient() {
		return ""
	}
	return fmt.Sprintf("No box with a DDI client is told release %s: it was published without sizeBytes and sha1. Publish it again with both.", r.Version)
}

// Warnings lists problems that DDI clients may have with a release.
func (r Release) Warnings() []string {
	var list []string
	if r.MD5 == "" {
		list = append(list, fmt.Sprintf("Release %s was published without md5. SWUpdate and RAUC do not need it; the Rust crate hawkbit and Eclipse Hara do.", r.Version))
	}
	if !r.DownloadWithoutToken {
		list = append(list, fmt.Sprintf("Release %s was published without downloadWithoutToken. Many clients send their token to the artifact's host, too; "+
			"publish a public or a signed URL, and say so.", r.Version))
	}
	return list
}
