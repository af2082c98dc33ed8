package audit

import "strings"

// What Why says about a change without a reason, and about one whose reason must not be shown to everyone who is
// notified.
const (
	NoReason  = "No reason given."
	InTrail   = "See the audit trail."
	overrides = "Asked to override a freeze or a closed window: "
)

// An explainer is a cause that says in a sentence why the service made a change.
type explainer interface{ Explain() string }

// Why returns the reason for a change, for those whom the event bus notifies. It is never empty. For changes to boxes,
// machines and production methods, it contains what the service itself says and nothing that people wrote, because
// fewer people may read those trails.
func Why(stream string, g Grounds) string {
	var parts []string
	if cause, is := g.Cause.(explainer); is {
		parts = append(parts, cause.Explain())
	}
	if stream != Platform {
		g.OverrideReason, g.Reason = "", ""
		if parts == nil {
			return InTrail
		}
	}
	if g.OverrideReason != "" {
		parts = append(parts, overrides+g.OverrideReason)
	}
	if g.Reason != "" {
		parts = append(parts, g.Reason)
	}
	if parts == nil {
		return NoReason
	}
	return plain.Replace(strings.Join(parts, " "))
}

// plain replaces characters in what people write. So it can neither end the text of a message, which rules build from a
// template, nor mention people or add links in a chat.
var plain = strings.NewReplacer(`"`, "'", `\`, "/", "<", "(", ">", ")", "[", "(", "]", ")", "@", "(at)", "\n", " ")

// Overrides reports whether a change asked to override a freeze or a closed window, in the form of the event bus.
func Overrides(g Grounds) string {
	if g.OverrideReason != "" {
		return "yes"
	}
	return "no"
}
