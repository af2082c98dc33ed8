package audit

// Grown are the fields of a type of resources that a release added. A function of an earlier release keeps them in the
// resource's item, and neither its events nor its answers have them.
func Grown(resourceType string) []string { return grown[resourceType] }

var grown = map[string][]string{
	Boxes:                       {"attributes", "pin", "hold", "group"},
	"machine":                   {"classTerms", "admissions", "ordinal"},
	"rollout":                   {"kind", "deadline", "urgent", "onHalt", "health", "resumedAt", "stoppedAt", "stoppedFor", "without", "returnedAt", "seen"},
	"factory":                   {"updates"},
	"release-channel":           {"urgent"},
	"production-method":         {"covers", "recalled"},
	"production-method-version": {"decisions", "park"},
	"method-on-machine":         {"orders", "unlisted", "gone", "deviations", "otherBytes", "confirmed", "trailSha256"},
}
