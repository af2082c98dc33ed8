package release

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/input"
)

// Rules for what a publication may say about its bytes besides their SHA-256.
var (
	// SizeRule accepts a size in bytes, up to 1 TiB.
	SizeRule = &input.Integer{Least: 1, Most: 1 << 40}
	// SHA1Rule and MD5Rule accept a digest in either case; it is stored in lower case.
	SHA1Rule = &input.Text{Pattern: `[0-9A-Fa-f]{40}`, Lower: true, Says: "40 hexadecimal digits"}
	MD5Rule  = &input.Text{Pattern: `[0-9A-Fa-f]{32}`, Lower: true, Says: "32 hexadecimal digits"}
	// PartRule accepts the kind of a release.
	PartRule = &input.Text{Pattern: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`, Says: "1 to 64 letters, digits, dots, underscores or hyphens, the first a letter or digit"}
)

// Details holds what is known about an artifact's bytes besides their SHA-256. All of it is optional. A client of
// hawkBit's DDI needs the size and the SHA-1; see Sufficient. SHA-1 and MD5 are only for such clients and do not
// protect anything.
type Details struct {
	SizeBytes int64  `json:"sizeBytes,omitempty"`
	SHA1      string `json:"sha1,omitempty"`
	MD5       string `json:"md5,omitempty"`
}

// Sufficient reports whether there are enough details to offer the artifact to a client of hawkBit's DDI.
func (d Details) Sufficient() bool { return d.SizeBytes > 0 && d.SHA1 != "" }

// With adds what another publication of the same bytes says.
func (d Details) With(other Details) Details {
	own, more := reflect.ValueOf(&d).Elem(), reflect.ValueOf(other)
	for i := range own.NumField() {
		if own.Field(i).IsZero() {
			own.Field(i).Set(more.Field(i))
		}
	}
	return d
}

// A Delivery says how clients of hawkBit's DDI get an artifact. It is not a property of the bytes: each publication of
// a version sets it again.
type Delivery struct {
	// Part is what DDI calls the kind of a release; empty means DefaultPart.
	Part string `json:"part,omitempty"`
	// ArtifactHTTPURL is another address of the same bytes, for clients that follow only the link download-http.
	ArtifactHTTPURL string `json:"artifactHttpUrl,omitempty"`
	// DownloadWithoutToken is set if the artifact's host does not require a token: the URL is public or signed.
	DownloadWithoutToken bool `json:"downloadWithoutToken,omitempty"`
}

// DefaultPart is the part of a release that does not name one: a system image.
const DefaultPart = "os"

// A Purpose says what a release is for.
type Purpose string

// Purposes. A release is regular if nothing else is said.
const (
	Regular  Purpose = "regular"
	Security Purpose = "security"
)

// PurposeRule accepts a purpose.
var PurposeRule = &input.Text{Pattern: `regular|security`, Says: "regular or security"}

// An Urgency says how a release may hurry. The first publication of a version sets it forever.
type Urgency struct {
	Kind Purpose `json:"kind,omitempty"` // empty: Regular
	// Deadline is how long plants may keep the release waiting by pauses, in days as P3D; empty: as long as they pause.
	Deadline string `json:"deadline,omitempty"`
}

// DeadlineRule accepts a deadline.
var DeadlineRule = &input.Text{Pattern: `P([1-9]|[1-8][0-9]|90)D`, Says: "a duration from P1D to P90D, in whole days (ISO 8601)"}

const (
	usualDeadline = 30 // days, of a security release
	shortDeadline = 7  // days; a shorter one is for platform owners
)

// days is the length of the deadline in days; 0: there is none.
func (u Urgency) days() int {
	n, err := strconv.Atoi(strings.Trim(u.Deadline, "PD"))
	if err != nil && u.Security() {
		return usualDeadline
	}
	return n
}

// Hurries reports whether only a platform owner may set this.
func (u Urgency) Hurries() bool { return u.Security() || u.Deadline != "" && u.days() < shortDeadline }

// Until is the time from which pauses no longer count, for a release that was published or started at a time; nil: never.
func (u Urgency) Until(from time.Time) *time.Time {
	days := u.days()
	if days == 0 {
		return nil
	}
	return new(from.AddDate(0, 0, days))
}

// Haste is what a release that was published or started at a time may pass by in plants.
func (u Urgency) Haste(urgent bool, from time.Time) calendar.Haste {
	return calendar.Haste{Urgent: urgent, Deadline: u.Until(from), Security: u.Security()}
}

// Security reports whether it is a security release: by default, its rollouts do not soak for a week.
func (u Urgency) Security() bool { return u.Kind == Security }

func (u Urgency) purpose() Purpose { return cmp.Or(u.Kind, Regular) }

// OrderRule accepts the order of a release.
var OrderRule = &input.Integer{Least: 1, Most: 1 << 40}

// A Lineage says where a release lies among those of its edge type. The first publication of a version sets it forever.
type Lineage struct {
	// Order is greater for a newer release; 0: the time of the first publication, in seconds. A fix of an old line gives
	// one just above its line's.
	Order int64 `json:"order,omitempty"`
	// Requires is a release that boxes have to run before; empty: none. See Way.
	Requires string `json:"requires,omitempty"`
}

// Contradicts reports whether somebody else contradicts the details.
func (d Details) Contradicts(other Details) bool { return d.With(other) != other.With(d) }
