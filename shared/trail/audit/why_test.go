package audit_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

type sentence string

func (s sentence) Explain() string { return string(s) }

func TestWhy_TellsTheSentenceAndTheReasons(t *testing.T) {
	for _, c := range []struct {
		stream string
		given  audit.Grounds
		want   string
	}{
		{audit.Platform, audit.Grounds{}, "No reason given."},
		{audit.Platform, audit.Grounds{Reason: "Two boxes did not come back"}, "Two boxes did not come back"},
		{audit.Platform, audit.Grounds{Cause: sentence("Halt: 17 bad of 291.")}, "Halt: 17 bad of 291."},
		{audit.Platform, audit.Grounds{Reason: "a fix", OverrideReason: "the line stands"}, "Asked to override a freeze or a closed window: the line stands a fix"},
		{audit.Platform, audit.Grounds{Reason: `<!here> [see](http://x.example) "now" \ @all`}, "(!here) (see)(http://x.example) 'now' / (at)all"},
		{audit.Platform, audit.Grounds{Cause: "of another form"}, "No reason given."},
		{audit.Factory("munich-1"), audit.Grounds{Reason: "a customer's secret"}, audit.InTrail},
		{audit.Factory("munich-1"), audit.Grounds{Reason: "a customer's secret", Cause: sentence("2 of 5 machines have it.")}, "2 of 5 machines have it."},
		{audit.Box("box-1"), audit.Grounds{Reason: "of one box"}, audit.InTrail},
	} {
		expect.Equal(t, audit.Why(c.stream, c.given), c.want, "%s, %+v", c.stream, c.given)
	}
}

// TestWhy_StandsInAMessage: the pipe and the rules put it into JSON, and a chat displays it.
func TestWhy_StandsInAMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("\"\\<>[]@\n")), rapid.Rune()))
		g := audit.Grounds{Reason: text.Draw(t, "reason"), OverrideReason: text.Draw(t, "override")}
		if got := audit.Why(audit.Platform, g); got == "" || strings.ContainsAny(got, "\"\\<>[]@\n") {
			t.Fatalf("got %q", got)
		}
	})
}

func TestOverrides_SaysWhetherAReasonToOverrideWasGiven(t *testing.T) {
	expect.Equal(t, audit.Overrides(audit.Grounds{Reason: "r"}), "no", "without one")
	expect.Equal(t, audit.Overrides(audit.Grounds{OverrideReason: "r"}), "yes", "with one")
}
