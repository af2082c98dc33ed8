package audit

import "strings"

// What Why says of a change without a reason, and of one whose reason is for fewer people than those who are told of
// changes.
const (
	NoReason  = "No reason given."
	InTrail   = "See the audit trail."
	overrides = "A freeze or a closed window was to be overridden: "
)

// An Explainer is a cause that says in a sentence why the service made a change.
type Explainer interface{ Explain() string }

// Why tells why a change was made, for those who are told of it by the event bus. It is never empty. Of the events of
// boxes, machines and production methods, it tells what the service itself says, and nothing that people wrote: their
// trails are for fewer people.
func Why(stream string, g Grounds) string {
	var parts []string
	if cause, is := g.Cause.(Explainer); is {
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

// plain keeps what people write from ending the text of a message, which rules put together from a template, and from
// calling people or linking to pages in a chat.
var plain = strings.NewReplacer(`"`, "'", `\`, "/", "<", "(", ">", ")", "[", "(", "]", ")", "@", "(at)", "\n", " ")

// Overrides reports whether a change was to override a freeze or a closed window, as the event bus carries it.
func Overrides(g Grounds) string {
	if g.OverrideReason != "" {
		return "yes"
	}
	return "no"
}
