package census

import (
	"regexp"
	"sync"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
)

// These find, in what a DDI client says of a failure, an answer of the artifact's host, and a client that could not read
// what it downloaded.
var (
	refusing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b4[0-9]{2}\b`) })
	unread   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)no suitable .*image|pars(e|ing)|signature size|squashfs magic|not a (valid )?(bundle|cpio)|invalid (bundle|archive)`)
	})
)

// download says that the download may be the cause of a failure for which a DDI client blames the image. The service
// knows the bytes of artifacts that it keeps, so there only the host's answer counts.
func download(row report.Row, failed release.Release) string {
	o := row.Offer
	switch {
	case !row.DDI || o == nil || o.State != report.Failed:
	case refusing().MatchString(o.Detail):
		return " The artifact's host seems to have refused the download: check what its URL answers."
	case o.Code == report.CodeOther && !failed.KeptArtifact && unread().MatchString(o.Detail):
		return " The download may be the cause: check that the artifact's URL answers with the release, and not with another page."
	}
	return ""
}
